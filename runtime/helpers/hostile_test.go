package helpers

import (
	"strings"
	"testing"
)

// work uses the helpers that must survive whatever a script did before.
const work = `
const found = await callMCPTool("a__b", {x: [1, {y: "z"}], big: 5n});
console.log("%s", "text", {a: [1, aMap]}, aSet);
await fs.writeFile("/workspace/t.txt", "saved");
const read = await fs.readFile("/workspace/t.txt");
const names = await fs.listFiles("/workspace");
const wait = utils.sleep(2);
await wait;
const triple = require("/skills/triple.js");
const failure = await callMCPTool("no__such").then((v) => "none", (e) => e.name + " " + e.code);
return {found, read, names, six: triple(2), failure};`

const workResult = `{"found":[{"id":1}],"read":"saved","names":["t.txt"],"six":6,"failure":"BridgeError unknown_tool"}`

const workPrints = "text { a: [ 1, Map(1) { 1 => 2 } ] } Set(1) { 's' }\n"

func hostile(prefix string) script {
	return script{
		Script: `const aMap = new Map([[1, 2]]), aSet = new Set(["s"]);` + prefix + work,
		Files:  map[string]string{"/skills/triple.js": "module.exports = (n) => n * 3;"},
		Bridge: map[string]answer{"POST /v1/tools/a__b/call": {Body: text(`[{"id":1}]`)}},
	}
}

func TestHelpersSurviveHostileScripts(t *testing.T) {
	attacks := map[string]string{
		"nothing": ``,
		"properties on Object.prototype": `
			for (const k of ["value", "get", "set", "writable", "enumerable", "configurable", "status", "body", "code", "raw", "isError", "structuredContent", "content", "error", "query", "detail", "limit", "encoding", "flag", "type", "source", "0", "length", "name", "path", "depth", "open", "root"])
				Object.defineProperty(Object.prototype, k, {__proto__: null, get() { return "polluted " + k }, set() {}, configurable: true});`,
		"toJSON on Object.prototype":     `Object.prototype.toJSON = () => "polluted";`,
		"toJSON on the other prototypes": `Array.prototype.toJSON = String.prototype.toJSON = Number.prototype.toJSON = function () { return "polluted" };`,
		"setters for indexes":            `for (const k of ["0", "1", "2"]) for (const p of [Array.prototype, Object.prototype]) Object.defineProperty(p, k, {__proto__: null, set() { throw new Error("stolen") }, get() { return "polluted" }, configurable: true});`,
		"JSON":                           `globalThis.JSON = {parse: () => ({}), stringify: () => "\"polluted\""};`,
		"methods of JSON":                `JSON.parse = () => ({}); JSON.stringify = () => "\"polluted\"";`,
		"Promise":                        `globalThis.Promise = function () { throw new Error("no promises") };`,
		"methods of Promise":             `Promise.resolve = Promise.all = () => { throw new Error("no") }; Promise.prototype.constructor = function () { throw new Error("no") };`,
		"console":                        `const kept = console.log; globalThis.console = {log: (...a) => kept(...a)};`,
		"Set and Map methods":            `for (const C of [Set, Map, WeakMap]) for (const k of ["has", "get", "set", "add", "forEach", "delete", "entries", "values"]) C.prototype[k] = () => { throw new Error("no " + k) };`,
		"array methods":                  `for (const k of Object.getOwnPropertyNames(Array.prototype)) if (typeof Array.prototype[k] === "function" && k !== "constructor") Array.prototype[k] = () => { throw new Error("no " + k) };`,
		"array iteration":                `Array.prototype[Symbol.iterator] = function* () { throw new Error("no iteration") };`,
		"string methods":                 `for (const k of Object.getOwnPropertyNames(String.prototype)) if (k !== "constructor" && k !== "length") String.prototype[k] = () => { throw new Error("no " + k) };`,
		"regular expressions":            `for (const k of [...Object.getOwnPropertyNames(RegExp.prototype), Symbol.replace, Symbol.split, Symbol.match]) try { RegExp.prototype[k] = () => { throw new Error("no") } } catch {}`,
		"functions":                      `Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw new Error("no") }; Function.prototype.toString = () => "polluted";`,
		"Reflect and Object":             `for (const k of Object.getOwnPropertyNames(Object)) if (k !== "prototype" && typeof Object[k] === "function" && k !== "defineProperty") Object[k] = () => { throw new Error("no " + k) }; globalThis.Reflect = undefined;`,
		"errors":                         `globalThis.Error = globalThis.TypeError = function () { return {polluted: true} };`,
		"stack limit":                    `Error.stackTraceLimit = 0;`,
		"numbers and symbols":            `Number.prototype.toString = () => "polluted"; globalThis.Number = globalThis.String = globalThis.Symbol = globalThis.encodeURIComponent = () => "polluted";`,
		"instanceof":                     `for (const C of [Map, Set, Error, Date, Promise]) Object.defineProperty(C, Symbol.hasInstance, {value: () => true});`,
		"timers and Math":                `globalThis.setTimeout = undefined; Math.floor = Math.round = Math.sqrt = () => NaN; Date.now = () => NaN;`,
	}
	// A context of Node aborts the whole process when descriptors are polluted.
	only := map[string]string{"properties on Object.prototype": "quickjs"}
	var tests []test
	for name, attack := range attacks {
		tests = append(tests, test{name: name, script: hostile(attack), want: workResult, stdout: workPrints, only: only[name]})
	}
	runTests(t, tests)
}

