package discovery

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// expr is a type in TypeScript and how tightly it holds together.
type expr struct {
	text string
	hold hold
}

type hold int

const (
	primary hold = iota
	intersection
	union
)

var (
	unknown = expr{text: "unknown"}
	anyKeys = expr{text: "Record<string, unknown>"}
)

// within is the text of e as a part of something that holds at most as loosely as h.
func (e expr) within(h hold) string {
	if e.hold > h {
		return "(" + e.text + ")"
	}
	return e.text
}

// place is where in the declaration a type stands.
type place struct {
	depth int
	refs  []string // references that are being followed, to stop at a repetition
}

func (p place) deeper() place { return place{p.depth + 1, p.refs} }

func (p place) indent() string { return strings.Repeat("  ", p.depth) }

// renderer turns one schema document into types.
type renderer struct {
	root   gjson.Result
	detail detail
	left   int // types that may still be rendered
}

func newRenderer(root gjson.Result, d detail) *renderer {
	return &renderer{root: root, detail: d, left: d.types}
}

// render is the type of everything that s accepts, or of something wider.
func (r *renderer) render(s gjson.Result, p place) expr {
	r.left--
	switch {
	case s.Type == gjson.False:
		return expr{text: "never"}
	case !s.IsObject() || r.left < 0 || p.depth > r.detail.depth:
		return unknown
	}
	parts := []expr{r.reference(s, p), r.own(s, p)}
	for _, sub := range elements(member(s, "allOf")) {
		parts = append(parts, r.render(sub, p))
	}
	for _, keyword := range []string{"anyOf", "oneOf"} {
		if list := elements(member(s, keyword)); len(list) > 0 {
			parts = append(parts, r.alternatives(list, p))
		}
	}
	all := intersect(parts)
	if member(s, "nullable").Type == gjson.True && all != unknown {
		all = unite([]expr{all, {text: "null"}})
	}
	return all
}

// reference follows $ref. A type within itself is unknown: the reader has it in
// front of him one level up.
func (r *renderer) reference(s gjson.Result, p place) expr {
	ref := member(s, "$ref")
	if ref.Type != gjson.String || slices.Contains(p.refs, ref.Str) {
		return unknown
	}
	target, ok := resolve(r.root, ref.Str)
	if !ok {
		return unknown
	}
	p.refs = append(slices.Clone(p.refs), ref.Str)
	return r.render(target, p)
}

func (r *renderer) alternatives(list []gjson.Result, p place) expr {
	var all []expr
	for _, sub := range list {
		all = append(all, r.render(sub, p))
	}
	return unite(all)
}

// own is what the schema says without referring to others.
func (r *renderer) own(s gjson.Result, p place) expr {
	if c := member(s, "const"); c.Exists() {
		return literal(c)
	}
	if values := elements(member(s, "enum")); len(values) > 0 {
		return enumeration(values)
	}
	types := stringsIn(member(s, "type"))
	if len(types) == 0 {
		types = impliedTypes(s)
	}
	var all []expr
	for _, t := range types {
		all = append(all, r.ofType(t, s, p))
	}
	if len(all) == 0 {
		return unknown
	}
	return unite(all)
}

// impliedTypes guesses at schemas whose author left "type" out.
func impliedTypes(s gjson.Result) []string {
	switch {
	case member(s, "properties").IsObject():
		return []string{"object"}
	case member(s, "items").IsObject(), member(s, "prefixItems").IsArray():
		return []string{"array"}
	}
	return nil
}

func (r *renderer) ofType(name string, s gjson.Result, p place) expr {
	switch name {
	case "string", "boolean", "null":
		return expr{text: name}
	case "number", "integer":
		return expr{text: "number"}
	case "array":
		return r.array(s, p)
	case "object":
		return r.object(s, p)
	}
	return unknown
}

