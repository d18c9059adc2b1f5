package helpers

import (
	"strings"
	"testing"
)

// What console makes of values is compared with Node in testdata/peer; here is
// what is our own.
func TestConsole(t *testing.T) {
	runTests(t, []test{
		{name: "streams", script: js(`console.log("a"); console.info("b"); console.debug("c"); console.warn("d"); console.error("e"); console.trace("f")`), stdout: "a\nb\nc\n", check: func(t *testing.T, got outcome) {
			if !strings.HasPrefix(got.Stderr, "d\ne\nTrace: f\n    at ") || strings.Contains(got.Stderr, "airlock:") {
				t.Errorf("stderr is %q", got.Stderr)
			}
		}},
		{name: "no arguments", script: js(`console.log(); console.log("")`), stdout: "\n\n"},
		{name: "an error shows message, script frames and members", script: js("\n\nconsole.log(Object.assign(new TypeError('bad', {cause: 1}), {code: 'E1'}))"), check: func(t *testing.T, got outcome) {
			if !strings.HasPrefix(got.Stdout, "TypeError: bad\n    at ") || !strings.Contains(got.Stdout, "script:3:") || strings.Contains(got.Stdout, "<eval>") || !strings.HasSuffix(got.Stdout, "{\n  [cause]: 1,\n  code: 'E1'\n}\n") {
				t.Errorf("stdout is %q", got.Stdout)
			}
		}},
		{name: "a promise says to await it", script: js(`console.log(Promise.resolve(1))`), stdout: "Promise { <await it to see its value> }\n"},
		{name: "getters do not run", script: js(`let ran = false; console.log({get x() { ran = true }}); return ran`), want: "false", stdout: "{ x: [Getter] }\n"},
		{name: "depth of dir", script: js(`console.dir({a: {b: {c: {d: 1}}}}, {depth: 0}); console.dir({a: {b: {c: {d: 1}}}}, {depth: null})`), stdout: "{ a: [Object] }\n{\n  a: { b: { c: { d: 1 } } }\n}\n"},
		{name: "groups indent", script: js(`console.group("g"); console.log("a\nb"); console.group(); console.log({x: 1}); console.groupEnd(); console.groupEnd(); console.log("c")`), stdout: "g\n  a\n  b\n    { x: 1 }\nc\n"},
		{name: "counting", script: js(`console.count(); console.count("x"); console.count(); console.countReset(); console.count()`), stdout: "default: 1\nx: 1\ndefault: 2\ndefault: 1\n"},
		{name: "timing", script: js(`console.time("t"); await utils.sleep(1500); console.timeLog("t", "so far"); console.timeEnd("t"); console.timeEnd("t")`), stdout: "t: 1.5s so far\nt: 1.5s\n"},
		{name: "assertions", script: js(`console.assert(true, "no"); console.assert(false, "is %d", 5); console.assert(false)`), stderr: "Assertion failed: is 5\nAssertion failed\n"},
		{name: "a huge text is cut", script: js(`console.log("x".repeat(3e6))`), check: func(t *testing.T, got outcome) {
			if len(got.Stdout) > 1100000 || !strings.HasSuffix(got.Stdout, "… (1951424 more characters)\n") {
				t.Errorf("%d bytes, ending %q", len(got.Stdout), got.Stdout[max(0, len(got.Stdout)-60):])
			}
		}},
		{name: "a huge object is cut", script: js(`console.log(Object.fromEntries(Array.from({length: 1e5}, (_, i) => ["k" + i, i])))`), check: func(t *testing.T, got outcome) {
			if len(got.Stdout) > 500000 || !strings.Contains(got.Stdout, "... 80000 more") {
				t.Errorf("%d bytes, ending %q", len(got.Stdout), got.Stdout[max(0, len(got.Stdout)-60):])
			}
		}},
		{name: "a deep object ends", script: js(`let o = {}; for (let i = 0; i < 1e5; i++) o = {o}; console.log(o); console.dir(o, {depth: 50}); return 1`), want: "1"},
		{name: "the global mcp can be shown", script: js(`console.log(mcp, mcp.a, mcp.a.b); return 1`), want: "1"},
		{name: "process.stdout.write adds nothing", script: js(`process.stdout.write("a"); process.stderr.write("b")`), stdout: "a", stderr: "b"},
	})
}

func TestTimers(t *testing.T) {
	runTests(t, []test{
		{name: "order and arguments", script: js(`const log = []; setTimeout((a, b) => log.push(a + b), 20, "a", "b"); setTimeout(() => log.push("first"), 10); setImmediate((x) => log.push(x), "now"); queueMicrotask(() => log.push("micro")); process.nextTick((x) => log.push(x), "tick"); await utils.sleep(50); return log`), want: `["micro","tick","now","first","ab"]`},
		{name: "clearing", script: js(`const log = []; const t = setTimeout(() => log.push("no"), 5); clearTimeout(t); clearTimeout(+setTimeout(() => log.push("no"), 5)); clearTimeout(undefined); clearTimeout({}); await utils.sleep(20); return log`), want: `[]`},
		{name: "an interval until cleared", script: js(`let n = 0; await new Promise((done) => { const i = setInterval(() => { if (++n === 3) { clearInterval(i); done() } }, 10) }); await utils.sleep(50); return n`), want: `3`},
		{name: "an interval cleared by its callback stays so", script: js(`let n = 0; const i = setInterval(() => { n++; clearInterval(i) }, 1); await utils.sleep(20); return n`), want: `1`},
		{name: "what Node's timers can", script: js(`const t = setTimeout(() => {}, 5); return [t.unref() === t, t.ref() === t, t.hasRef(), typeof +t, (t.close(), t.hasRef())]`), want: `[true,true,true,"number",false]`},
		{name: "odd delays", script: js(`const log = []; setTimeout(() => log.push(1), -5); setTimeout(() => log.push(2), "3"); setTimeout(() => log.push(3)); setTimeout(() => log.push(4), Infinity); await utils.sleep(10); return log`), want: `[1,3,4,2]`},
		{name: "a callback must be a function", script: js(`setTimeout("code")`), fails: `TypeError: setTimeout needs a function, not the string "code"`},
		{name: "promises of timers", script: js(`return await require("timers/promises").setTimeout(5, "v")`), want: `"v"`},
		{name: "time passes", script: js(`const a = performance.now(); await utils.sleep(30); return performance.now() - a >= 30`), want: `true`},
	})
}

