// Package image holds what runs inside the sandbox's container, in Python and
// JavaScript: the supervisor and Node's driver. Its tests speak the host's side of
// the protocol to a supervisor here and to one in the image.
package image

import (
	"bytes"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"airlock/runtime/docker/internal/wire"
)

// script is an execution and how it must end. A value of "?" may be any.
type script struct {
	name, language, code  string
	reason, value, stdout string
	change                func(*wire.Job)
}

var scripts = []script{
	{"an expression", "python", "print('hi')\n1 + 1", "ok", "2", "hi\n", nil},
	{"fresh names", "python", "'x' in globals()", "ok", "false", "", nil},
	{"a call", "python", "mcp.a.b(x=1)", "ok", `{"arguments":{"x":1}}`, "", nil},
	{"calls from threads", "python", "from concurrent.futures import ThreadPoolExecutor as T\nwith T(8) as p: r = list(p.map(lambda n: mcp.a.b(n=n)['arguments']['n'], range(20)))\nsum(r)", "ok", "190", "", nil},
	{"awaited calls", "python", "import asyncio\nasync def f(n): return (await mcp.a.b(n=n))['arguments']['n']\nreturn await asyncio.gather(f(1), f(2))", "ok", "[1,2]", "", nil},
	{"a large answer", "python", "len(mcp.big.one()['text'])", "ok", "3145728", "", nil},
	{"a tool's error", "python", "mcp.fails.now()", "error", "", "", nil},
	{"a large result", "python", "'x' * 3000000", "ok", "?", "", nil},
	{"too large a result", "python", "'x' * 3000000", "error", "", "", func(j *wire.Job) { j.Limits.ResultBytes = 1000 }},
	{"memory", "python", "a = []\nwhile True: a.append(bytearray(1 << 20))", "memory", "", "", func(j *wire.Job) { j.Limits.MemoryBytes = 64 << 20 }},
	{"output without end", "python", "while True: print('x' * 1000)", "output", "", "?", nil},
	{"the interpreter leaves", "python", "import os\nos._exit(0)", "error", "", "", nil},
	{"the interpreter is killed", "python", "import os\nos.kill(os.getpid(), 9)", "killed", "", "", nil},
	{"every descriptor is closed", "python", "import os\nos.closerange(0, 256)\n5", "error", "", "", nil},
	{"a daemon", "python", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        time.sleep(1000)\n    os._exit(0)\n1", "ok", "1", "", nil},
	{"a forged frame", "python", `import sys
sys.stdout.buffer.write(b"\x00\x00\x00\x03D{}")
sys.stdout.flush()
'true end'`, "ok", `"true end"`, "\x00\x00\x00\x03D{}", nil},
	{"a forged result", "python", "import os\nfor fd in range(3, 256):\n    try: os.write(fd, b'\\x00\\x00\\x00\\x02{}\\xff\\xff\\xff\\xff')\n    except OSError: pass\n1", "error", "", "", nil},
	{"the server it came from is killed", "python", "import os\nos.kill(os.getppid(), 9)\n2", "ok", "2", "", nil},
	{"the next one after that", "python", "3", "ok", "3", "", nil},
	{"the server it came from is stopped", "python", "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\n4", "ok", "4", "", nil},
	{"and the next one after that", "python", "5", "ok", "5", "", nil},
	{"a shell", "bash", "echo hi; exit 0", "ok", "", "hi\n", nil},
	{"a shell that fails", "bash", "true\nnope\nexit 3", "error", "", "", nil},
	{"a long shell script", "bash", strings.Repeat("# a comment\n", 20_000) + "echo end", "ok", "", "end\n", nil},
	{"a stopped shell that is left", "bash", "sleep 1000 & kill -STOP $!; echo ok", "ok", "", "ok\n", nil},
}

func TestScripts(t *testing.T) {
	t.Parallel()
	for where, begin := range map[string]func(*testing.T) *supervisor{"here": here, "in the image": contained} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			for _, tc := range scripts { // in this order, one after the other
				t.Run(tc.name, func(t *testing.T) { check(t, s, tc) })
			}
			t.Run("a cancelled one", func(t *testing.T) { testCancel(t, s) })
		})
	}
}