func (r *renderer) array(s gjson.Result, p place) expr {
	first, rest := elements(member(s, "prefixItems")), member(s, "items")
	if rest.IsArray() { // before draft 2020-12
		first, rest = elements(rest), member(s, "additionalItems")
	}
	each := unknown
	if rest.Exists() {
		each = r.render(rest, p)
	}
	if len(first) == 0 {
		return expr{text: each.within(primary) + "[]"}
	}
	var items []string
	for _, sub := range first {
		// Optional, since JSON Schema lets an array be shorter than its prefixItems.
		items = append(items, "("+r.render(sub, p).text+")?")
	}
	if each.text != "never" {
		items = append(items, "..."+each.within(primary)+"[]")
	}
	return expr{text: "[" + strings.Join(items, ", ") + "]"}
}

func (r *renderer) object(s gjson.Result, p place) expr {
	required := map[string]bool{}
	for _, name := range stringsIn(member(s, "required")) {
		required[name] = true
	}
	lines := r.properties(member(s, "properties"), required, p)
	others := member(s, "additionalProperties")
	switch {
	case len(lines) == 0 && others.Type == gjson.False:
		return expr{text: "{}"}
	case len(lines) == 0 && others.IsObject():
		return expr{text: "Record<string, " + r.render(others, p).text + ">"}
	case len(lines) == 0:
		return anyKeys
	case others.IsObject():
		// Wider than the schema: an index signature must also fit the named properties.
		lines = append(lines, "[key: string]: unknown;")
	}
	return expr{text: layOut(lines, p)}
}

// layOut writes an object on one line when it is short and has no comments.
func layOut(lines []string, p place) string {
	const short = 70
	if one := strings.Join(lines, " "); len(one) <= short && !strings.ContainsAny(one, "\n") && !strings.Contains(one, "/**") {
		return "{ " + strings.TrimSuffix(one, ";") + " }"
	}
	inner := p.deeper().indent()
	return "{\n" + inner + strings.Join(lines, "\n"+inner) + "\n" + p.indent() + "}"
}

// properties renders each property as one entry, in the order of their author.
func (r *renderer) properties(properties gjson.Result, required map[string]bool, p place) []string {
	var lines []string
	at := map[string]int{} // where a repeated name was written first
	properties.ForEach(func(name, sub gjson.Result) bool {
		if r.left <= 0 {
			return false
		}
		mark := "?: "
		if required[name.Str] {
			mark = ": "
		}
		line := r.comment(sub, p.deeper()) + propertyName(name.Str) + mark + r.render(sub, p.deeper()).text + ";"
		if i, again := at[name.Str]; again {
			lines[i] = line
			return true
		}
		at[name.Str] = len(lines)
		lines = append(lines, line)
		return true
	})
	return lines
}

// intersect is the type of values of every part. Parts that say nothing are left
// out, and so is "some object" beside an object that is known.
func intersect(parts []expr) expr {
	parts = distinct(parts, unknown)
	if len(parts) > 1 {
		parts = distinct(parts, anyKeys)
	}
	switch len(parts) {
	case 0:
		return unknown
	case 1:
		return parts[0]
	}
	var texts []string
	for _, part := range parts {
		texts = append(texts, part.within(intersection))
	}
	return expr{strings.Join(texts, " & "), intersection}
}

// unite is the type of values of any part.
func unite(parts []expr) expr {
	if slices.Contains(parts, unknown) {
		return unknown
	}
	parts = distinct(parts, expr{text: "never"})
	switch len(parts) {
	case 0:
		return expr{text: "never"}
	case 1:
		return parts[0]
	}
	var texts []string
	for _, part := range parts {
		texts = append(texts, part.text)
	}
	return expr{strings.Join(texts, " | "), union}
}

// distinct drops repetitions and one part that adds nothing, keeping the order.
func distinct(parts []expr, neutral expr) []expr {
	var kept []expr
	for _, part := range parts {
		if part != neutral && !slices.Contains(kept, part) {
			kept = append(kept, part)
		}
	}
	return kept
}
