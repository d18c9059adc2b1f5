package docker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"airlock/runtime/sandbox"
	"airlock/runtime/sandbox/sandboxtest"
)

// attempts are probes of the abuse battery that need a kernel to abuse. Each ends
// for one of its reasons; one that ends well returns want.
var attempts = []struct {
	number   int
	name     string
	language sandbox.Language
	code     string
	reasons  []sandbox.Reason
	want     string
}{
	{1, "the environment of the supervisor", sandbox.Python, `
try: result = open("/proc/1/environ", "rb").read().decode()
except OSError as e: result = e.strerror`, ok, `"Permission denied"`},
	{1, "the host's environment", sandbox.Python, `import os; result = [k for k in os.environ if "TOKEN" in k or "SECRET" in k or "AIRLOCK_TEST" in k]`, ok, `[]`},
	{2, "files outside", sandbox.Python, `
import os
result = []
for p in ("/x", "/etc/x", "/usr/x", "/bridge/x", "/opt/airlock/x"):
    try: open(p, "w"); result.append(p)
    except OSError: pass`, ok, `[]`},
	{3, "mount a tmpfs", sandbox.Bash, `mount -t tmpfs none /workspace`, failed, ""},
	{4, "a user namespace", sandbox.Bash, `unshare -Ur true`, failed, ""},
	{5, "the engine's socket", sandbox.Bash, `test ! -e /var/run/docker.sock && test ! -e /run/docker.sock`, ok, ""},
	{6, "a connection", sandbox.Bash, `exec 3<>/dev/tcp/169.254.169.254/80`, failed, ""},
	{9, "the memory of others", sandbox.Python, `
import os
result = []
for pid in [p for p in os.listdir("/proc") if p.isdigit() and int(p) not in (os.getpid(),)]:
    for name in ("mem", "environ", "maps"):
        try: open(f"/proc/{pid}/{name}", "rb").read(1); result.append(f"{pid}/{name}")
        except OSError: pass`, ok, `[]`},
	{12, "files of other users' rights", sandbox.Bash, `find / -xdev -type f -perm /6000 2>/dev/null | head -1 | grep -q . && echo found; true`, ok, ""},
	{14, "a fork bomb", sandbox.Bash, `f() { f | f & }; f; wait; sleep 1`, anyEnd, ""},
	{15, "memory of the heap", sandbox.Python, `a = []
while True: a.append(bytearray(1 << 20))`, memory, ""},
	{15, "memory of Node", sandbox.JavaScript, `const a = []; for (;;) a.push(new Uint8Array(1 << 20).fill(1))`, memory, ""},
	{15, "memory of children", sandbox.Bash, `for i in 1 2 3 4; do python3 -c 'a = bytearray(400 << 20); import time; time.sleep(5)' & done; wait`, anyEnd, ""},
	{16, "an endless loop", sandbox.Python, `while True: pass`, timeout, ""},
	{16, "a loop that catches everything", sandbox.Python, `
while True:
    try:
        while True: pass
    except BaseException: pass`, timeout, ""},
	{16, "ignored signals", sandbox.Bash, `trap '' TERM INT HUP; while :; do :; done`, timeout, ""},
	{17, "a regular expression", sandbox.Python, `import re; re.match(r"(a+)+$", "a" * 60 + "b")`, timeout, ""},
	{18, "endless recursion", sandbox.Python, `f = lambda: f() + 1; f()`, failed, ""},
	{19, "yes", sandbox.Bash, `yes`, []sandbox.Reason{sandbox.ReasonOutput}, ""},
	{20, "a line of 10 MB with anything in it", sandbox.Bash, `head -c 10000000 /dev/urandom`, ok, ""},
	{21, "a full /tmp", sandbox.Bash, `for i in $(seq 1 40); do head -c 4000000 /dev/zero > /tmp/$i || exit 1; done`, failed, ""},
	{22, "very many files", sandbox.Bash, `for i in $(seq 1 20000); do : > /tmp/$i || exit 1; done`, append(failed, sandbox.ReasonTimeout), ""},
	{23, "a sparse file of 1 TB", sandbox.Bash, `truncate -s 1T /workspace/sparse`, append(failed, sandbox.ReasonKilled), ""},
	{25, "open files", sandbox.Python, `
a = []
try:
    while len(a) < 5000: a.append(open("/dev/null"))
except OSError as e: result = e.errno`, ok, `24`},
	{28, "a pipe with a name", sandbox.Bash, `mkfifo /workspace/pipe`, failed, ""},
	{30, "the bridge's socket", sandbox.Bash, `rm /bridge/bridge.sock`, failed, ""},
	{38, "frames on standard output", sandbox.Python, `
import os
os.write(1, b"\x00\x00\x00\x0cD{\"id\":\"x\"}"); result = "mine"`, ok, `"mine"`},
	{39, "the supervisor killed", sandbox.Bash, `kill -9 1; kill -STOP 1; kill -TERM 1; sleep 0.2`, anyEnd, ""},
	{39, "everything killed", sandbox.Bash, `kill -9 -1`, anyEnd, ""},
	{40, "a daemon", sandbox.Python, `
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(60)
    os._exit(0)
result = 1`, ok, `1`},
	{41, "what the one before left", sandbox.Bash, `test -z "$(ls -A /tmp)"; ps -e 2>/dev/null | grep -c sleep | grep -q '^0$' || test -z "$(pgrep sleep 2>/dev/null)"`, anyEnd, ""},
}

