package sandboxtest

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"airlock/runtime/sandbox"
)

// probe is an attempt of the abuse battery, with its number there.
type probe struct {
	number int
	name   string
	code   string
	change func(*sandbox.Limits)
	// reasons are the endings that are right.
	reasons []sandbox.Reason
	// value is what a script that ends well must return; "" if that is left open.
	value string
}

func soon(l *sandbox.Limits) { l.Wall = shortWall }

var (
	fine     = []sandbox.Reason{sandbox.ReasonOK}
	inTime   = []sandbox.Reason{sandbox.ReasonTimeout}
	bounds   = []sandbox.Reason{sandbox.ReasonTimeout, sandbox.ReasonMemory, sandbox.ReasonError}
	mistake  = []sandbox.Reason{sandbox.ReasonError}
	contents = []sandbox.Reason{sandbox.ReasonOK, sandbox.ReasonError, sandbox.ReasonMemory}
)

var probes = []probe{
	{16, "an endless loop", `while (1);`, soon, inTime, ""},
	{16, "a loop that catches everything", `for (;;) { try { for (;;); } catch {} finally {} }`, soon, inTime, ""},
	{16, "a loop of promises", `const f = () => Promise.resolve().then(f); await f()`, soon, inTime, ""},
	{16, "an endless generator", `function* g() { for (;;) yield 1 } for (const x of g());`, soon, inTime, ""},
	{16, "an endless toJSON", `return { toJSON() { for (;;); } }`, soon, inTime, ""},
	{16, "an endless getter of an error", `throw { get message() { for (;;); } }`, soon, inTime, ""},
	{17, "a regular expression that goes back and forth", `/(a+)+$/.test("a".repeat(60) + "b")`, soon, inTime, ""},
	{17, "a power of a big integer", `let n = 3n; for (;;) n = n ** 7n`, soon, bounds, ""},
	{17, "a search in native code", `"a".repeat(5e7).indexOf("a".repeat(2e7) + "b")`, soon, bounds, ""},
	{17, "a sort of much", `for (;;) Array.from({ length: 1e6 }, (_, i) => -i).sort()`, soon, bounds, ""},
	{17, "an array of a hundred million", `return new Array(1e8).fill(1).length`, soon, append(bounds, sandbox.ReasonOK), ""},
	{17, "a join of much", `for (;;) new Array(1e7).join("x")`, soon, bounds, ""},
	{18, "endless recursion", `const f = () => f() + 1; f()`, nil, mistake, ""},
	{18, "endless recursion through a getter", `const o = { get a() { return o.a } }; o.a`, nil, mistake, ""},
	{18, "a million parentheses", `eval("(".repeat(1e6))`, nil, mistake, ""},
	{18, "JSON nested a million times", `JSON.parse("[".repeat(1e6))`, nil, mistake, ""},
	{18, "a regular expression nested deeply", `new RegExp("(".repeat(1e5) + ")".repeat(1e5)); return 1`, soon, append(bounds, sandbox.ReasonOK), ""},
	{19, "output without end", `for (;;) console.log("y")`, func(l *sandbox.Limits) { l.OutputKillBytes = 1 << 20 }, []sandbox.Reason{sandbox.ReasonOutput}, ""},
	{20, "a line of 60 MB", `console.log("x".repeat(6e7)); return 1`, nil, []sandbox.Reason{sandbox.ReasonOutput, sandbox.ReasonOK}, ""},
	{20, "an error of 20 MB", `throw new Error("x".repeat(2e7))`, nil, append(mistake, sandbox.ReasonMemory), ""},
	{36, "a polluted Object.prototype",
		`Object.prototype.then = (f) => f("stolen"); Object.prototype.toJSON = () => "forged"; Object.prototype.status = 1;
		const r = await callMCPTool("a__b", { x: 1 }); return r === undefined ? "" : "reached"`, nil, contents, ""},
	{37, "what helpers are made of, redefined",
		`const call = callMCPTool;
		JSON.parse = JSON.stringify = () => { throw new Error("broken") };
		globalThis.Promise = function () { throw new Error("broken") };
		console.log = undefined; Array.prototype.push = Array.prototype.map = () => { throw new Error("broken") };
		String.prototype.startsWith = () => { throw new Error("broken") };
		const r = await call("a__b", { x: 1 }); return r.body.arguments.x`, nil, fine, "1"},
	{38, "a forged end of the execution", `console.log('{"end":"ok","value":7}'); console.log("\x00\x00\x00\x05\x44\x00\x00\x00\x01"); return "true end"`, nil, fine, `"true end"`},
	{42, "constructors of constructors",
		`const F = console.log.constructor.constructor;
		const g = F("return this")();
		return [typeof g.process?.mainModule, typeof g.Deno, typeof g.WebAssembly?.compile === "function" && typeof g.process?.binding].map((t) => t === "undefined" || t === false)`,
		nil, fine, "[true,true,true]"},
	{42, "the helpers' own constructors",
		`const AsyncFunction = callMCPTool.constructor; return await AsyncFunction("return typeof host")()`, nil, fine, `"undefined"`},
	{43, "a flood of calls, then the end", `for (let i = 0; i < 20000; i++) callMCPTool("a__b", { i }).catch(() => {}); return 1`, nil, contents, ""},
}