func check(t *testing.T, s *supervisor, tc script) {
	t.Helper()
	needs(t, s, tc.language)
	o := s.run(t, tc.language, tc.code, func(j *wire.Job) {
		if tc.change != nil {
			tc.change(j)
		}
	})
	o.want(t, tc.reason, tc.value)
	if tc.stdout != "?" && o.stdout != tc.stdout {
		t.Errorf("stdout is %.200q, want %q", o.stdout, tc.stdout)
	}
}

func testCancel(t *testing.T, s *supervisor) {
	payload, err := json.Marshal(wire.Order{ID: "c"})
	if err != nil {
		t.Fatal(err)
	}
	job := wire.Job{ID: "c", Nonce: "n", Language: "python", Code: "print('on', flush=True)\nwhile True: pass", Name: "script", Token: canary, Limits: wire.Limits{OutputBytes: 100, OutputKillBytes: 100, ResultBytes: 100}}
	run, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.Write(s.in, wire.Run, run); err != nil {
		t.Fatal(err)
	}
	for {
		f, err := wire.Read(s.out)
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind == wire.Stdout {
			break
		}
	}
	if err := wire.Write(s.in, wire.Cancel, payload); err != nil {
		t.Fatal(err)
	}
	s.outcome(t, job).want(t, "cancelled", "")
}

// imageScripts need what only the image has.
var imageScripts = []script{
	{"Node", "javascript", `console.log("hi"); return 6 * 7`, "ok", "42", "hi\n", nil},
	{"Node calls a tool", "javascript", `return await mcp.a.b({ x: 1 })`, "ok", `{"arguments":{"x":1}}`, "", nil},
	{"Node gets a large answer", "javascript", `return (await mcp.big.one()).text.length`, "ok", "3145728", "", nil},
	{"Node waits for nothing", "javascript", `await new Promise(() => {})`, "error", "", "", nil},
	{"Node without its language", "javascript", `const call = callMCPTool; JSON.parse = JSON.stringify = Array.prototype.push = () => { throw 1 }; globalThis.Promise = null; return (await call("a__b", { x: 1 })).arguments.x`, "ok", "1", "", nil},
	{"the mcp command", "bash", `mcp list | jq -c .; mcp call a__b '{"x":1}' | jq .arguments.x; mcp call fails__now; echo $?; mcp call; echo $?`, "ok", "", "[\"a__b\"]\n1\n1\n2\n", nil},
	{"mcp commands side by side", "bash", `for i in 1 2 3 4; do mcp call a__b "{\"n\":$i}" | jq .arguments.n & done | sort`, "ok", "", "1\n2\n3\n4\n", nil},
	{"the token in descriptors", "bash", `cat /proc/self/fd/63 /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\0' '\n' | grep -c "canary-7d3[1]"; true`, "ok", "", "0\n", nil},
	{"files of the first process", "bash", `cat /proc/1/environ /proc/1/maps 2>/dev/null | wc -c`, "ok", "", "0\n", nil},
	{"everything is killed", "bash", `kill -9 -1; kill -9 1; kill -STOP 1; echo still here`, "ok", "", "still here\n", nil},
	{"Python after that", "python", `1`, "ok", "1", "", nil},
	{"Node after that", "javascript", `return 1`, "ok", "1", "", nil},
	{"everything is stopped", "bash", `kill -STOP -1; echo on`, "ok", "", "on\n", nil},
	{"Node after being stopped", "javascript", `return 2`, "ok", "2", "", nil},
	{"a fork bomb", "bash", `(:(){ :|:& };:) 2>/dev/null & while ((SECONDS < 1)); do :; done; echo on`, "ok", "", "on\n", nil},
	{"after a fork bomb", "python", `2`, "ok", "2", "", nil},
	{"leaving files", "bash", `mkdir -p /tmp/a/b; touch /tmp/a/b/c /tmp/.d; chmod 000 /tmp/a/b; ln -s /etc /tmp/e; cd /tmp; for i in {1..60}; do mkdir dddddddddd && cd dddddddddd; done; setsid sleep 1000 & echo on`, "ok", "", "on\n", nil},
	{"what is left", "bash", `ls -A /tmp; ls /etc/passwd; for p in /proc/[0-9]*; do cat $p/comm; done 2>/dev/null | sort | uniq -c | grep -c sleep; true`, "ok", "", ".matplotlib\n/etc/passwd\n0\n", nil},
	{"programs that lend rights", "bash", `find / -xdev -type f -perm /6000 2>/dev/null | wc -l`, "ok", "", "0\n", nil},
	{"arrays and frames", "python", `import numpy as np, pandas as pd
[np.float64(1.5), np.arange(2), pd.Timestamp("2020-01-02"), pd.NaT, pd.Series([1, 2], index=["a", "b"]), pd.DataFrame({"a": [1, 2], "b": [1.5, None]}), pd.DataFrame({"k": ["x", "y", "x"], "v": [1, 2, 3]}).groupby("k").sum(), {np.int64(4): np.bool_(True)}]`,
		"ok", `[1.5,[0,1],"2020-01-02T00:00:00",null,{"a":1,"b":2},[{"a":1,"b":1.5},{"a":2,"b":null}],[{"k":"x","v":4},{"k":"y","v":2}],{"4":true}]`, "", nil},
	{"random numbers differ", "python", `import numpy as np
open("/workspace/n", "a").write(f"{np.random.rand()}\n")
None`, "ok", "", "", nil},
	{"random numbers differ indeed", "python", `import numpy as np
float(open("/workspace/n").read()) != np.random.rand()`, "ok", "true", "", nil},
	{"the libraries", "python", `import scipy, seaborn, sklearn, sympy, plotly, openpyxl
x = sympy.symbols("x")
sympy.solve(x**2 - 2)`, "ok", `["-sqrt(2)","sqrt(2)"]`, "", nil},
	{"a drawing is no result", "python", "import matplotlib.pyplot as plt\nplt.plot([1, 2])", "ok", "", "", nil},
}