// A script that puts a spy in the place of every built-in function sees none of
// the helpers' work: they use what they took before it ran.
func TestHelpersCallNothingScriptsCanReplace(t *testing.T) {
	spies := `
	const seen = [], aDate = new Date(0);
	let watching = false;
	const { apply } = Reflect, { defineProperty, getOwnPropertyDescriptor } = Object;
	const owners = [Object, Object.prototype, Array, Array.prototype, String, String.prototype, Number.prototype, Boolean.prototype, Function.prototype, Promise, Promise.prototype, Map.prototype, Set.prototype, RegExp.prototype, Date.prototype, JSON, Reflect, Math, Symbol.prototype, Error.prototype, Object.getPrototypeOf(Uint8Array), Object.getPrototypeOf(Uint8Array.prototype), BigInt.prototype];
	for (const owner of owners) for (const key of Reflect.ownKeys(owner)) {
		const found = getOwnPropertyDescriptor(owner, key);
		if (key === "constructor" || !found.configurable) continue;
		for (const part of ["value", "get", "set"]) {
			const original = found[part];
			if (typeof original !== "function") continue;
			found[part] = function (...args) { if (watching) { watching = false; seen[seen.length] = typeof key === "string" ? key : key.description; watching = true } return apply(original, this, args) };
		}
		defineProperty(owner, key, found);
	}
	console.log("loaded", {}); utils.timestamp(); fs; setTimeout; require;
	watching = true;
	const answer = callMCPTool("a__b", {x: [1, {y: "z"}]});
	await answer;
	console.log("text %d", 1, {a: [1, "s", {b: null}]}, [aMap, aSet], aDate);
	await fs.writeFile("/workspace/t.txt", "saved");
	await fs.readFile("/workspace/t.txt");
	await fs.exists("/workspace/none");
	await utils.sleep(1);
	clearTimeout(setTimeout(() => {}, 5));
	require("/skills/triple.js");
	let error;
	try { await callMCPTool("no__such") } catch (e) { error = e.code }
	watching = false;
	return [error, seen];`
	runTests(t, []test{{name: "no spy is called", script: hostile(spies + "\n//"), want: `["unknown_tool",[]]`}})
}