var (
	ok      = []sandbox.Reason{sandbox.ReasonOK}
	failed  = []sandbox.Reason{sandbox.ReasonError}
	memory  = []sandbox.Reason{sandbox.ReasonMemory, sandbox.ReasonError}
	timeout = []sandbox.Reason{sandbox.ReasonTimeout}
	anyEnd  = []sandbox.Reason{sandbox.ReasonOK, sandbox.ReasonError, sandbox.ReasonKilled, sandbox.ReasonMemory, sandbox.ReasonTimeout}
)

func TestAbuseEndsWell(t *testing.T) {
	t.Parallel()
	needImage(t)
	s := open(t, backend(t, real(t)))
	files, dir := workspace(t)
	for _, a := range attempts {
		t.Run(fmt.Sprintf("%d %s in %s", a.number, a.name, a.language), func(t *testing.T) {
			x := order(a.code)
			x.Language, x.Files, x.Limits.Wall = a.language, files, 20*time.Second
			if strings.Contains(fmt.Sprint(a.reasons), "timeout") {
				x.Limits.Wall = time.Second
			}
			r := run(t, s, x)
			if !strings.Contains(fmt.Sprint(a.reasons), string(r.Reason)) {
				t.Errorf("it ended with %q, want one of %v (%s; %.300q)", r.Reason, a.reasons, message(t, r), sandboxtest.Text(t, r.Stderr))
			}
			if got := sandboxtest.Text(t, r.Value); a.want != "" && got != a.want {
				t.Errorf("it returned %.300q, want %q", got, a.want)
			}
			if r.Reason == sandbox.ReasonTimeout && r.Duration > x.Limits.Wall+2*time.Second {
				t.Errorf("it took %v", r.Duration)
			}
			wellAfter(t, s, files)
			if entries := must(os.ReadDir(dir))(t); len(entries) > 3 {
				t.Errorf("%d files are in the workspace", len(entries))
			}
		})
	}
}

// wellAfter looks that the next execution is clean.
func wellAfter(t *testing.T, s *session, files sandbox.Files) {
	t.Helper()
	x := order(`
import os
result = [sorted(os.listdir("/tmp")), [p for p in os.listdir("/proc") if p.isdigit() and open(f"/proc/{p}/comm").read().strip() in ("sleep", "yes", "bash")]]`)
	x.Language, x.Files = sandbox.Python, files
	r := run(t, s, x)
	if got := sandboxtest.Text(t, r.Value); r.Reason != sandbox.ReasonOK || !strings.HasSuffix(got, ",[]]") && !strings.HasSuffix(got, ", []]") {
		t.Errorf("the next execution ended with %q, %q (%s)", r.Reason, got, message(t, r))
	}
}

// TestManySessionsLoseNothing is twenty sessions at once with five executions each.
func TestManySessionsLoseNothing(t *testing.T) {
	needImage(t)
	o := real(t)
	o.Log = nil
	b := backend(t, o) // which fails the test if a container is left
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			s := open(t, b)
			files, dir := workspace(t)
			for i := range 5 {
				x := order(fmt.Sprintf(`with open("/workspace/n", "a") as f: f.write("%d")
result = %d`, i, n*10+i))
				x.Language, x.Files, x.Limits.Wall = sandbox.Python, files, time.Minute
				r, err := s.Run(t.Context(), x)
				if got := sandboxtest.Text(t, r.Value); err != nil || got != fmt.Sprint(n*10+i) {
					t.Errorf("session %d, execution %d: %q, %q and %v (%s)", n, i, r.Reason, got, err, message(t, r))
				}
			}
			if data, err := os.ReadFile(filepath.Join(dir, "n")); err != nil || string(data) != "01234" {
				t.Errorf("session %d wrote %q (%v)", n, data, err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("session %d: %v", n, err)
			}
		})
	}
	all.Wait()
}

func TestAHoleInTheIsolationIsFound(t *testing.T) {
	t.Parallel()
	for name, found := range map[string]string{
		"a hole": `{"probes":500,"found":["a socket of family 2 can be made"]}`, "too few probes": `{"probes":3,"found":[]}`,
		"no result": ``, "not a result": `[]`,
	} {
		e := &execution{value: []byte(found)}
		if err := e.judge(sandbox.Result{Reason: sandbox.ReasonOK}, nil); !errors.Is(err, errNotIsolated) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := &execution{value: []byte(`{"probes":500,"found":[]}`)}
	if err := e.judge(sandbox.Result{Reason: sandbox.ReasonOK}, map[string]bool{"a": false}); !errors.Is(err, errNotIsolated) {
		t.Errorf("a requirement that does not hold: %v", err)
	}
	if err := e.judge(sandbox.Result{Reason: sandbox.ReasonError}, nil); !errors.Is(err, errNotIsolated) {
		t.Errorf("a test that failed: %v", err)
	}
	if err := e.judge(sandbox.Result{Reason: sandbox.ReasonOK}, map[string]bool{"a": true}); err != nil {
		t.Errorf("nothing: %v", err)
	}
}
