package helpers

import (
	"strings"
	"testing"
)

func with(files map[string]string, code string) script { return script{Script: code, Files: files} }

func TestFiles(t *testing.T) {
	runTests(t, []test{
		{name: "write, read, list, exists, delete", script: js(`await fs.writeFile("/workspace/d/a.txt", "é"); const list = [await fs.listFiles("/workspace"), await fs.listFiles("/workspace/d")]; const was = await fs.exists("/workspace/d/a.txt"); const text = await fs.readFile("/workspace/d/a.txt"); await fs.deleteFile("/workspace/d/a.txt"); return [list, was, text, await fs.exists("/workspace/d/a.txt")]`),
			want: `[[["d"],["a.txt"]],true,"é",false]`},
		{name: "relative paths start at the workspace", script: js(`await fs.writeFile("x.txt", "1"); return await fs.readFile("/workspace/x.txt")`), want: `"1"`},
		{name: "encodings", script: with(map[string]string{"/workspace/a": "hi"}, `return [await fs.readFile("/workspace/a", "base64"), await fs.readFile("/workspace/a", {encoding: "hex"}), await fs.readFile("/workspace/a", null), (await fs.readFile("/workspace/a", "buffer")).length]`),
			want: `["aGk=","6869",{"type":"Buffer","data":[104,105]},2]`},
		{name: "bytes", script: js(`await fs.writeFile("/workspace/b", new Uint8Array([65, 66])); await fs.writeFile("/workspace/c", new Uint16Array([0x4443]).buffer); await fs.writeFile("/workspace/d", Buffer.from("xyz").subarray(1)); await fs.writeFile("/workspace/e", "aGk=", "base64"); return Promise.all(["b", "c", "d", "e"].map((f) => fs.readFile(f)))`), want: `["AB","CD","yz","hi"]`},
		{name: "Node's names", script: with(map[string]string{"/skills/s/main.js": "x"}, `const p = require("fs/promises"); await p.mkdir("/workspace/q", {recursive: true}); await p.writeFile("/workspace/q/1", "a"); await p.appendFile("/workspace/q/1", "b"); await p.copyFile("/workspace/q/1", "/workspace/q/2"); await p.rename("/workspace/q/2", "/workspace/q/3"); const s = await p.stat("/workspace/q/1"); const d = (await p.readdir("/skills", {withFileTypes: true})).map((e) => [e.name, e.isDirectory()]); const names = await p.readdir("/workspace/q"); await p.rm("/workspace/q", {recursive: true, force: true}); await p.rm("/workspace/none", {force: true}); return [s.size, s.isFile(), s.mtime instanceof Date, d, names, await fs.exists("/workspace/q")]`),
			want: `[2,true,true,[["s",true]],["1","3"],false]`},
		{name: "synchronous forms", script: js(`const f = require("node:fs"); f.writeFileSync("/workspace/a", "1"); f.appendFileSync("/workspace/a", "2"); f.writeFileSync("/workspace/a", "3", {flag: "a"}); return [f.readFileSync("/workspace/a", "utf8"), f.existsSync("/workspace/b"), f.readdirSync("/workspace"), f.statSync("/workspace/a").isDirectory(), f.promises.readFile === fs.promises.readFile, f.existsSync("/workspace/a") && (f.unlinkSync("/workspace/a"), f.existsSync("/workspace/a"))]`),
			want: `["123",false,["a"],false,true,false]`},
		{name: "callbacks", script: js(`return await new Promise((done) => fs.writeFile("/workspace/a", "1", (e) => fs.readFile("/workspace/a", "utf8", (e2, text) => fs.readFile("/workspace/none", (e3) => done([e, e2, text, e3.code])))))`), want: `[null,null,"1","ENOENT"]`},
		{name: "a missing file", script: js("\nawait fs.readFile('/workspace/none')"), fails: "Error: ENOENT", check: func(t *testing.T, got outcome) {
			if got.Error.Code != "ENOENT" || !strings.Contains(got.Error.Message, "/workspace/none") || !strings.Contains(got.Error.Stack, "script:2:") || strings.Contains(got.Error.Stack, "native") {
				t.Errorf("error is %+v", got.Error)
			}
		}},
		{name: "a path outside", script: js(`await fs.readFile("/etc/passwd")`), fails: "Error: EACCES"},
		{name: "an object is not content", script: js(`await fs.writeFile("/workspace/a", {a: 1})`), fails: "TypeError: a file's content must be text or bytes, not an object; JSON.stringify it first"},
		{name: "a path must be text", script: js(`await fs.readFile(5)`), fails: "TypeError: a path must be a string"},
		{name: "a file URL is a path", script: with(map[string]string{"/workspace/a": "hi"}, `return await fs.readFile(new URL("file:///workspace/a"))`), want: `"hi"`},
	})
}