// TestANodeThatWaitsIsAskedOften lets it answer more often than its socket holds
// answers.
func TestANodeThatWaitsIsAskedOften(t *testing.T) {
	t.Parallel()
	s := contained(t)
	for range 600 {
		s.run(t, "bash", ":").want(t, "ok", "")
	}
	s.run(t, "javascript", "return 1").want(t, "ok", "1")
}

func TestScriptsOfTheImage(t *testing.T) {
	t.Parallel()
	s := contained(t)
	for _, tc := range imageScripts {
		t.Run(tc.name, func(t *testing.T) { check(t, s, tc) })
	}
	t.Run("a chart", func(t *testing.T) { testChart(t, s) })
}

// testChart draws a red bar and looks for it in the picture.
func testChart(t *testing.T, s *supervisor) {
	s.run(t, "python", `import matplotlib.pyplot as plt
plt.figure(figsize=(4, 3), dpi=100)
plt.bar(["Äpfel", "Birnen"], [3, 5], color=(1, 0, 0))
plt.title("Ümläute")
plt.savefig("/artifacts/chart.png")`).want(t, "ok", "")
	data, err := os.ReadFile(filepath.Join(s.artifacts, "chart.png"))
	if err != nil {
		t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds().Size(); size.X != 400 || size.Y != 300 {
		t.Errorf("its size is %v", size)
	}
	if r, g, b, _ := picture.At(250, 200).RGBA(); r>>8 != 255 || g>>8 != 0 || b>>8 != 0 {
		t.Errorf("the bar's colour is %d %d %d", r>>8, g>>8, b>>8)
	}
}
