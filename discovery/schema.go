package discovery

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// readSchema parses a JSON Schema. gjson keeps the members in the order of their
// author and decodes nothing that is not asked for, but it takes bad JSON for
// good: so that is refused first.
func readSchema(text []byte) (gjson.Result, bool) {
	if !json.Valid(text) {
		return gjson.Result{}, false
	}
	return gjson.ParseBytes(text), true
}

// member is the value of a key of an object, the last one if it is repeated.
// gjson's own Get would take the key for a path.
func member(object gjson.Result, key string) gjson.Result {
	var found gjson.Result
	if object.IsObject() {
		object.ForEach(func(k, v gjson.Result) bool {
			if k.Str == key {
				found = v
			}
			return true
		})
	}
	return found
}

// elements lists an array; nothing for anything else.
func elements(list gjson.Result) []gjson.Result {
	if !list.IsArray() {
		return nil
	}
	return list.Array()
}

// strings lists the strings in a string or an array of them.
func stringsIn(v gjson.Result) []string {
	if v.Type == gjson.String {
		return []string{v.Str}
	}
	var all []string
	for _, e := range elements(v) {
		if e.Type == gjson.String {
			all = append(all, e.Str)
		}
	}
	return all
}

// resolve follows a reference within the same document. References to anywhere
// else, and to anchors, are not followed.
func resolve(root gjson.Result, ref string) (gjson.Result, bool) {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return gjson.Result{}, false
	}
	at := root
	for i, part := range strings.Split(pointer, "/") {
		if i == 0 {
			if part != "" { // an anchor
				return gjson.Result{}, false
			}
			continue
		}
		at = step(at, unescapePointer(part))
		if !at.Exists() {
			return gjson.Result{}, false
		}
	}
	return at, true
}

// unescapePointer undoes the escapes of RFC 6901 in a URI fragment.
func unescapePointer(part string) string {
	if plain, err := url.PathUnescape(part); err == nil {
		part = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
}

func step(at gjson.Result, key string) gjson.Result {
	if !at.IsArray() {
		return member(at, key)
	}
	list := at.Array()
	if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(list) {
		return list[i]
	}
	return gjson.Result{}
}

// maxParameters bounds how many parameter names of one tool are indexed, and
// maxParameterDepth how deep they are looked for.
const (
	maxParameters     = 200
	maxParameterDepth = 6
)

// parameterNames lists the names of a tool's parameters, nested ones too.
func parameterNames(inputSchema []byte) []string {
	root, ok := readSchema(inputSchema)
	if !ok {
		return nil
	}
	var names []string
	var walk func(s gjson.Result, depth int)
	walk = func(s gjson.Result, depth int) {
		if depth > maxParameterDepth || !s.IsObject() {
			return
		}
		member(s, "properties").ForEach(func(name, sub gjson.Result) bool {
			if len(names) == maxParameters {
				return false
			}
			names = append(names, name.Str)
			walk(sub, depth+1)
			return true
		})
		walk(member(s, "items"), depth+1)
		for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
			for _, sub := range elements(member(s, keyword)) {
				walk(sub, depth+1)
			}
		}
	}
	walk(root, 0)
	slices.Sort(names)
	return slices.Compact(names)
}
