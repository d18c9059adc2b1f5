package sandboxtest

import "airlock/runtime/sandbox"

// resourceProbes take as much as they can.
var resourceProbes = []Probe{
	{14, "a fork bomb", sandbox.Bash, `(f() { f | f & }; f) & while ((SECONDS < 2)); do :; done`, nil, anyEnd, ""},
	{14, "processes without end", sandbox.Python, `
import os, time
made = 0
try:
    while made < 1000:
        if os.fork() == 0: time.sleep(60)
        made += 1
except OSError as e: result = [e.errno, made < 100]`, nil, fine, `[11,true]`},
	{15, "objects", sandbox.JavaScript, `const a = []; for (;;) a.push({ a: [1, 2, 3] })`, nil, bounds, ""},
	{15, "buffers", sandbox.JavaScript, `const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))`, nil, starved, ""},
	{15, "buffers", sandbox.Python, "a = []\nwhile True: a.append(bytearray(1 << 20))", nil, starved, ""},
	{15, "memory of children", sandbox.Bash, `for i in 1 2 3 4; do python3 -c 'a = bytearray(400 << 20); import time; time.sleep(5)' & done; wait`, nil, anyEnd, ""},
	{16, "an endless loop", sandbox.JavaScript, `while (1);`, soon, inTime, ""},
	{16, "a loop that catches everything", sandbox.JavaScript, `for (;;) { try { for (;;); } catch {} finally {} }`, soon, inTime, ""},
	{16, "a loop of promises", sandbox.JavaScript, `const f = () => Promise.resolve().then(f); await f()`, soon, inTime, ""},
	{16, "an endless generator", sandbox.JavaScript, `function* g() { for (;;) yield 1 } for (const x of g());`, soon, inTime, ""},
	{16, "an endless toJSON", sandbox.JavaScript, `return { toJSON() { for (;;); } }`, soon, inTime, ""},
	{16, "an endless getter of an error", sandbox.JavaScript, `throw { get message() { for (;;); } }`, soon, inTime, ""},
	{16, "an endless loop", sandbox.Python, `while True: pass`, second, inTime, ""},
	{16, "a loop that catches everything", sandbox.Python, `
while True:
    try:
        while True: pass
    except BaseException: pass`, second, inTime, ""},
	{16, "ignored signals", sandbox.Bash, `trap '' TERM INT HUP; while :; do :; done`, second, inTime, ""},
	{19, "output without end", sandbox.JavaScript, `for (;;) console.log("y")`, megabyte, flood, ""},
	{19, "yes", sandbox.Bash, `yes`, nil, flood, ""},
	{20, "a line of 60 MB", sandbox.JavaScript, `console.log("x".repeat(6e7)); return 1`, nil, []sandbox.Reason{sandbox.ReasonOutput, sandbox.ReasonOK}, ""},
	{20, "an error of 20 MB", sandbox.JavaScript, `throw new Error("x".repeat(2e7))`, nil, starved, ""},
	{20, "NUL, orders to terminals and half characters", sandbox.JavaScript, `console.log("\0\x1b[2J\x9b1m\ud800"); return 1`, nil, fine, `1`},
	{20, "a line of 100 MB", sandbox.Python, `print("x" * 100_000_000)`, nil, flood, ""},
	{20, "a line of 10 MB with anything in it", sandbox.Bash, `head -c 10000000 /dev/urandom`, nil, fine, ""},
	{21, "a full /tmp", sandbox.Bash, `for i in $(seq 1 40); do head -c 4000000 /dev/zero > /tmp/$i || exit 1; done`, nil, mistake, ""},
	{21, "a full /workspace", sandbox.Bash, `for i in $(seq 1 40); do head -c 4000000 /dev/zero > /workspace/$i || exit 1; done; sleep 1`, nil, full, ""},
	{22, "very many files", sandbox.Bash, `for i in $(seq 1 20000); do : > /tmp/$i || exit 1; done`, nil, append(mistake, sandbox.ReasonTimeout), ""},
	{23, "a sparse file of 1 TB", sandbox.Bash, `truncate -s 1T /workspace/sparse`, nil, full, ""},
	{25, "open files", sandbox.Python, `
a = []
try:
    while len(a) < 5000: a.append(open("/dev/null"))
except OSError as e: result = e.errno`, nil, fine, `24`},
}

// nativeProbes keep an interpreter busy where it does not look at its clock.
var nativeProbes = []Probe{
	{17, "a regular expression that goes back and forth", sandbox.JavaScript, `/(a+)+$/.test("a".repeat(60) + "b")`, soon, inTime, ""},
	{17, "a power of a big integer", sandbox.JavaScript, `let n = 3n; for (;;) n = n ** 7n`, soon, bounds, ""},
	{17, "a search in native code", sandbox.JavaScript, `"a".repeat(5e7).indexOf("a".repeat(2e7) + "b")`, soon, bounds, ""},
	{17, "a sort of much", sandbox.JavaScript, `for (;;) Array.from({ length: 1e6 }, (_, i) => -i).sort()`, soon, bounds, ""},
	{17, "an array of a hundred million", sandbox.JavaScript, `return new Array(1e8).fill(1).length`, soon, atBounds, ""},
	{17, "a join of much", sandbox.JavaScript, `for (;;) new Array(1e7).join("x")`, soon, bounds, ""},
	{17, "a regular expression", sandbox.Python, `import re; re.match(r"(a+)+$", "a" * 60 + "b")`, second, inTime, ""},
	{18, "endless recursion", sandbox.JavaScript, `const f = () => f() + 1; f()`, nil, mistake, ""},
	{18, "endless recursion through a getter", sandbox.JavaScript, `const o = { get a() { return o.a } }; o.a`, nil, mistake, ""},
	{18, "a million parentheses", sandbox.JavaScript, `eval("(".repeat(1e6))`, nil, mistake, ""},
	{18, "JSON nested a million times", sandbox.JavaScript, `JSON.parse("[".repeat(1e6))`, nil, mistake, ""},
	{18, "a regular expression nested deeply", sandbox.JavaScript, `new RegExp("(".repeat(1e5) + ")".repeat(1e5)); return 1`, soon, atBounds, ""},
	{18, "endless recursion", sandbox.Python, `f = lambda: f() + 1; f()`, nil, mistake, ""},
}
