package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
)

// maxDepth bounds how deep arrays and objects may stand in one another.
const maxDepth = 100

// checkNames accepts one JSON object for a struct type, in which, at any depth, no name
// is there twice and none is a field's name in another case: encoding/json folds case
// and takes the last of two, and a proxy in front may have judged another one. Strict
// refuses names that are no field's at all.
func checkNames(body []byte, t reflect.Type, strict bool) error {
	n := names{decoder: json.NewDecoder(bytes.NewReader(body)), strict: strict}
	begin, err := n.decoder.Token()
	switch {
	case err != nil:
		return syntaxProblem(err)
	case begin != json.Delim('{'):
		return badBody("the body must be a JSON object")
	}
	if err := n.object(t, 1); err != nil {
		return err
	}
	if _, err := n.decoder.Token(); !errors.Is(err, io.EOF) {
		return badBody("there is more after the JSON object")
	}
	return nil
}

// names reads JSON for the names in it.
type names struct {
	decoder *json.Decoder
	strict  bool
}

// value reads a value for a type, which is nil where no struct is expected.
func (n names) value(t reflect.Type, depth int) error {
	token, err := n.decoder.Token()
	switch {
	case err != nil:
		return syntaxProblem(err)
	case depth > maxDepth:
		return badBody(fmt.Sprintf("arrays and objects stand in one another more than %d deep", maxDepth))
	case token == json.Delim('{'):
		return n.object(t, depth+1)
	case token == json.Delim('['):
		return n.array(t, depth+1)
	}
	return nil
}

// object reads an object after its brace.
func (n names) object(t reflect.Type, depth int) error {
	fields := fieldsOf(t)
	seen := map[string]bool{}
	for n.decoder.More() {
		token, err := n.decoder.Token()
		if err != nil {
			return syntaxProblem(err)
		}
		name, _ := token.(string)
		if seen[name] {
			return badBody(fmt.Sprintf("field %q is there twice", brief(name)))
		}
		seen[name] = true
		at := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		other := slices.ContainsFunc(fields, func(f field) bool { return strings.EqualFold(f.name, name) })
		if at < 0 && (other || n.strict && fields != nil) {
			return badBody(fmt.Sprintf("unknown field %q", brief(name)))
		}
		var inner reflect.Type
		if at >= 0 {
			inner = fields[at].kind
		}
		if err := n.value(inner, depth); err != nil {
			return err
		}
	}
	return n.end()
}

// array reads an array after its bracket.
func (n names) array(t reflect.Type, depth int) error {
	var inner reflect.Type
	if t != nil && t.Kind() == reflect.Slice {
		inner = t.Elem()
	}
	for n.decoder.More() {
		if err := n.value(inner, depth); err != nil {
			return err
		}
	}
	return n.end()
}

func (n names) end() error {
	if _, err := n.decoder.Token(); err != nil {
		return syntaxProblem(err)
	}
	return nil
}

// field is one of a struct's, by its name in JSON.
type field struct {
	name string
	kind reflect.Type
}

// fieldsOf lists a struct's fields; nil for what is no struct, or reads itself.
func fieldsOf(t reflect.Type) []field {
	if t == nil || t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return nil
	}
	var fields []field
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields = append(fields, field{name, t.Field(i).Type})
	}
	return fields
}
