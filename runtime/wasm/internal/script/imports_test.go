package script

import "testing"

func TestImportsBecomeAwaited(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ code, want string }{
		"nothing to do":         {"return 1", "return 1"},
		"a default name":        {`import a from "./a.js"; a()`, `const {default:a}=await import("./a.js"); a()`},
		"names":                 {"import {a, b as c} from 'x'\nc()", "const {a,b:c}=await import('x');\nc()"},
		"names over lines":      {"import {\n  a,\n  b,\n} from 'x';\nc()", "const {a,b}=await import('x');\n\n\n\nc()"},
		"a default and names":   {"import d, {a} from 'x'", "const {default:d,a}=await import('x');"},
		"a namespace":           {"import * as n from 'x'", "const n=await import('x');"},
		"default and namespace": {"import d, * as n from 'x'", "const n=await import('x'),{default:d}=n;"},
		"only for effect":       {"import 'x'", "await import('x');"},
		"attributes":            {`import j from "x.json" with {type: "json"};`, `const {default:j}=await import("x.json");`},
		"types leave nothing":   {"import type {A} from 'x'\nimport {type B, c} from 'y'", "\nconst {c}=await import('y');"},
		"a value named type":    {"import type from 'x'", "const {default:type}=await import('x');"},
		"a dynamic import":      {"const a = await import('x')", "const a = await import('x')"},
		"import.meta":           {"import.meta.url", "import.meta.url"},
		"in a string":           {`f("import a from 'x'")` + "\n`\nimport a from 'x'`", `f("import a from 'x'")` + "\n`\nimport a from 'x'`"},
		"in a comment":          {"// import a from 'x'\n/*\nimport a from 'x'*/", "// import a from 'x'\n/*\nimport a from 'x'*/"},
		"after a template":      {"`${`}`}`\nimport 'x'", "`${`}`}`\nawait import('x');"},
		"after a regexp":        {"a = /[/'{]/\nimport 'x'", "a = /[/'{]/\nawait import('x');"},
		"after a division":      {"b = a / 2 / c['/']\nimport 'x'", "b = a / 2 / c['/']\nawait import('x');"},
		"a property":            {"a.import\n'x'", "a.import\n'x'"},
		"inside a block":        {"{ import 'x' }", "{ import 'x' }"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := awaitImports(tc.code); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestModulesAreRecognised(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		code string
		want bool
	}{
		"an export":          {"export const a = 1", true},
		"an import":          {"import a from 'x'\na()", true},
		"CommonJS":           {"module.exports = async () => { await import('x') }", false},
		"exports":            {"exports.a = 1; module.exports.import = 2", false},
		"export in a string": {"module.exports = 'export const a'", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := IsModule(tc.code); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func FuzzScanningEnds(f *testing.F) {
	f.Add("import a from 'x'; `${`a`}` /[/]/ \\")
	f.Fuzz(func(t *testing.T, code string) {
		IsModule(code)
		if awaitImports("//"+code) == "" {
			t.Error("a comment vanished")
		}
	})
}
