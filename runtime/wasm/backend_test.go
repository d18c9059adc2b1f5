package wasm

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"airlock/ident"
	"airlock/runtime/sandbox"
	"airlock/runtime/sandbox/sandboxtest"
	"airlock/runtime/wasm/internal/lockdown"
)

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"no worker":         {func(o *Options) { o.Worker = nil }, "Options.Worker"},
		"no helpers":        {func(o *Options) { o.Prelude = "" }, "Options.Prelude"},
		"negative spares":   {func(o *Options) { o.Spares = -1 }, "-1"},
		"a cache in a file": {func(o *Options) { o.CacheDir = filepath.Join("/dev/null", "x") }, "cache"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			tc.change(&o)
			if _, err := New(o); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("New: %v, want an error about %q", err, tc.want)
			}
		})
	}
}

func TestWorkerThatCannotStartIsAnErrorOfRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"no such program":        {func(o *Options) { o.Worker = []string{"/no/such/program"} }, "/no/such/program"},
		"a program that ends":    {func(o *Options) { o.Worker = []string{"/bin/true"} }, "before it was ready"},
		"helpers with a mistake": {func(o *Options) { o.Prelude = "(function (host) { throw new Error('in the prelude') })" }, "in the prelude"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options(t)
			tc.change(&o)
			s := open(t, backend(t, o))
			if _, err := s.Run(t.Context(), script("1")); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Run: %v, want %q in it", err, tc.want)
			}
		})
	}
}

func TestWorkerIsLockedDown(t *testing.T) {
	t.Parallel()
	b := backend(t, options(t))
	locks, err := b.Locks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, state := range locks {
		t.Logf("%s: %s", name, state)
	}
	if runtime.GOOS == "linux" && locks[lockdown.Limits] != lockdown.Active {
		t.Errorf("limits are %q", locks[lockdown.Limits])
	}
}

func TestWorkerHasNoEnvironmentAndItsOwnGroup(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("a process can be looked into by /proc only, which Linux has; run this test there")
	}
	b := backend(t, options(t))
	w, err := b.pool.fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.pool.drop(w)
	pid := w.cmd.Process.Pid
	if environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ"); err == nil && len(environ) > 0 {
		t.Errorf("its environment has %d bytes", len(environ))
	}
	if group, err := syscall.Getpgid(pid); err != nil || group != pid {
		t.Errorf("its group is %d, %v; want %d", group, err, pid)
	}
}

// signalled runs a script that waits in a call, and sends its worker a signal then.
func signalled(t *testing.T, signal syscall.Signal, wall time.Duration) (sandbox.Result, bool) {
	t.Helper()
	b := backend(t, options(t))
	w, err := b.pool.fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.pool.drop(w)
	x := script(`await callMCPTool("a__b", {})`)
	x.Limits.Wall = wall
	x.Bridge = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if err := w.cmd.Process.Signal(signal); err != nil {
			t.Error(err)
		}
		<-r.Context().Done()
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	e := newExecution(x, w, b.log)
	return e.run(ctx), e.healthy
}

func TestBrokenWorkers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		signal syscall.Signal
		wall   time.Duration
		reason sandbox.Reason
	}{
		"a killed worker":                  {syscall.SIGKILL, time.Minute, sandbox.ReasonKilled},
		"a worker that crashes":            {syscall.SIGQUIT, time.Minute, sandbox.ReasonKilled},
		"a stopped worker is out of time":  {syscall.SIGSTOP, 100 * time.Millisecond, sandbox.ReasonTimeout},
		"a worker that is asked to end it": {syscall.SIGTERM, time.Minute, sandbox.ReasonKilled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, healthy := signalled(t, tc.signal, tc.wall)
			if r.Reason != tc.reason || healthy {
				t.Errorf("it ended with %q, healthy %v; want %q", r.Reason, healthy, tc.reason)
			}
			if r.Error == nil || r.Error.Message.IsZero() {
				t.Error("the error says nothing")
			}
		})
	}
}

