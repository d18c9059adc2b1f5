package discovery

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/tidwall/gjson"
)

const (
	maxLiteral     = 200 // bytes of one literal type
	maxEnumeration = 60  // values of one enumeration
	maxDescription = 200 // bytes of a property's description
	maxDefault     = 80  // bytes of a default
)

// literal is the type of one JSON value: JSON is valid where TypeScript expects a
// literal type, whatever the value.
func literal(v gjson.Result) expr {
	if len(v.Raw) <= maxLiteral {
		return expr{text: v.Raw}
	}
	switch {
	case v.Type == gjson.String:
		return expr{text: "string"}
	case v.IsArray():
		return expr{text: "unknown[]"}
	case v.IsObject():
		return anyKeys
	}
	return expr{text: "number"}
}

// enumeration is the union of its values. One that is too long keeps its
// beginning as a comment, so that the reader sees what is meant.
func enumeration(values []gjson.Result) expr {
	var all []expr
	for _, v := range values {
		all = append(all, literal(v))
	}
	if len(all) <= maxEnumeration {
		return unite(all)
	}
	const shown = 8
	head := unite(all[:shown]).text
	wide := expr{text: "string"}
	for _, v := range values {
		if v.Type != gjson.String {
			wide = unknown
		}
	}
	return expr{text: fmt.Sprintf("%s /* one of %d: %s … */", wide.text, len(all), harmless(head))}
}

// comment is the doc comment of a property with the line break after it, or
// nothing.
func (r *renderer) comment(s gjson.Result, p place) string {
	if !r.detail.comments || !s.IsObject() {
		return ""
	}
	notes := []string{prose(r.description(s), maxDescription)}
	if format := member(s, "format"); format.Type == gjson.String {
		notes = append(notes, "Format: "+prose(format.Str, maxDefault)+".")
	}
	if def := member(s, "default"); def.Exists() {
		notes = append(notes, "Default: "+prose(compact(def.Raw), maxDefault)+".")
	}
	text := strings.TrimSpace(strings.Join(notes, " "))
	if text == "" {
		return ""
	}
	return "/** " + harmless(text) + " */\n" + p.indent()
}

// description is that of the schema or, failing that, of what it refers to.
func (r *renderer) description(s gjson.Result) string {
	for range 5 { // references to references end somewhere
		if d := member(s, "description"); d.Type == gjson.String && d.Str != "" {
			return d.Str
		}
		target, ok := resolve(r.root, member(s, "$ref").Str)
		if !ok || member(s, "$ref").Type != gjson.String {
			break
		}
		s = target
	}
	return member(s, "title").String()
}

// prose brings text to one line of at most max bytes.
func prose(text string, max int) string {
	text = strings.Join(strings.FieldsFunc(strings.Map(visible, text), unicode.IsSpace), " ")
	if len(text) <= max {
		return text
	}
	return strings.TrimRight(head(text, max), " ") + " …"
}

// harmless keeps text from ending the comment that it stands in.
func harmless(text string) string { return strings.ReplaceAll(text, "*/", "* /") }

func compact(raw string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(raw)) != nil {
		return ""
	}
	return b.String()
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

func propertyName(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return quote(name)
}

// quote writes a string literal. JSON's is one of JavaScript's.
func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
