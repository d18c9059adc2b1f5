package skills

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestFrontMatterSaysWhatIsWrongAndWhere(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1025)
	for name, tc := range map[string]struct {
		text, want string // want is "" if it is well-formed
	}{
		"the least":                   {"---\nname: a-b\ndescription: d\n---\n", ""},
		"all fields":                  {"---\nname: a\ndescription: d\nversion: 1.0.0\nlicense: MIT\ncompatibility: any\nmetadata:\n  author: x\nallowed-tools: a__b c__*\ndependencies: numpy>=1.0\nkeywords: [a, b c]\nexample: x()\n---\ntext", ""},
		"Windows line ends":           {"---\r\nname: a\r\ndescription: d\r\n---\r\n", ""},
		"a byte order mark":           {"\ufeff---\nname: a\ndescription: d\n---\n", ""},
		"a folded description":        {"---\nname: a\ndescription: >\n  one\n  two\n---\n", ""},
		"no front matter":             {"# Title\n", `SKILL.md line 1: the first line must be "---"`},
		"an empty file":               {"", `SKILL.md line 1: the first line must be "---"`},
		"no end":                      {"---\nname: a\n", "SKILL.md line 1: the front matter has no end"},
		"nothing in it":               {"---\n---\n", "SKILL.md line 2: the front matter is empty"},
		"a list":                      {"---\n- a\n---\n", "SKILL.md line 1: the front matter must hold"},
		"no YAML":                     {"---\nname: a\ndescription: b: c\n---\n", "SKILL.md line 3: the front matter is not YAML"},
		"a tab":                       {"---\nname: a\n\tdescription: x\n---\n", "the front matter is not YAML"},
		"no description":              {"---\nname: a\n---\n", "SKILL.md line 1: the front matter needs"},
		"an empty description":        {"---\nname: a\ndescription:\n---\n", "SKILL.md line 3: description must be a text"},
		"a blank description":         {"---\nname: a\ndescription: '  '\n---\n", "SKILL.md line 3: description is empty"},
		"a long description":          {"---\nname: a\ndescription: " + long + "\n---\n", "SKILL.md line 3: description is longer than 1024"},
		"a hidden character":          {"---\nname: a\ndescription: \"a\\u200bb\"\n---\n", "SKILL.md line 3: description holds a control"},
		"a description that is a map": {"---\nname: a\ndescription: {a: b}\n---\n", "SKILL.md line 3: description must be a text"},
		"a long name":                 {"---\nname: " + long[:65] + "\ndescription: d\n---\n", "SKILL.md line 2: name is longer than 64"},
		"an unknown field":            {"---\nname: a\ndescription: d\ncolour: red\n---\n", "SKILL.md line 4: unknown field; known are"},
		"a field twice":               {"---\nname: a\ndescription: d\nname: b\n---\n", "SKILL.md line 4: the field name is there twice"},
		"an anchor":                   {"---\nname: &x a\ndescription: d\n---\n", "SKILL.md line 2: anchors"},
		"an alias":                    {"---\nname: a\ndescription: d\nmetadata: {a: &b [1], c: *b}\n---\n", "SKILL.md line 4: anchors"},
		"deep nesting":                {"---\nname: a\ndescription: d\nmetadata: " + strings.Repeat("[", 20) + strings.Repeat("]", 20) + "\n---\n", "SKILL.md line 4: anchors, aliases and deep"},
		"a bad version":               {"---\nname: a\ndescription: d\nversion: one two\n---\n", "SKILL.md line 4: version has the wrong form"},
		"a bad tool":                  {"---\nname: a\ndescription: d\nallowed-tools: [\"a;b\"]\n---\n", "SKILL.md line 4: allowed-tools has an entry of the wrong form"},
		"a keyword that is a list":    {"---\nname: a\ndescription: d\nkeywords: [[a]]\n---\n", "SKILL.md line 4: keywords has an entry that must be a text"},
		"too many keywords":           {"---\nname: a\ndescription: d\nkeywords: " + strings.Repeat("k,", 101) + "\n---\n", "SKILL.md line 4: keywords has more than 100"},
		"inputs that are a list":      {"---\nname: a\ndescription: d\ninputs: [a]\n---\n", "SKILL.md line 4: inputs must be at most"},
		"an input without a type map": {"---\nname: a\ndescription: d\ninputs:\n  x: date\n---\n", "SKILL.md line 5: inputs must give"},
		"an unknown type":             {"---\nname: a\ndescription: d\ninputs: {x: {type: colour}}\n---\n", "SKILL.md line 4: inputs has an unknown type"},
		"an input's unknown field":    {"---\nname: a\ndescription: d\ninputs: {x: {kind: date}}\n---\n", "SKILL.md line 4: inputs has an input with an unknown field"},
		"an input that is no name":    {"---\nname: a\ndescription: d\ninputs: {\"x y\": {type: date}}\n---\n", "SKILL.md line 4: inputs has a name that is no"},
		"required that is a text":     {"---\nname: a\ndescription: d\ninputs: {x: {required: \"yes\"}}\n---\n", "SKILL.md line 4: inputs has a \"required\""},
		"a huge front matter":         {"---\nname: a\ndescription: d\nexample: |\n" + strings.Repeat("  x\n", 5000) + "---\n", "SKILL.md line 1: the front matter is longer than 16 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseFrontMatter("SKILL.md", []byte(tc.text))
			var unfit *Fault
			switch {
			case tc.want == "" && err != nil:
				t.Errorf("it is well-formed, but: %v", err)
			case tc.want != "" && (!errors.As(err, &unfit) || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestFrontMatterIsRead(t *testing.T) {
	t.Parallel()
	h, err := parseFrontMatter("SKILL.md", []byte("---\nname: a\ndescription: >\n  one\n  two\nversion: 1.2\nallowed-tools: x__* y__z\nkeywords: best one, other\ninputs:\n  day: {type: date, description: when, required: true}\n---\nname: not this\n"))
	if err != nil {
		t.Fatal(err)
	}
	if h.name != "a" || h.description != "one two" || h.version != "1.2" ||
		!slices.Equal(h.tools, []string{"x__*", "y__z"}) || !slices.Equal(h.keywords, []string{"best one", "other"}) ||
		len(h.inputs) != 1 || h.inputs[0].name != "day" || h.inputs[0].description != "when" || h.inputs[0].kind != Date || !h.inputs[0].required {
		t.Errorf("read %+v", h)
	}
}

func TestHeadComment(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ code, description, keywords string }{
		"lines":                       {"// Adds up.\n// All of it.\nmodule.exports = 1", "Adds up. All of it.", ""},
		"a block":                     {"/**\n * Adds up.\n * All of it.\n *\n * @param x\n */\ncode", "Adds up. All of it.", ""},
		"a block on one line":         {"/* Adds up. */ code()\n// not this", "Adds up.", ""},
		"keywords":                    {"// Adds up.\n// Keywords: sum, add up\ncode", "Adds up.", "sum|add up"},
		"after strict mode and blank": {"\n'use strict';\n\n// Adds up.\n\n// not this\n", "Adds up.", ""},
		"an interpreter line":         {"#!/usr/bin/env python3\n# Adds up.\nimport x", "Adds up.", ""},
		"a docstring":                 {"\"\"\"Adds up.\n\nMore text.\n\"\"\"\ncode", "Adds up.", ""},
		"a docstring on one line":     {"'''Adds up.'''\n# not this", "Adds up.", ""},
		"none":                        {"module.exports = 1 // not this", "", ""},
		"nothing at all":              {"", "", ""},
		"only an opening":             {"/*", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := headComment(tc.code)
			if h.description != tc.description || strings.Join(h.keywords, "|") != tc.keywords {
				t.Errorf("read %q and %q", h.description, h.keywords)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\ndescription: d\n---\n", "// x\n")
	f.Add("---\nname: [", "/*")
	f.Fuzz(func(t *testing.T, about, code string) {
		b := bundle{entry: "a", folder: true, files: map[string][]byte{"SKILL.md": []byte(about), "main.js": []byte(code)}}
		p, err := parse(b, ScopeUser)
		if err == nil && (p.name != "a" || p.Description.IsZero() || p.Path != "/skills/a/main.js") {
			t.Errorf("parsed to %+v", p.Skill)
		}
		if _, err := parse(bundle{entry: "a.js", files: map[string][]byte{"a.js": []byte(code)}}, ScopeUser); err == nil {
			_ = tooDeep(code)
			_ = checkPython("a.py", code)
		}
	})
}

func TestPythonLayout(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ code, want string }{
		"a function":             {"def f(x):\n    # why\n\n    return [x[1:],\n  2]\n\nf(1)\n", ""},
		"strings":                {"a = '''\n  (\n''' + \"\\\"(\" + r'\\'' # (\n", ""},
		"a line that goes on":    {"x = 1 + \\\n    2\ny = 2\n", ""},
		"a block on one line":    {"if x: y()\nclass A: pass\n", ""},
		"Windows line ends":      {"if x:\r\n    y()\r\n", ""},
		"tabs":                   {"if x:\n\tif y:\n\t    z()\n\tw()\n", ""},
		"an open bracket":        {"x = (1\ny = 2\n", "line 1: does not parse: a bracket is never closed"},
		"a wrong bracket":        {"x = 1\ny = (1]\n", "line 2: does not parse: a bracket is closed"},
		"a string without end":   {"x = 'it\ny = 1\n", "line 1: does not parse: a string has no end on its line"},
		"a text without end":     {"x = '''a\nb\n", "line 1: does not parse: a string has no end"},
		"no block":               {"def f():\nreturn 1\n", "line 2: does not parse: an indented block is missing"},
		"no block at the end":    {"def f():\n", "needs an indented block"},
		"an indent":              {"x = 1\n  y = 2\n", "line 2: does not parse: the line is indented for no reason"},
		"a dedent to nowhere":    {"if x:\n    y()\n  z()\n", "line 3: does not parse: the indentation fits no line"},
		"brackets without limit": {strings.Repeat("(", 300), "more than 200 levels"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := checkPython("a.py", tc.code)
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