// TestLogNamesWhoseWorkerFailed kills a session's worker while it runs a script.
func TestLogNamesWhoseWorkerFailed(t *testing.T) {
	t.Parallel()
	core, lines := observer.New(zap.DebugLevel)
	o := options(t)
	o.Log = zap.New(core)
	b := backend(t, o)
	s, err := b.Open(t.Context(), "ses_one")
	if err != nil {
		t.Fatal(err)
	}
	if r, err := s.Run(t.Context(), script("return 1")); err != nil || r.Reason != sandbox.ReasonOK {
		t.Fatalf("Run: %v, %q", err, r.Reason)
	}
	b.pool.mu.Lock()
	w := b.pool.parked[0].process
	b.pool.mu.Unlock()
	x := script(`await callMCPTool("a__b", {})`)
	x.ID, x.Task = "exe_two", "task_two"
	x.Bridge = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		w.kill()
		<-r.Context().Done()
	})
	if r, err := s.Run(t.Context(), x); err != nil || r.Reason != sandbox.ReasonKilled {
		t.Errorf("Run: %v, %q", err, r.Reason)
	}
	if lines.Len() == 0 {
		t.Error("the log does not say it")
	}
	for _, line := range lines.All() {
		if has := line.ContextMap(); has["session"] != "ses_one" || has["execution"] != "exe_two" || has["task"] != "task_two" {
			t.Errorf("%q has %v", line.Message, has)
		}
	}
}

func TestWorkerThatDiedBetweenExecutionsIsReplaced(t *testing.T) {
	t.Parallel()
	b := backend(t, options(t))
	s := open(t, b)
	if r, err := s.Run(t.Context(), script("return 1")); err != nil || r.Reason != sandbox.ReasonOK {
		t.Fatalf("Run: %v, %q", err, r.Reason)
	}
	b.pool.mu.Lock()
	w := b.pool.parked[0].process
	b.pool.mu.Unlock()
	w.kill()
	<-w.done
	if r, err := s.Run(t.Context(), script("return 1")); err != nil || r.Reason != sandbox.ReasonOK {
		t.Errorf("Run: %v, %q", err, r.Reason)
	}
}

func TestSessionsShareNoWorker(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.MaxWorkers = 2
	b := backend(t, o)
	served := map[*process]*session{}
	sessions := []*session{open(t, b), open(t, b), open(t, b)}
	for range 3 {
		for _, s := range sessions {
			w, err := b.pool.take(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if before, ok := served[w]; ok && before != s {
				t.Fatal("a worker served two sessions")
			}
			served[w] = s
			b.pool.park(s, w)
		}
	}
	if n := len(b.pool.slots); n > 2 {
		t.Errorf("there are %d workers, at most 2 are allowed", n)
	}
}

func TestWaitingForAWorkerCanBeCancelled(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.MaxWorkers = 1
	b := backend(t, o)
	w, err := b.pool.fresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.pool.drop(w)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r, err := open(t, b).Run(ctx, script("1")); err != nil || r.Reason != sandbox.ReasonCancelled {
		t.Errorf("Run: %v, %q, want it cancelled", err, r.Reason)
	}
}

func TestClosingTheBackendEndsEverything(t *testing.T) {
	t.Parallel()
	b, err := New(options(t))
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, b)
	entered := make(chan struct{})
	x := script(`await callMCPTool("a__b", {})`)
	x.Bridge = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	})
	done := make(chan sandbox.Reason, 1)
	go func() {
		r, _ := s.Run(context.WithoutCancel(t.Context()), x)
		done <- r.Reason
	}()
	<-entered
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if reason := <-done; reason != sandbox.ReasonKilled {
		t.Errorf("it ended with %q", reason)
	}
	if _, err := b.Open(t.Context(), ident.NewSession()); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("Open: %v, want ErrClosed", err)
	}
	if _, err := s.Run(t.Context(), script("1")); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("Run: %v, want ErrClosed", err)
	}
	if n := len(b.pool.slots); n != 0 {
		t.Errorf("%d workers are left", n)
	}
}

