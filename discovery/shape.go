package discovery

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// The bounds of what a shape learns and shows. An object with more than
// maxShapeKeys different keys is taken for a map whose keys are data.
const (
	maxShapeKeys    = 30
	maxShapeKey     = 64 // bytes; a longer key is data
	maxShapeDepth   = 8
	maxShapeItems   = 200     // of one array
	maxShapeInput   = 8 << 20 // bytes of one result
	maxShapeNodes   = 500     // of one shape; what is new then is not learnt
	maxRenderedType = 4 << 10 // bytes
)

var errNotJSON = errors.New("observe a result: not JSON, or more than 8 MiB of it")

// Shape is what is known of a tool's results from seeing some: types, never
// values. The zero value knows nothing. Its keys are those it was shown: who
// passes a shape on tokenized the results first. Not for concurrent use.
type Shape struct {
	kinds    kinds
	seen     int               // objects
	members  map[string]*Shape // of objects, unless they are maps
	order    []string          // of members, as first seen
	counts   map[string]int    // objects that had the member
	elements *Shape            // of arrays
	values   *Shape            // of maps
}

// kinds is a set of the JSON types.
type kinds uint8

const (
	kindObject kinds = 1 << iota
	kindArray
	kindString
	kindNumber
	kindBoolean
	kindNull
)

// ObservedShape is the TypeScript type of all results, which are tokenized JSON
// texts; "unknown" when none of them is JSON.
func ObservedShape(results ...[]byte) string {
	var s Shape
	for _, r := range results {
		_ = s.Observe(r) // what is no JSON teaches nothing
	}
	return s.TypeScript()
}

// Observe learns from one more result, which is tokenized JSON text.
func (s *Shape) Observe(result []byte) error {
	if len(result) > maxShapeInput || !json.Valid(result) {
		return errNotJSON
	}
	left := maxShapeNodes - s.Nodes()
	s.learn(gjson.ParseBytes(result), 0, &left)
	return nil
}

// Nodes counts the types within types that the shape holds. It bounds the shape's
// memory: a node has about 300 bytes.
func (s *Shape) Nodes() int {
	if s == nil {
		return 0
	}
	n := 1 + s.elements.Nodes() + s.values.Nodes()
	for _, m := range s.members {
		n += m.Nodes()
	}
	return n
}

// learn takes from left the nodes that it adds.
func (s *Shape) learn(v gjson.Result, depth int, left *int) {
	switch {
	case v.IsObject():
		s.kinds |= kindObject
		s.learnObject(v, depth, left)
	case v.IsArray():
		s.kinds |= kindArray
		s.learnArray(v, depth, left)
	case v.Type == gjson.String:
		s.kinds |= kindString
	case v.Type == gjson.Number:
		s.kinds |= kindNumber
	case v.Type == gjson.Null:
		s.kinds |= kindNull
	default:
		s.kinds |= kindBoolean
	}
}

func (s *Shape) learnArray(v gjson.Result, depth int, left *int) {
	if s.elements == nil {
		if *left <= 0 {
			return
		}
		*left--
		s.elements = &Shape{}
	}
	items := maxShapeItems
	v.ForEach(func(_, e gjson.Result) bool {
		if depth < maxShapeDepth {
			s.elements.learn(e, depth+1, left)
		}
		items--
		return items > 0
	})
}

func (s *Shape) learnObject(v gjson.Result, depth int, left *int) {
	if depth >= maxShapeDepth {
		s.becomeMap()
		return
	}
	s.seen++
	had := map[string]bool{}
	v.ForEach(func(key, value gjson.Result) bool {
		if s.values == nil && isData(key.Str) {
			s.becomeMap()
		}
		into := s.values
		if into == nil {
			if s.members[key.Str] == nil {
				if *left <= 0 {
					return true
				}
				*left--
			}
			into = s.member(key.Str, had)
		}
		into.learn(value, depth+1, left)
		if len(s.members) > maxShapeKeys {
			s.becomeMap()
		}
		return true
	})
}