func TestRequire(t *testing.T) {
	files := map[string]string{
		"/skills/x.js":         "module.exports = async function (n) { return n * 2 };",
		"/skills/lib/main.js":  "exports.name = __filename + ' ' + __dirname; exports.sum = require('./sum').sum; exports.data = require('../data.json');",
		"/skills/lib/sum.js":   "exports.sum = (a, b) => a + b; // no line feed at the end",
		"/skills/pkg/index.js": "exports.id = module.id;",
		"/skills/data.json":    `{"a": [1, 2]}`,
		"/skills/bad.json":     `{`,
		"/skills/cycle/a.js":   "exports.early = 1; const b = require('./b.js'); exports.fromB = b.seen; exports.late = 2;",
		"/skills/cycle/b.js":   "exports.seen = Object.keys(require('./a.js'));",
		"/skills/once.js":      "globalThis.runs = (globalThis.runs ?? 0) + 1; exports.runs = globalThis.runs;",
		"/skills/throws.js":    "\n\nthrow new RangeError('at load');",
		"/skills/later.js":     "exports.f = (a) => {\n  return a.x.y;\n};",
		"/skills/syntax.js":    "const a = 1;\nconst b = ;\n",
		"/skills/esm.js":       "export const a = 1;\n",
		"/skills/awaits.js":    "const a = await list_mcp_tools();\n",
		"/skills/bang.js":      "#!/usr/bin/env node\nmodule.exports = 'bang';",
		"/skills/bom.js":       "\ufeffmodule.exports = 'bom';",
		"/skills/typed.ts":     "exports.t = 1;",
		"/skills/this.js":      "this.a = 1; exports.same = this === exports; exports.strict = (function () { return this === undefined })();",
		"/workspace/local.js":  "module.exports = 'local';",
	}
	at := func(place string) func(*testing.T, outcome) {
		return func(t *testing.T, got outcome) {
			if got.Error == nil || !strings.Contains(got.Error.Stack+got.Error.Message, place) || strings.Contains(got.Error.Stack, "airlock:") {
				t.Errorf("error is %+v, want the place %s", got.Error, place)
			}
		}
	}
	runTests(t, []test{
		{name: "a function", script: with(files, `return await require("/skills/x.js")(4)`), want: `8`},
		{name: "without the ending", script: with(files, `return await require("/skills/x")(4)`), want: `8`},
		{name: "a folder with main.js", script: with(files, `const l = require("/skills/lib"); return [l.name, l.sum(1, 2), l.data]`), want: `["/skills/lib/main.js /skills/lib",3,{"a":[1,2]}]`},
		{name: "a folder with index.js", script: with(files, `return require("/skills/pkg/").id`), want: `"/skills/pkg/index.js"`},
		{name: "relative to the workspace", script: with(files, `return [require("./local.js"), require("./../workspace/local"), require("../skills/pkg").id]`), want: `["local","local","/skills/pkg/index.js"]`},
		{name: "JSON", script: with(files, `return require("/skills/data.json").a`), want: `[1,2]`},
		{name: "bad JSON", script: with(files, `require("/skills/bad.json")`), fails: "SyntaxError: /skills/bad.json is not JSON: "},
		{name: "cycles see what is there so far", script: with(files, `return require("/skills/cycle/a.js")`), want: `{"early":1,"fromB":["early"],"late":2}`},
		{name: "a file runs once", script: with(files, `return [require("/skills/once").runs, require("/skills/once.js").runs, require("/skills/./once").runs]`), want: `[1,1,1]`},
		{name: "a file that failed runs again", script: with(files, `for (let i = 0; i < 2; i++) try { require("/skills/throws") } catch (e) { if (i) return e.message }`), want: `"at load"`},
		{name: "an error while loading has its line", script: with(files, `require("/skills/throws")`), fails: "RangeError: at load", check: at("/skills/throws.js:3")},
		{name: "an error later has its line", script: with(files, `require("/skills/later").f({})`), fails: "TypeError: ", check: at("/skills/later.js:2")},
		{name: "import and export are told apart", script: with(files, `require("/skills/esm.js")`), fails: "SyntaxError: ", check: func(t *testing.T, got outcome) {
			if !strings.Contains(got.Error.Hint, `await import("/skills/esm.js")`) {
				t.Errorf("hint is %q", got.Error.Hint)
			}
		}},
		{name: "await at the top is told", script: with(files, `require("/skills/awaits.js")`), fails: "SyntaxError: ", check: func(t *testing.T, got outcome) {
			if !strings.Contains(got.Error.Hint, "async function") {
				t.Errorf("hint is %q", got.Error.Hint)
			}
		}},
		{name: "a syntax error has its line", script: with(files, `require("/skills/syntax.js")`), fails: "SyntaxError: ", check: at("/skills/syntax.js:2"), only: "quickjs"},
		{name: "first lines that are no code", script: with(files, `return [require("/skills/bang"), require("/skills/bom")]`), want: `["bang","bom"]`},
		{name: "TypeScript, which the driver compiles", script: with(files, `return require("/skills/typed").t`), want: `1`},
		{name: "sloppy, with this", script: with(files, `return require("/skills/this")`), want: `{"a":1,"same":true,"strict":false}`},
		{name: "a missing file", script: with(files, "\nrequire('/skills/nope.js')"), fails: `Error: cannot find "/skills/nope.js": there is no file /skills/nope.js`, check: at("script:2:")},
		{name: "no name", script: with(files, `require()`), fails: "TypeError: require needs a path"},
		{name: "builtins", script: with(files, `const u = require("util"); return [require("path").join("a", "..", "b"), u.inspect({a: 1}), u.format("%s!", "x"), await u.promisify((a, cb) => cb(null, a + 1))(1), u.isDeepStrictEqual({a: [1]}, {a: [1]}), require("buffer").Buffer === Buffer, require("url").URL === URL, require.resolve("/skills/x")]`), want: `["b","{ a: 1 }","x!",2,true,true,true,"/skills/x.js"]`},
	})
}
