package script

import (
	"errors"
	"strconv"
	"strings"
	"testing"
)

func TestLocate(t *testing.T) {
	t.Parallel()
	s := JavaScript("const a = 1;\n  f();\n", "script")
	for name, tc := range map[string]struct {
		stack, class string
		want         Position
		clean        string
	}{
		"nothing":            {"", "Error", Position{}, ""},
		"on line one":        {"    at <anonymous> (script:1:15)\n    at <eval> (script:4:3)\n", "Error", Position{1, 4}, "    at <anonymous> (script:1:4)"},
		"within the wrapper": {"    at <anonymous> (script:1:3)\n", "Error", Position{1, 1}, "    at <anonymous> (script:1:1)"},
		"on a later line":    {"    at f (script:2:3)\n    at <anonymous> (script:1:12)\n", "Error", Position{2, 3}, "    at f (script:2:3)\n    at <anonymous> (script:1:1)"},
		"after the end":      {"    at script:4:1\n", "SyntaxError", Position{3, 1}, "    at script:3:1"},
		"only the wrapper":   {"    at <eval> (script:2:5)\n", "SyntaxError", Position{2, 5}, ""},
		"in another file":    {"    at g (/skills/a.js:9:9)\n    at <anonymous> (script:2:3)\n", "Error", Position{2, 3}, "    at g (/skills/a.js:9:9)\n    at <anonymous> (script:2:3)"},
		"its constructor":    {"    at Mine (script:1:13)\n    at <anonymous> (script:2:3)\n", "Mine", Position{2, 3}, "    at Mine (script:1:2)\n    at <anonymous> (script:2:3)"},
		"native frames":      {"    at parse (native)\n    at <anonymous> (script:2:3)\n", "Error", Position{2, 3}, "    at parse (native)\n    at <anonymous> (script:2:3)"},
		"no position":        {"    at <anonymous> (script:9999999999999999999999:1)\n", "Error", Position{3, 1}, "    at <anonymous> (script:3:1)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, clean := s.Locate(tc.stack, tc.class)
			if got != tc.want || clean != tc.clean {
				t.Errorf("got %v and %q, want %v and %q", got, clean, tc.want, tc.clean)
			}
		})
	}
}

func TestTypeScriptPositionsAreTheAuthors(t *testing.T) {
	t.Parallel()
	s, err := TypeScript("interface A {\n  n: number\n}\n\nthrow new Error('x')", "script")
	if err != nil {
		t.Fatal(err)
	}
	line := 1 + strings.Count(s.Code[:strings.Index(s.Code, "throw")], "\n")
	if p := s.position(strconv.Itoa(line), "3"); p.Line != 5 {
		t.Errorf("line %d of %q is line %d, want 5", line, s.Code, p.Line)
	}
}

func TestTypeScriptMistakes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		code         string
		line, column int
	}{
		"on line one": {"let a: = 1", 1, 8},
		"on line two": {"1;\nlet a: = 1", 2, 8},
		"unfinished":  {"f()\nif (true) {", 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := TypeScript(tc.code, "script")
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Message == "" {
				t.Fatalf("got %v", err)
			}
			if syntax.Line != tc.line || syntax.Column != tc.column {
				t.Errorf("it is at %d:%d, want %d:%d", syntax.Line, syntax.Column, tc.line, tc.column)
			}
		})
	}
}

func TestStripTypesLeavesModules(t *testing.T) {
	t.Parallel()
	out, err := StripTypes("export const a: number = 1;\n", "/skills/a.ts")
	if err != nil || !IsModule(out) || strings.Contains(out, "number") {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestBrokenSourceMaps(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"no JSON":         "x",
		"a foreign digit": `{"mappings":"A*"}`,
		"unfinished":      `{"mappings":"g"}`,
		"too many fields": `{"mappings":"AAAAAA"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := parseSourceMap([]byte(data)); !errors.Is(err, errSourceMap) {
				t.Errorf("got %v", err)
			}
		})
	}
}
