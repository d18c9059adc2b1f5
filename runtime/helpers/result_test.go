package helpers

import (
	"strings"
	"testing"
)

func TestResults(t *testing.T) {
	runTests(t, []test{
		{name: "plain data", script: js(`return {s: "é\u2028\ud800", n: -0, f: 1.5e300, b: true, z: null, a: [1, [2]], u: undefined}`), want: "{\"s\":\"é\u2028\\ud800\",\"n\":0,\"f\":1.5e+300,\"b\":true,\"z\":null,\"a\":[1,[2]]}"},
		{name: "undefined gives nothing", script: js(`return`), check: func(t *testing.T, got outcome) {
			if got.Result != "" || got.Error != nil {
				t.Errorf("outcome is %+v", got)
			}
		}},
		{name: "no number", script: js(`return [NaN, Infinity, undefined, , 1]`), want: `[null,null,null,null,1]`},
		{name: "big integers keep their digits", script: js(`return {n: 12345678901234567890n}`), want: `{"n":"12345678901234567890"}`},
		{name: "dates", script: js(`return [new Date(0), new Date(NaN)]`), want: `["1970-01-01T00:00:00.000Z",null]`},
		{name: "maps", script: js(`return [new Map([["a", 1], [2, {b: 3}]]), new Map([[{k: 1}, 2]]), new Map()]`), want: `[{"a":1,"2":{"b":3}},[[{"k":1},2]],{}]`},
		{name: "sets", script: js(`return new Set([1, "a", [2]])`), want: `[1,"a",[2]]`},
		{name: "errors", script: js(`return Object.assign(new TypeError("bad"), {code: 5})`), want: `{"name":"TypeError","message":"bad","code":5}`},
		{name: "bytes", script: js(`return [new Uint8Array([1, 2]), new Float64Array([0.5]), new Uint8Array([7]).buffer, Buffer.from("a")]`), want: `[[1,2],[0.5],[7],{"type":"Buffer","data":[97]}]`},
		{name: "boxes, expressions, addresses", script: js(`return [Object(1), Object("s"), Object(true), Object(5n), /a+/g, new URL("http://x")]`), want: `[1,"s",true,"5","/a+/g","http://x/"]`},
		{name: "toJSON", script: js(`return [{toJSON() { return {x: 1} }}, {toJSON() {}}, new (class { toJSON(k) { return "c" + k } })()]`), want: `[{"x":1},null,"c"]`},
		{name: "instances and no prototypes", script: js(`class P { constructor() { this.x = 1 } get y() { return 2 } } return [new P(), Object.assign(Object.create(null), {a: 1})]`), want: `[{"x":1},{"a":1}]`},
		{name: "the same object twice", script: js(`const a = {n: 1}; return [a, a]`), want: `[{"n":1},{"n":1}]`},
		{name: "a cycle", script: js(`const a = {list: []}; a.list.push({back: a}); return a`), fails: "TypeError: result.list[0].back refers back to result and cannot become JSON; JSON has no cycles"},
		{name: "a function", script: js(`return {rows: [{f() {}}]}`), fails: "TypeError: result.rows[0].f is a function and cannot become JSON; use plain data"},
		{name: "only a function", script: js(`return () => 1`), fails: "TypeError: result is a function and cannot become JSON"},
		{name: "a symbol", script: js(`return [Symbol("s")]`), fails: "TypeError: result[0] is a symbol"},
		{name: "a promise", script: js(`return {a: fs.exists("/workspace")}`), fails: "TypeError: result.a is a Promise and cannot become JSON; await it first"},
		{name: "an iterator", script: js(`return {a: [1].values(), b: 1}`), fails: "TypeError: result.a is an iterator and cannot become JSON; collect it"},
		{name: "a generator", script: js(`return (function* () {})()`), fails: "TypeError: result is an iterator"},
		{name: "a weak map", script: js(`return new WeakMap()`), fails: "TypeError: result is a WeakMap"},
		{name: "too deep", script: js(`let o = 1; for (let i = 0; i < 200; i++) o = [o]; return o`), fails: "TypeError: result[0][0]"},
		{name: "deep enough", script: js(`let o = 1; for (let i = 0; i < 120; i++) o = [o]; return o`), want: strings.Repeat("[", 120) + "1" + strings.Repeat("]", 120)},
		{name: "too many", script: js(`return new Array(2e6).fill(0)`), fails: "TypeError: result[999999] is beyond the first 1000000 values and cannot become JSON; write the data to a file in /workspace"},
		{name: "a fake map is its members", script: js(`return Object.assign(Object.create(Map.prototype), {a: 1})`), fails: "TypeError: "},
		{name: "strange keys", script: js(`return JSON.parse('{"__proto__": 1, "constructor": 2, "a\\"b": 3}')`), want: `{"__proto__":1,"constructor":2,"a\"b":3}`},
	})
}