func TestTypeScript(t *testing.T) {
	t.Parallel()
	s := open(t, backend(t, options(t)))
	for name, tc := range map[string]struct {
		code, value  string
		reason       sandbox.Reason
		line, column int
	}{
		"types":           {"interface A { n: number }\nconst a: A = { n: 3 };\nreturn a.n as number", "3", sandbox.ReasonOK, 0, 0},
		"an enum":         {"enum Color { Red, Green }\nreturn Color.Green", "1", sandbox.ReasonOK, 0, 0},
		"generics":        {"const f = <T,>(x: T): T => x;\nreturn f<string>('a')", `"a"`, sandbox.ReasonOK, 0, 0},
		"an await":        {"const n: number = await Promise.resolve(1);\nreturn n", "1", sandbox.ReasonOK, 0, 0},
		"a type import":   {"import type { X } from './none';\nconst x: X = 1;\nreturn x", "1", sandbox.ReasonOK, 0, 0},
		"an error":        {"interface A {\n  n: number\n}\n\nconst a: A | null = null;\na.n;", "", sandbox.ReasonError, 6, 0},
		"a syntax error":  {"const a: number = 1;\nconst b: = 2;", "", sandbox.ReasonError, 2, 10},
		"on line one":     {"const a: = 2;", "", sandbox.ReasonError, 1, 10},
		"a nested throw":  {"type T = {\n a: 1 };\nfunction f(x: T) {\n  throw new Error('x');\n}\nf({ a: 1 })", "", sandbox.ReasonError, 4, 0},
		"no end in sight": {strings.Repeat("(", 5000), "", sandbox.ReasonError, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			x := script(tc.code)
			x.Language = sandbox.TypeScript
			r, err := s.Run(t.Context(), x)
			if err != nil || r.Reason != tc.reason {
				t.Fatalf("Run: %v, %q, want %q", err, r.Reason, tc.reason)
			}
			if got := sandboxtest.Text(t, r.Value); got != tc.value {
				t.Errorf("value is %q, want %q", got, tc.value)
			}
			if tc.line > 0 && (r.Error.Line != tc.line || tc.column > 0 && r.Error.Column != tc.column) {
				t.Errorf("it is at %d:%d, want %d:%d", r.Error.Line, r.Error.Column, tc.line, tc.column)
			}
		})
	}
}

func TestScriptsSeeTheTimeZone(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Asia/Kolkata")
	if err != nil {
		t.Skip("this system has no time zones; install its package tzdata:", err)
	}
	o := options(t)
	o.TimeZone = zone
	r, err := open(t, backend(t, o)).Run(t.Context(), script("return new Date(0).getHours() * 60 + new Date(0).getMinutes()"))
	if err != nil || sandboxtest.Text(t, r.Value) != "330" {
		t.Errorf("Run: %v, %q, %q", err, r.Reason, sandboxtest.Text(t, r.Value))
	}
}

// Interpreters are copies of one: what is random must not be.
func TestExecutionsHaveTheirOwnRandomNumbers(t *testing.T) {
	t.Parallel()
	s := open(t, backend(t, options(t)))
	seen := map[string]bool{}
	for range 5 {
		r, err := s.Run(t.Context(), script("return [Math.random(), crypto.randomUUID()]"))
		if err != nil || r.Reason != sandbox.ReasonOK {
			t.Fatalf("Run: %v, %q", err, r.Reason)
		}
		for part := range strings.SplitSeq(sandboxtest.Text(t, r.Value), ",") {
			if seen[part] {
				t.Errorf("two executions had the same %s", part)
			}
			seen[part] = true
		}
	}
}

func TestCallsUnderWayCarrySoMuchAndNoMore(t *testing.T) {
	t.Parallel()
	s := open(t, backend(t, options(t)))
	x := script(`
		const text = "x".repeat(8 << 20);
		const refused = await new Promise((resolve) => { for (let i = 0; i < 9; i++) callMCPTool("a__b", { text }).catch(resolve) });
		return refused.code`)
	var taken atomic.Int64
	x.Bridge = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		taken.Add(1)
		<-r.Context().Done()
	})
	r, err := s.Run(t.Context(), x)
	if got := sandboxtest.Text(t, r.Value); err != nil || got != `"too_much_pending"` {
		t.Errorf("Run: %v, %q, %q (%s)", err, r.Reason, got, sandboxtest.Text(t, r.Stderr))
	}
	if n := taken.Load(); n > 8 { // 64 MiB hold seven, with what stands around them
		t.Errorf("%d calls were let through", n)
	}
}

func TestForgottenPromisesAreMentioned(t *testing.T) {
	t.Parallel()
	s := open(t, backend(t, options(t)))
	x := script("async function main() { null.x }\nmain(); callMCPTool('a__b', {})")
	x.Bridge = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	r, err := s.Run(t.Context(), x)
	if err != nil || r.Reason != sandbox.ReasonOK {
		t.Fatalf("Run: %v, %q", err, r.Reason)
	}
	notes := sandboxtest.Text(t, r.Stderr)
	for _, want := range []string{"Unhandled", "TypeError", "1 tool call"} {
		if !strings.Contains(notes, want) {
			t.Errorf("stderr is %q, want %q in it", notes, want)
		}
	}
}
