package bridge

import (
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// costs knows a schema's structure well enough to say beforehand how much work
// validating against it is. The library cannot be interrupted, and schemas exist
// that double its work with each level of nesting: two alternatives that both
// contain the schema itself are enough.
type costs struct {
	nodes []costNode // each before those it applies in place
	root  int
	tree  bool // no schema is reached on two ways
}

// costNode is one schema: which others it applies to what, by their numbers.
type costNode struct {
	inPlace []int            // to the same value
	items   []int            // to each element of an array
	named   map[string][]int // to the property of that name
	others  []int            // to any property
}

const (
	// maxSubschemas bounds one schema document.
	maxSubschemas = 20_000
	// maxVisits bounds how often one validation applies a schema to a value; each
	// takes two to four microseconds.
	maxVisits = 1_000_000
	// smallArguments need no estimate when the schema is a tree.
	smallArguments = 64 << 10
)

// costsOf looks through a compiled schema.
func costsOf(root *jsonschema.Schema) (costs, error) {
	all, tree, err := subschemas(root)
	if err != nil {
		return costs{}, err
	}
	order := inPlaceOrder(all)
	number := make(map[*jsonschema.Schema]int, len(order))
	for i, s := range order {
		number[s] = i
	}
	numbers := func(list []*jsonschema.Schema) []int {
		var all []int
		for _, s := range list {
			all = append(all, number[s])
		}
		return all
	}
	c := costs{nodes: make([]costNode, len(order)), root: number[root], tree: tree}
	for i, s := range order {
		n := costNode{inPlace: numbers(inPlace(s)), items: numbers(ofItems(s)), others: numbers(ofAnyProperty(s)), named: map[string][]int{}}
		for name, sub := range s.Properties {
			n.named[name] = append(n.named[name], number[sub])
		}
		c.nodes[i] = n
	}
	return c, nil
}

// subschemas lists every schema that is reached from root, each once.
func subschemas(root *jsonschema.Schema) (all []*jsonschema.Schema, tree bool, err error) {
	known, tree := map[*jsonschema.Schema]bool{root: true}, true
	all = append(all, root)
	for i := 0; i < len(all); i++ {
		s := all[i]
		if s.DynamicRef != nil || s.RecursiveRef != nil {
			return nil, false, errDynamic
		}
		for _, sub := range slices.Concat(inPlace(s), ofItems(s), ofAnyProperty(s), slices.Collect(maps.Values(s.Properties))) {
			if known[sub] {
				tree = false
				continue
			}
			known[sub] = true
			all = append(all, sub)
		}
		if len(all) > maxSubschemas {
			return nil, false, errSchemaSize
		}
	}
	return all, tree, nil
}

// inPlaceOrder sorts schemas so that each stands before those it applies in place.
// Where they apply one another in a circle, which the library refuses, any order does.
func inPlaceOrder(all []*jsonschema.Schema) []*jsonschema.Schema {
	var order []*jsonschema.Schema
	seen := map[*jsonschema.Schema]bool{}
	var visit func(*jsonschema.Schema)
	visit = func(s *jsonschema.Schema) {
		if seen[s] {
			return
		}
		seen[s] = true
		for _, sub := range inPlace(s) {
			visit(sub)
		}
		order = append(order, s)
	}
	for _, s := range all {
		visit(s)
	}
	slices.Reverse(order)
	return order
}

// inPlace lists the schemas that s applies to the same value.
func inPlace(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat([]*jsonschema.Schema{s.Ref, s.Not, s.If, s.Then, s.Else}, s.AllOf, s.AnyOf, s.OneOf)
	all = slices.AppendSeq(all, maps.Values(s.DependentSchemas))
	for _, d := range s.Dependencies {
		all = append(all, schemaIn(d))
	}
	return present(all)
}

// ofItems lists the schemas that s may apply to an element of an array.
func ofItems(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat(s.PrefixItems, []*jsonschema.Schema{s.Items2020, s.Contains, s.UnevaluatedItems, schemaIn(s.Items), schemaIn(s.AdditionalItems)})
	if list, ok := s.Items.([]*jsonschema.Schema); ok {
		all = append(all, list...)
	}
	return present(all)
}

// ofAnyProperty lists the schemas that s may apply to a property of any name.
func ofAnyProperty(s *jsonschema.Schema) []*jsonschema.Schema {
	all := []*jsonschema.Schema{s.PropertyNames, s.UnevaluatedProperties, schemaIn(s.AdditionalProperties)}
	return present(slices.AppendSeq(all, maps.Values(s.PatternProperties)))
}

func schemaIn(v any) *jsonschema.Schema {
	s, _ := v.(*jsonschema.Schema)
	return s
}

func present(all []*jsonschema.Schema) []*jsonschema.Schema {
	return slices.DeleteFunc(all, func(s *jsonschema.Schema) bool { return s == nil })
}

// affordable reports whether a validation stays within maxVisits.
func (c costs) affordable(value any, size int) bool {
	if c.tree && size <= smallArguments {
		return true
	}
	left := float64(maxVisits)
	c.spend(&left, value, c.spot(map[int]float64{c.root: 1}))
	return left >= 0
}

// spot is a kind of place in the arguments: which schemas are applied to a value
// that stands there, and how often. All elements of an array share one, so that
// the estimate costs little, however often the library would come back to them.
type spot struct {
	schemas []int
	times   []float64
	total   float64

	items, others *spot            // of what the value contains; made when needed
	named         map[string]*spot // likewise
}

// spot adds to times what the schemas in it apply in place.
func (c costs) spot(times map[int]float64) *spot {
	all := slices.Collect(maps.Keys(times))
	for i := 0; i < len(all); i++ {
		for _, sub := range c.nodes[all[i]].inPlace {
			if _, known := times[sub]; !known {
				times[sub] = 0
				all = append(all, sub)
			}
		}
	}
	slices.Sort(all)
	p := &spot{schemas: all, named: map[string]*spot{}}
	for _, s := range all {
		p.times = append(p.times, times[s])
		p.total += times[s]
		for _, sub := range c.nodes[s].inPlace {
			if sub > s { // else a circle
				times[sub] += times[s]
			}
		}
	}
	return p
}

// below is the spot of what values at p contain, by the lists that pick chooses.
func (c costs) below(p *spot, pick func(costNode) []int) *spot {
	times := map[int]float64{}
	for i, s := range p.schemas {
		for _, sub := range pick(c.nodes[s]) {
			times[sub] += p.times[i]
		}
	}
	return c.spot(times)
}

// spend takes off left what it costs to validate a value that stands at p.
func (c costs) spend(left *float64, value any, p *spot) {
	*left -= p.total
	if *left < 0 || len(p.schemas) == 0 {
		return
	}
	switch v := value.(type) {
	case map[string]any:
		for name, child := range v {
			c.spend(left, child, c.property(p, name))
		}
	case []any:
		if p.items == nil {
			p.items = c.below(p, func(n costNode) []int { return n.items })
		}
		for _, child := range v {
			c.spend(left, child, p.items)
		}
	}
}

// property is the spot of a property. Names that no schema mentions share one.
func (c costs) property(p *spot, name string) *spot {
	mentioned := slices.ContainsFunc(p.schemas, func(s int) bool { return len(c.nodes[s].named[name]) > 0 })
	if !mentioned {
		if p.others == nil {
			p.others = c.below(p, func(n costNode) []int { return n.others })
		}
		return p.others
	}
	if p.named[name] == nil {
		p.named[name] = c.below(p, func(n costNode) []int { return slices.Concat(n.named[name], n.others) })
	}
	return p.named[name]
}
