package sandboxtest

import (
	"testing"

	"airlock/runtime/sandbox"
)

func (s *suite) testFiles(t *testing.T) {
	box, files := s.open(t), newFolders(t)
	if err := files.WriteFile("/workspace/given.txt", []byte("from outside, ü")); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, code, want string }{ // in this order
		{"reads", `return await fs.readFile("/workspace/given.txt")`, `"from outside, ü"`},
		{"writes", `await fs.writeFile("/artifacts/report/a.md", "# A"); return await fs.readFile("/artifacts/report/a.md")`, `"# A"`},
		{"keeps files for the next execution", `return await fs.readFile("/artifacts/report/a.md")`, `"# A"`},
		{"tells what exists", `return [await fs.exists("/artifacts/report/a.md"), await fs.exists("/artifacts/b.md")]`, `[true,false]`},
		{"lists", `return (await fs.listFiles("/artifacts/report")).map((f) => typeof f === "string" ? f : f.name)`, `["a.md"]`},
		{"deletes", `await fs.deleteFile("/artifacts/report/a.md"); return await fs.exists("/artifacts/report/a.md")`, `false`},
		{"a missing file has its code", `try { await fs.readFile("/workspace/none") } catch (e) { return e.code }`, `"ENOENT"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := script(tc.code)
			x.Files = files
			o := run(t, box, x)
			o.want(t, sandbox.ReasonOK)
			if o.value != tc.want {
				t.Errorf("value is %q, want %q", o.value, tc.want)
			}
		})
	}
	for name, path := range map[string]string{
		"the host's files": "/etc/passwd", "the parent of a folder": "/workspace/../../etc/passwd", "a name with NUL": "/workspace/a\\0b",
		"the process": "/proc/self/environ",
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			x := script(`try { await fs.writeFile("` + path + `", "x"); return "written" } catch { return "refused" }`)
			x.Files = files
			o := run(t, box, x)
			if o.value != `"refused"` {
				t.Errorf("it was %s", o.value)
			}
		})
	}
}

func (s *suite) testModules(t *testing.T) {
	box, files := s.open(t), newFolders(t)
	for name, text := range map[string]string{
		"/skills/sum.js":        "module.exports = async function (input) { return input.a + input.b };\nmodule.exports.version = 2;\n",
		"/skills/named.mjs":     "export const one = 1;\nexport default function two() { return 2 }\n",
		"/skills/uses.mjs":      "import { one } from './named.mjs';\nimport sum from './sum.js';\nexport const three = await sum({ a: one, b: 2 });\n",
		"/skills/broken.js":     "module.exports = 1;\n\nnull.x;\n",
		"/workspace/data.json":  `{"n": 5}`,
		"/workspace/syntax.js":  "module.exports = ;",
		"/workspace/local.js":   "exports.local = 'here';\n",
		"/skills/throws.js":     "module.exports = () => {\n  throw new Error('inside the skill');\n};\n",
		"/workspace/counter.js": "globalThis.loads = (globalThis.loads || 0) + 1;\n",
	} {
		if err := files.WriteFile(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		code   string
		reason sandbox.Reason
		want   string
		line   int
	}{
		"require a function":      {`return await require("/skills/sum.js")({ a: 1, b: 2 })`, sandbox.ReasonOK, `3`, 0},
		"require without ending":  {`return await require("/skills/sum")({ a: 1, b: 2 })`, sandbox.ReasonOK, `3`, 0},
		"require a JSON file":     {`return require("/workspace/data.json").n`, sandbox.ReasonOK, `5`, 0},
		"require loads once":      {`require("/workspace/counter.js"); require("/workspace/counter.js"); return loads`, sandbox.ReasonOK, `1`, 0},
		"import a default":        {`import sum from "/skills/sum.js"; return sum({ a: 2, b: 2 })`, sandbox.ReasonOK, `4`, 0},
		"import a property":       {`import { version } from "/skills/sum.js"; return version`, sandbox.ReasonOK, `2`, 0},
		"import an ES module":     {"import two, { one } from '/skills/named.mjs';\nreturn one + two()", sandbox.ReasonOK, `3`, 0},
		"import a namespace":      {`import * as all from "/skills/uses.mjs"; return all.three`, sandbox.ReasonOK, `3`, 0},
		"import dynamically":      {`const { one } = await import("/skills/named.mjs"); return one`, sandbox.ReasonOK, `1`, 0},
		"import beside itself":    {`const { local } = await import("./local.js"); return local`, sandbox.ReasonOK, `"here"`, 0},
		"a missing module":        {"const a = 1;\nrequire('/skills/none.js')", sandbox.ReasonError, ``, 2},
		"a missing import":        {"const a = 1;\nawait import('/skills/none.js')", sandbox.ReasonError, ``, 0},
		"a module that fails":     {"1;\n2;\nrequire('/skills/broken.js')", sandbox.ReasonError, ``, 3},
		"a module with a mistake": {"1;\nrequire('/workspace/syntax.js')", sandbox.ReasonError, ``, 0},
		"a function that fails":   {"1;\n2;\nrequire('/skills/throws.js')()", sandbox.ReasonError, ``, 3},
		"a library":               {`require("lodash-that-is-not-there")`, sandbox.ReasonError, ``, 1},
	} {
		t.Run(name, func(t *testing.T) {
			x := script(tc.code)
			x.Files = files
			o := run(t, box, x)
			o.want(t, tc.reason)
			if o.value != tc.want {
				t.Errorf("value is %q, want %q", o.value, tc.want)
			}
			if tc.line != 0 && o.Error != nil && o.Error.Line != tc.line {
				t.Errorf("line is %d, want %d; %s\n%s", o.Error.Line, tc.line, o.describe(), o.stack)
			}
		})
	}
}