// member is the shape behind a key, counted once for each object.
func (s *Shape) member(key string, had map[string]bool) *Shape {
	if s.members == nil {
		s.members, s.counts = map[string]*Shape{}, map[string]int{}
	}
	if s.members[key] == nil {
		s.members[key] = &Shape{}
		s.order = append(s.order, key)
	}
	if !had[key] {
		had[key] = true
		s.counts[key]++
	}
	return s.members[key]
}

// dataKey finds keys that are data: PII tokens, UUIDs, numbers and dates.
var dataKey = regexp.MustCompile(`\[[A-Z][A-Z0-9_]*_\d+_[a-z0-9]+\]|^[0-9a-f]{8}-[0-9a-f]{4}-|^\d[\d:.T/-]*Z?$`)

func isData(key string) bool { return len(key) > maxShapeKey || dataKey.MatchString(key) }

// becomeMap forgets the keys and keeps what their values have in common.
func (s *Shape) becomeMap() {
	if s.values == nil {
		s.values = &Shape{}
	}
	for _, key := range s.order {
		s.values.Merge(s.members[key])
	}
	s.members, s.order, s.counts = nil, nil, nil
}

// Merge learns all that another shape knows.
func (s *Shape) Merge(other *Shape) {
	if other == nil {
		return
	}
	s.kinds |= other.kinds
	s.seen += other.seen
	if other.elements != nil {
		if s.elements == nil {
			s.elements = &Shape{}
		}
		s.elements.Merge(other.elements)
	}
	if other.values != nil {
		s.becomeMap()
		s.values.Merge(other.values)
	}
	s.mergeMembers(other)
}

func (s *Shape) mergeMembers(other *Shape) {
	for _, key := range slices.Clone(other.order) {
		if s.values != nil {
			s.values.Merge(other.members[key])
			continue
		}
		s.member(key, map[string]bool{key: true}).Merge(other.members[key])
		s.counts[key] += other.counts[key]
		if len(s.members) > maxShapeKeys {
			s.becomeMap()
		}
	}
}

// TypeScript renders the type, at most 4 KiB of it: what does not fit loses depth.
func (s *Shape) TypeScript() string {
	for depth := maxShapeDepth; depth >= 0; depth-- {
		if text := s.render(place{}, depth).text; len(text) <= maxRenderedType {
			return text
		}
	}
	return unknown.text
}

func (s *Shape) render(p place, left int) expr {
	if s == nil || s.kinds == 0 || left < 0 {
		return unknown
	}
	var all []expr
	for _, k := range []struct {
		kind kinds
		text string
	}{{kindString, "string"}, {kindNumber, "number"}, {kindBoolean, "boolean"}} {
		if s.kinds&k.kind != 0 {
			all = append(all, expr{text: k.text})
		}
	}
	if s.kinds&kindArray != 0 {
		all = append(all, expr{text: s.elements.render(p, left-1).within(primary) + "[]"})
	}
	if s.kinds&kindObject != 0 {
		all = append(all, s.renderObject(p, left))
	}
	if s.kinds&kindNull != 0 {
		all = append(all, expr{text: "null"})
	}
	return unite(all)
}

func (s *Shape) renderObject(p place, left int) expr {
	if s.values != nil {
		return expr{text: "{ [key: string]: " + s.values.render(p, left-1).text + " }"}
	}
	if len(s.order) == 0 {
		return expr{text: "{}"}
	}
	if left == 0 {
		return anyKeys
	}
	var lines []string
	for _, key := range s.order {
		mark := "?: "
		if s.counts[key] == s.seen {
			mark = ": "
		}
		lines = append(lines, propertyName(key)+mark+strings.TrimSpace(s.members[key].render(p.deeper(), left-1).text)+";")
	}
	return expr{text: layOut(lines, p)}
}