func TestUtils(t *testing.T) {
	runTests(t, []test{
		{name: "parseJSON", script: js(`return [utils.parseJSON('{"a":1}'), utils.parseJSON("{", "instead"), utils.parseJSON("{", undefined) === undefined]`), want: `[{"a":1},"instead",true]`},
		{name: "parseJSON throws", script: js(`utils.parseJSON("{")`), fails: "SyntaxError: "},
		{name: "parseJSON keeps digits", script: js(`return utils.parseJSON("[9007199254740991, 9007199254740993, -9007199254740993, 1e20, 0.1]")`), want: `[9007199254740991,"9007199254740993","-9007199254740993",100000000000000000000,0.1]`, only: "quickjs"},
		{name: "timestamp", script: js(`return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(utils.timestamp())`), want: `true`},
	})
}

func TestRandomness(t *testing.T) {
	runTests(t, []test{
		{name: "numbers are spread", script: js(`const n = Array.from({length: 2000}, Math.random); const mean = n.reduce((a, b) => a + b) / 2000; return [new Set(n).size === 2000, mean > 0.45 && mean < 0.55, n.every((x) => x >= 0 && x < 1)]`), want: `[true,true,true]`},
		{name: "uuids", script: js(`const u = [crypto.randomUUID(), crypto.randomUUID()]; return [u[0] !== u[1], /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(u[0])]`), want: `[true,true]`},
		{name: "values", script: js(`const a = new Uint32Array(4); return [crypto.getRandomValues(a) === a, a.some((x) => x > 65535), crypto.getRandomValues(new Uint8Array(0)).length]`), want: `[true,true,0]`},
		{name: "not for floats", script: js(`crypto.getRandomValues(new Float32Array(1))`), fails: "TypeError: crypto.getRandomValues needs an integer typed array"},
		{name: "not too many", script: js(`crypto.getRandomValues(new Uint8Array(65537))`), fails: "RangeError: crypto.getRandomValues fills at most 65536 bytes"},
		{name: "hashes are told not to be there", script: js(`require("crypto").createHash("sha256")`), fails: "Error: crypto.createHash is not available"},
		{name: "bytes and integers", script: js(`const { randomBytes, randomInt } = require("crypto"); return [randomBytes(5).length, Buffer.isBuffer(randomBytes(1)), randomInt(3) < 3, randomInt(5, 6)]`), want: `[5,true,true,5]`},
	})
}

func TestWhatIsAbsentSaysWhatToUse(t *testing.T) {
	hint := func(part string) func(*testing.T, outcome) {
		return func(t *testing.T, got outcome) {
			if got.Error == nil || !strings.Contains(got.Error.Hint+got.Error.Message, part) {
				t.Errorf("error is %+v, want a hint with %q", got.Error, part)
			}
		}
	}
	runTests(t, []test{
		{name: "fetch", script: js(`await fetch("http://x")`), fails: "TypeError: fetch is not available: scripts have no network", check: hint("callMCPTool")},
		{name: "a package", script: js(`require("axios")`), fails: `Error: module "axios" is not available`, check: hint("callMCPTool")},
		{name: "a package nobody knows", script: js(`require("left-pad")`), fails: `Error: module "left-pad" is not available`, check: hint("/skills")},
		{name: "a part of a package", script: js(`require("lodash/groupBy")`), fails: `Error: module "lodash/groupBy"`, check: hint("Object.groupBy")},
		{name: "programs", script: js(`require("node:child_process")`), fails: `Error: module "child_process"`, check: hint("no programs")},
		{name: "Intl", script: js(`new Intl.Segmenter("en")`), fails: "Error: Intl.Segmenter is not available", check: hint("NumberFormat")},
		{name: "a time zone", script: js(`new Date().toLocaleString("en-US", {timeZone: "Europe/Berlin"})`), fails: `RangeError: Time zone "Europe/Berlin" is not available`, check: hint("UTC")},
		{name: "Deno", script: js(`Deno.readFile("x")`), fails: "ReferenceError: ", check: hint("fs")},
		{name: "a web page", script: js(`document.title`), fails: "ReferenceError: ", check: hint("no web page")},
		{name: "module", script: js(`module.exports = 1`), fails: "ReferenceError: ", check: hint("returns its result")},
		{name: "feature tests work", script: js(`return [typeof Deno, typeof window, typeof document, typeof process.env.HOME, typeof fetch, process.cwd(), typeof globalThis.global]`), want: `["undefined","undefined","undefined","undefined","function","/workspace","object"]`},
		{name: "exit", script: js(`process.exit(1)`), fails: "Error: process.exit is not available", check: hint("return")},
		{name: "globals can be replaced", script: js(`globalThis.fetch = () => 5; globalThis.URL = 7; setTimeout = 1; return [fetch(), URL, setTimeout]`), want: `[5,7,1]`},
		{name: "shims do not show among a script's globals", script: js(`return Object.keys(globalThis)`), want: `[]`},
	})
}