func TestHostIsOutOfReach(t *testing.T) {
	runTests(t, []test{
		{name: "frames do not give functions", script: calling(`
			const got = [];
			Error.prepareStackTrace = (e, frames) => { for (const f of frames) got.push(typeof f.getFunction?.()) };
			const spy = { get x() { new Error("x").stack; return 1 } };
			await callMCPTool("a__b", spy).catch(() => {});
			console.log(spy);
			return [got, Object.getOwnPropertyDescriptor(Error, "prepareStackTrace").configurable];`, text("1")), want: `[[],false]`},
		{name: "caller and arguments are closed", script: calling(`
			const got = [];
			const spy = { get x() { try { got.push(typeof callMCPTool.caller) } catch { got.push("closed") } try { got.push(typeof callMCPTool.arguments) } catch { got.push("closed") } return 1 } };
			await callMCPTool("a__b", spy);
			return got.every((one) => one === "closed" || one === "undefined")`, text("1")), want: `true`},
		{name: "no global holds it", script: js(`
			const names = [];
			for (const name of Object.getOwnPropertyNames(globalThis)) {
				const value = globalThis[name];
				if (value !== null && (typeof value === "object" || typeof value === "function") && typeof value.compile === "function" && typeof value.print === "function") names.push(name);
			}
			return [names, typeof host, typeof core, typeof sources, typeof hooks]`), want: `[[],"undefined","undefined","undefined","undefined"]`},
		{name: "the source of helpers tells nothing that runs", script: js(`return typeof callMCPTool.toString()`), want: `"string"`},
	})
}

// What a script returns or throws may lie in every way.
func TestHooksSurviveHostileValues(t *testing.T) {
	runTests(t, []test{
		{name: "a throwing getter", script: js(`return {get x() { throw new RangeError("mine") }}`), fails: "RangeError: mine"},
		{name: "a throwing proxy", script: js(`return new Proxy({}, {ownKeys() { throw new Error("trap") }})`), fails: "Error: trap"},
		{name: "a polluted result", script: js(`Object.prototype.toJSON = () => "p"; JSON.stringify = () => "p"; Array.prototype.toJSON = () => "p"; return {a: [1]}`), want: `{"a":[1]}`},
		{name: "an error with throwing getters", script: js(`const e = new Error("x"); for (const k of ["name", "message", "stack", "code", "cause"]) Object.defineProperty(e, k, {get() { throw e }}); throw e`), fails: "Error: "},
		{name: "null", script: js(`throw null`), fails: "Error: null was thrown"},
		{name: "undefined", script: js(`throw undefined`), fails: "Error: undefined"},
		{name: "a symbol", script: js(`throw Symbol("s")`), fails: "Error: a symbol was thrown"},
		{name: "a text", script: js(`throw "words"`), fails: "Error: words"},
		{name: "an object", script: js(`throw {status: 5}`), fails: "Error: an object was thrown: { status: 5 }"},
		{name: "a function", script: js(`throw function f() {}`), fails: "Error: an object was thrown: [Function: f]"},
		{name: "a revoked proxy", script: js(`const r = Proxy.revocable({}, {}); r.revoke(); throw r.proxy`), fails: "Error: "},
		{name: "a very long message", script: js(`throw new Error("m".repeat(1e6))`), fails: "Error: mmm", check: func(t *testing.T, got outcome) {
			if len(got.Error.Message) > 20000 || !strings.Contains(got.Error.Message, "more characters") {
				t.Errorf("message has %d bytes", len(got.Error.Message))
			}
		}},
		{name: "a cause", script: js(`throw new Error("outer", {cause: new TypeError("inner")})`), fails: "Error: outer\n  caused by: TypeError: inner"},
		{name: "many errors", script: js(`await Promise.any([Promise.reject(new Error("one")), Promise.reject(new Error("two"))])`), fails: "AggregateError: ", check: func(t *testing.T, got outcome) {
			if !strings.Contains(got.Error.Message, "- Error: one\n  - Error: two") {
				t.Errorf("message is %q", got.Error.Message)
			}
		}},
		{name: "a stack that is no text", script: js(`const e = new Error("x"); Object.defineProperty(e, "stack", {value: {}}); throw e`), fails: "Error: x"},
		{name: "a broken console argument", script: js(`const r = Proxy.revocable({}, {}); r.revoke(); console.log("a", r.proxy, {toString() { throw 1 }, get [Symbol.toStringTag]() { throw 2 }}); console.log("%s %d", {toString() { throw 1 }}, {valueOf() { throw 1 }}); return 1`), want: "1"},
	})
}
