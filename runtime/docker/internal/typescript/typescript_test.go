package typescript

import (
	"errors"
	"strings"
	"testing"
)

func strip(t *testing.T, code string) Script {
	t.Helper()
	s, err := new(Stripper).Strip(code)
	if err != nil {
		t.Fatalf("Strip(%q): %v", code, err)
	}
	return s
}

func TestTypesAreTakenOut(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ code, want string }{
		"nothing":            {"", "\n"},
		"a type":             {"const a: number = 1; return a", "\n  const a = 1;\n  return a;\n"},
		"await and return":   {"return await f<string>()", "\n  return await f();\n"},
		"an interface":       {"interface A { b: string }\nreturn 1 as unknown as A", "\n  return 1;\n"},
		"imports stay":       {"import a from 'x'\nimport { b } from \"y\";\nreturn a(b)", "import a from \"x\"; import { b } from \"y\";\n  return a(b);\n"},
		"type imports go":    {"// head\nimport type { A } from 'x'\nimport { type B, c } from 'y'\nreturn c", "import { c } from \"y\";\n  return c;\n"},
		"a dynamic import":   {"const a = await import('x')", "\n  const a = await import(\"x\");\n"},
		"over several lines": {"import {\n  a,\n} from 'x'\na()", "import {   a } from \"x\";\n  a();\n"},
		"only for effect":    {"import 'x'\n1", "import \"x\";\n  1;\n"},
		"an enum":            {"const enum E { A = 3 }\nreturn E.A", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := strip(t, tc.code).Code; got != tc.want && tc.want != "" {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestPositionsAreTheAuthors(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]string{
		"at once":        "throw 1",
		"after types":    "interface A {\n  n: number\n}\n\nthrow 1",
		"after imports":  "import a from 'x'\nimport {\n  b,\n} from 'y'\n\nthrow a(b)",
		"beside imports": "import a from 'x'; throw a",
		"indented":       "type T = string\nif (f()) {\n    throw 2\n}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := strip(t, code)
			line, column := place(s.Code, "throw")
			line, column = s.Position(line, column)
			if l, c := place(code, "throw"); line != l || column != c {
				t.Errorf("it is at %d:%d, want %d:%d", line, column, l, c)
			}
		})
	}
}

func place(code, word string) (line, column int) {
	before := code[:strings.Index(code, word)]
	return 1 + strings.Count(before, "\n"), len(before) - strings.LastIndex(before, "\n")
}

func TestMistakesHaveTheirPlace(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		code string
		line int
	}{
		"on line one":    {"let a: = 1", 1},
		"on line three":  {"1;\n2;\nlet a: = 1", 3},
		"unfinished":     {"f()\nif (true) {", 2},
		"too long":       {"//" + strings.Repeat("x", maxBytes), 1},
		"brackets":       {"1;\n" + strings.Repeat("(", 100_000)[:60_000], 2},
		"types":          {"let a: " + strings.Repeat("A<", 20_000), 1},
		"prefixes":       {strings.Repeat("! ", 30_000), 1},
		"a late import":  {"f()\nimport a from 'x'", 2},
		"in the imports": {"import {a b} from 'x'", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := new(Stripper).Strip(tc.code)
			var e *Error
			if !errors.As(err, &e) || e.Message == "" {
				t.Fatalf("got %v", err)
			}
			if e.Line != tc.line {
				t.Errorf("it is on line %d, want %d: %v", e.Line, tc.line, e)
			}
		})
	}
}

func FuzzStripEnds(f *testing.F) {
	f.Add("import a from 'x'\nlet b: number = `${a}`")
	f.Fuzz(func(t *testing.T, code string) {
		s, err := new(Stripper).Strip(code)
		if err == nil {
			s.Position(1, 1)
			s.Position(1<<30, 1<<30)
		}
	})
}