// testAbuse runs each probe in one sandbox and looks after each that the next
// execution is clean.
func (s *suite) testAbuse(t *testing.T) {
	box := s.open(t)
	for _, p := range probes {
		t.Run(fmt.Sprintf("%d %s", p.number, p.name), func(t *testing.T) {
			x := script(p.code)
			x.Bridge = handlerFunc(echo)
			if p.change != nil {
				p.change(&x.Limits)
			}
			o := run(t, box, x)
			if !contains(p.reasons, o.Reason) {
				t.Errorf("it ended with %q, want one of %v (%.200s)", o.Reason, p.reasons, o.describe())
			}
			if p.value != "" && o.value != p.value {
				t.Errorf("value is %q, want %q", o.value, p.value)
			}
			boundedTexts(t, o, x.Limits)
			s.wellAfter(t, box)
		})
	}
}

func contains(reasons []sandbox.Reason, r sandbox.Reason) bool {
	for _, want := range reasons {
		if r == want {
			return true
		}
	}
	return false
}

func boundedTexts(t *testing.T, o outcome, l sandbox.Limits) {
	t.Helper()
	if int64(len(o.stdout)) > l.OutputBytes || int64(len(o.stderr)) > l.OutputBytes || int64(len(o.value)) > l.ResultBytes {
		t.Error("more was kept than the limits allow")
	}
	if len(o.message) > 256<<10 || len(o.stack) > 256<<10 {
		t.Errorf("the error has %d and %d bytes", len(o.message), len(o.stack))
	}
	if text := o.stdout + o.stderr + o.message + o.stack; !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		t.Error("text is not clean UTF-8")
	}
}

// testIsolation leaves traces that the next execution, and another session, must
// not find.
func (s *suite) testIsolation(t *testing.T) {
	box, other := s.open(t), s.open(t)
	run(t, box, script(`
		globalThis.secret = 1; var leaked = 2; Object.prototype.polluted = 3;
		Array.prototype.map = () => "stolen"; JSON.stringify = () => "forged"; console.log = () => {};
		setInterval(() => { globalThis.secret++ }, 1); return 1`)).want(t, sandbox.ReasonOK)
	const look = `console.log("hi"); return [typeof secret, typeof leaked, typeof {}.polluted, [1].map((n) => n + 1), JSON.stringify({})]`
	for name, b := range map[string]sandbox.Sandbox{"the same session": box, "another session": other} {
		t.Run(name, func(t *testing.T) {
			o := run(t, b, script(look))
			o.want(t, sandbox.ReasonOK)
			if o.value != `["undefined","undefined","undefined",[2],"{}"]` || o.stdout != "hi\n" {
				t.Errorf("value is %q, stdout %q", o.value, o.stdout)
			}
		})
	}
}
