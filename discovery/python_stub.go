package discovery

import (
	"strings"

	"github.com/tidwall/gjson"
)

// PythonStub is the text of /tools/<server>.py: for each tool, by name, a function
// with a docstring that calls it. Names that Python does not allow are changed; see
// UniqueNames. Arguments are given by keyword, those that the schema requires have
// no default, and what is left out is not sent. Its input was tokenized.
func PythonStub(server string, tools []Definition) string {
	tools = byName(tools)
	var all []string
	for _, d := range tools {
		all = append(all, d.Name)
	}
	ids := UniqueNames(all)
	var b strings.Builder
	b.WriteString(docstring("The tools of the server "+oneLine(server)+", made from their definitions.", ""))
	b.WriteString(pythonHead)
	for _, d := range tools {
		b.WriteString("\n\n" + pythonFunction(server, ids[d.Name], d))
	}
	return b.String()
}

// pythonHead leaves annotations unevaluated, so that a tool named "list" harms none.
const pythonHead = `from __future__ import annotations

from typing import Any, Literal


def _call(name, given, _others):
    return call_mcp_tool(name, {k: v for k, v in given.items() if v is not ...} | _others)
`

// maxPythonParameters bounds the parameters of one function; the others are left
// to **_others.
const maxPythonParameters = 100

// maxObservedNote bounds, in bytes, what a docstring says of results.
const maxObservedNote = 1 << 10

// parameter is one argument of a function.
type parameter struct {
	name, id, hint, note string
	required             bool
}

func pythonFunction(server, id string, d Definition) string {
	parameters := pythonParameters(d.InputSchema)
	var head, given []string
	doc := about(d)
	for i, p := range parameters {
		arg := p.id + ": " + p.hint
		if !p.required {
			arg += " = ..."
		}
		head = append(head, arg)
		given = append(given, pythonString(p.name)+": "+p.id)
		if i == 0 {
			doc += "\n"
		}
		doc += "\n" + p.id + ": " + p.note
	}
	if d.Observed != "" {
		doc += "\n\nResults so far, in TypeScript: " + prose(d.Observed, maxObservedNote)
	}
	if len(head) > 0 {
		head = append([]string{"*"}, head...)
	}
	head = append(head, "**_others: Any")
	return "def " + id + "(" + strings.Join(head, ", ") + ") -> " + pythonResult(d.OutputSchema) + ":\n" +
		"    " + docstring(strings.TrimSpace(doc), "    ") +
		"    return _call(" + pythonString(server+separator+d.Name) + ", {" + strings.Join(given, ", ") + "}, _others)\n"
}

func pythonParameters(schema []byte) []parameter {
	root, ok := readSchema(schema)
	if !ok {
		return nil
	}
	required := map[string]bool{}
	for _, name := range stringsIn(member(root, "required")) {
		required[name] = true
	}
	var all []parameter
	var names []string
	seen := map[string]bool{}
	r := newRenderer(root, detail{comments: true})
	member(root, "properties").ForEach(func(name, sub gjson.Result) bool {
		if !seen[name.Str] {
			seen[name.Str] = true
			names = append(names, name.Str)
			note := oneLine(r.description(sub))
			if note == "" {
				note = "as the schema says"
			}
			all = append(all, parameter{name: name.Str, hint: pythonHint(root, sub, 0), note: note, required: required[name.Str]})
		}
		return len(all) < maxPythonParameters
	})
	ids := UniqueNames(names)
	for i := range all {
		all[i].id = ids[all[i].name]
	}
	return all
}

func pythonResult(schema []byte) string {
	root, ok := readSchema(schema)
	if !ok {
		return "Any"
	}
	return pythonHint(root, root, 0)
}

const (
	maxHintDepth   = 4
	maxHintLiteral = 20  // values of one Literal
	maxHint        = 400 // bytes
)

// pythonHint is the type of a schema as Python's annotations say it.
func pythonHint(root, s gjson.Result, depth int) string {
	if !s.IsObject() || depth > maxHintDepth {
		return "Any"
	}
	if ref := member(s, "$ref"); ref.Type == gjson.String {
		target, ok := resolve(root, ref.Str)
		if !ok {
			return "Any"
		}
		return pythonHint(root, target, depth+1)
	}
	var hints []string
	switch values := elements(member(s, "enum")); {
	case member(s, "const").Exists():
		hints = []string{pythonLiteral([]gjson.Result{member(s, "const")})}
	case len(values) > 0:
		hints = []string{pythonLiteral(values)}
	default:
		types := stringsIn(member(s, "type"))
		if len(types) == 0 {
			types = impliedTypes(s)
		}
		for _, t := range types {
			hints = append(hints, pythonOfType(t, root, s, depth))
		}
	}
	if len(hints) == 0 {
		for _, keyword := range []string{"anyOf", "oneOf"} {
			for _, sub := range elements(member(s, keyword)) {
				hints = append(hints, pythonHint(root, sub, depth+1))
			}
		}
	}
	return pythonUnion(hints)
}

func pythonOfType(name string, root, s gjson.Result, depth int) string {
	switch name {
	case "string":
		return "str"
	case "integer":
		return "int"
	case "number":
		return "float"
	case "boolean":
		return "bool"
	case "null":
		return "None"
	case "array":
		return "list[" + pythonHint(root, member(s, "items"), depth+1) + "]"
	case "object":
		return "dict[str, " + pythonHint(root, member(s, "additionalProperties"), depth+1) + "]"
	}
	return "Any"
}

// pythonLiteral lists strings and whole numbers; anything else is Any.
func pythonLiteral(values []gjson.Result) string {
	var all []string
	for _, v := range values {
		switch {
		case v.Type == gjson.String:
			all = append(all, pythonString(v.Str))
		case v.Type == gjson.Null:
			all = append(all, "None")
		case v.Type == gjson.Number && !strings.ContainsAny(v.Raw, ".eE"):
			all = append(all, v.Raw)
		default:
			return "Any"
		}
	}
	text := "Literal[" + strings.Join(all, ", ") + "]"
	switch {
	case len(all) <= maxHintLiteral && len(text) <= maxHint:
		return text
	case values[0].Type == gjson.String:
		return "str"
	}
	return "Any"
}

func pythonUnion(hints []string) string {
	var all []string
	seen := map[string]bool{}
	for _, h := range hints {
		if h == "Any" {
			return h
		}
		if !seen[h] {
			seen[h] = true
			all = append(all, h)
		}
	}
	text := strings.Join(all, " | ")
	if text == "" || len(text) > maxHint {
		return "Any"
	}
	return text
}

// pythonString writes a string literal. JSON's is one of Python's, but for
// characters above 16 bits, which stay as they are.
func pythonString(s string) string { return quote(strings.ToValidUTF8(s, "\uFFFD")) }

// docstring writes a block of text that nothing in it can end.
func docstring(text, indent string) string {
	text = strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`).Replace(text)
	if strings.HasSuffix(text, `"`) {
		text += " "
	}
	if text == "" {
		text = "No description."
	}
	text = strings.ReplaceAll(text, "\n", "\n"+indent)
	return `"""` + strings.ReplaceAll(text, "\n"+indent+"\n", "\n\n") + `"""` + "\n"
}
