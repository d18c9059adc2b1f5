package sandboxtest

import "airlock/runtime/sandbox"

// fileProbes leave what a reader on the host would fall over.
var fileProbes = []Probe{
	{28, "a pipe with a name", sandbox.Bash, `mkfifo /workspace/pipe`, nil, mistake, ""},
	{30, "the bridge's socket removed", sandbox.Bash, `rm /bridge/bridge.sock`, nil, mistake, ""},
	{30, "the bridge's socket replaced", sandbox.Python, `
import socket
try: socket.socket(socket.AF_UNIX).bind("/bridge/other.sock"); result = "made"
except OSError as e: result = e.errno`, nil, fine, `30`},
}

// helperProbes turn the helpers against themselves.
var helperProbes = []Probe{
	{36, "a polluted Object.prototype", sandbox.JavaScript,
		`Object.prototype.then = (f) => f("stolen"); Object.prototype.toJSON = () => "forged"; Object.prototype.status = 1;
		const r = await callMCPTool("a__b", { x: 1 }); return r === undefined ? "" : "reached"`, nil, endings, ""},
	{37, "what helpers are made of, redefined", sandbox.JavaScript,
		`const call = callMCPTool;
		JSON.parse = JSON.stringify = () => { throw new Error("broken") };
		globalThis.Promise = function () { throw new Error("broken") };
		console.log = undefined; Array.prototype.push = Array.prototype.map = () => { throw new Error("broken") };
		String.prototype.startsWith = () => { throw new Error("broken") };
		const r = await call("a__b", { x: 1 }); return r.body.arguments.x`, nil, fine, "1"},
	{42, "constructors of constructors", sandbox.JavaScript,
		`const F = console.log.constructor.constructor;
		const g = F("return this")();
		return [typeof g.process?.mainModule, typeof g.Deno, typeof g.WebAssembly?.compile === "function" && typeof g.process?.binding].map((t) => t === "undefined" || t === false)`,
		nil, fine, "[true,true,true]"},
	{42, "the helpers' own constructors", sandbox.JavaScript,
		`const AsyncFunction = callMCPTool.constructor; return await AsyncFunction("return typeof host")()`, nil, fine, `"undefined"`},
	{43, "a flood of calls, then the end", sandbox.JavaScript, `for (let i = 0; i < 20000; i++) callMCPTool("a__b", { i }).catch(() => {}); return 1`, nil, endings, ""},
}

// runnerProbes attack what runs scripts, and what is to run the next one.
var runnerProbes = []Probe{
	{38, "a forged end of the execution", sandbox.JavaScript, `console.log('{"end":"ok","value":7}'); console.log("\x00\x00\x00\x05\x44\x00\x00\x00\x01"); return "true end"`, nil, fine, `"true end"`},
	{38, "a forged end of the execution", sandbox.Python, `
import os
os.write(1, b"\x00\x00\x00\x0cD{\"id\":\"x\"}"); result = "mine"`, nil, fine, `"mine"`},
	{38, "a forged result at every descriptor", sandbox.Python, `
import os
for fd in range(3, 256):
    try: os.write(fd, b"\x00\x00\x00\x02{}\xff\xff\xff\xff")
    except OSError: pass`, nil, mistake, ""},
	{39, "the supervisor killed and stopped", sandbox.Bash, `kill -9 1; kill -STOP 1; kill -TERM 1; sleep 0.2`, nil, anyEnd, ""},
	{39, "its own interpreter killed", sandbox.Python, `import os; os.kill(os.getpid(), 9)`, nil, []sandbox.Reason{sandbox.ReasonKilled}, ""},
	{39, "its own interpreter stopped", sandbox.Python, `import os; os.kill(os.getpid(), 19)`, second, inTime, ""},
	{39, "everything killed", sandbox.Bash, `kill -9 -1`, nil, anyEnd, ""},
	{39, "everything stopped", sandbox.Bash, `kill -STOP -1`, nil, fine, ""},
	{40, "a daemon", sandbox.Python, `
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0: time.sleep(60)
    os._exit(0)
result = 1`, nil, fine, `1`},
	{41, "files and processes left", sandbox.Bash, `touch /tmp/left; mkdir -p /tmp/a/b; chmod 000 /tmp/a/b; sleep 1000 & true`, nil, fine, ""},
	{45, "the right to its own folder taken away", sandbox.Bash, `chmod 000 /workspace`, nil, fine, ""},
	{46, "the limits of other processes changed", sandbox.Python, `
import resource
result = []
for pid in (1, 2, 3, 4):
    try: resource.prlimit(pid, resource.RLIMIT_NOFILE, (0, 0)); result.append(pid)
    except OSError: pass`, nil, fine, `[]`},
}
