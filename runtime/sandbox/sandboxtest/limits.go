package sandboxtest

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"airlock/ident"
	"airlock/runtime/sandbox"
)

// shortWall is a time limit that scripts are meant to reach.
const shortWall = 300 * time.Millisecond

func (s *suite) testLife(t *testing.T) {
	t.Run("a sandbox runs one execution at a time", func(t *testing.T) { s.testBusy(t) })
	t.Run("an unknown language is refused", func(t *testing.T) {
		x := script("1")
		x.Language = "cobol"
		if _, err := s.open(t).Run(bounded(t), x); !errors.Is(err, sandbox.ErrLanguage) {
			t.Errorf("Run: %v, want ErrLanguage", err)
		}
	})
	t.Run("limits of zero are refused", func(t *testing.T) {
		x := script("1")
		x.Limits.MemoryBytes = 0
		if _, err := s.open(t).Run(bounded(t), x); !errors.Is(err, sandbox.ErrLimits) {
			t.Errorf("Run: %v, want ErrLimits", err)
		}
	})
	t.Run("a closed sandbox runs nothing", func(t *testing.T) {
		box := s.open(t)
		if err := box.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := box.Run(bounded(t), script("1")); !errors.Is(err, sandbox.ErrClosed) {
			t.Errorf("Run: %v, want ErrClosed", err)
		}
	})
	t.Run("closing ends what runs", func(t *testing.T) { s.testCloseWhileRunning(t) })
	t.Run("a cancelled context opens nothing", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.backend.Open(ctx, ident.NewSession()); !errors.Is(err, context.Canceled) {
			t.Errorf("Open: %v, want context.Canceled", err)
		}
	})
}

// gate is a bridge that says when a call has come and holds it until its
// execution ends.
type gate struct{ entered chan struct{} }

func newGate() gate { return gate{make(chan struct{}, 1)} }

// ServeHTTP implements http.Handler.
func (g gate) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	g.entered <- struct{}{}
	<-r.Context().Done()
}

// background runs an execution and delivers its result.
func background(ctx context.Context, box sandbox.Sandbox, x sandbox.Execution) <-chan sandbox.Result {
	done := make(chan sandbox.Result, 1)
	go func() {
		r, err := box.Run(ctx, x)
		if err != nil {
			r.Reason = sandbox.Reason(err.Error())
		}
		done <- r
	}()
	return done
}

func (s *suite) testBusy(t *testing.T) {
	box, g := s.open(t), newGate()
	ctx, cancel := context.WithCancel(bounded(t))
	defer cancel()
	x := script(`await callMCPTool("a__b", {})`)
	x.Bridge = g
	done := background(ctx, box, x)
	<-g.entered
	if _, err := box.Run(bounded(t), script("1")); !errors.Is(err, sandbox.ErrBusy) {
		t.Errorf("Run: %v, want ErrBusy", err)
	}
	cancel()
	<-done
	run(t, box, script("return 1")).want(t, sandbox.ReasonOK)
}

func (s *suite) testCloseWhileRunning(t *testing.T) {
	box, g := s.open(t), newGate()
	x := script(`await callMCPTool("a__b", {})`)
	x.Bridge = g
	done := background(bounded(t), box, x)
	<-g.entered
	if err := box.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if r := <-done; r.Reason != sandbox.ReasonKilled {
		t.Errorf("it ended with %q, want %q", r.Reason, sandbox.ReasonKilled)
	}
}

// testLimits reaches each limit, and after each looks that the sandbox is well.
func (s *suite) testLimits(t *testing.T) {
	box := s.open(t)
	const mega = 1 << 20
	for name, tc := range map[string]struct {
		code   string
		change func(*sandbox.Limits)
		reason sandbox.Reason
	}{
		"time, computing": {`for (;;);`, func(l *sandbox.Limits) { l.Wall = shortWall }, sandbox.ReasonTimeout},
		"time, waiting":   {`await utils.sleep(1e6)`, func(l *sandbox.Limits) { l.Wall = shortWall }, sandbox.ReasonTimeout},
		"memory, objects": {`const a = []; for (;;) a.push({ n: a.length, s: "x" + a.length })`, func(l *sandbox.Limits) { l.MemoryBytes = 64 * mega }, sandbox.ReasonMemory},
		"memory, strings": {`const a = []; for (;;) a.push("x".repeat(1e6) + a.length)`, func(l *sandbox.Limits) { l.MemoryBytes = 64 * mega }, sandbox.ReasonMemory},
		"memory, buffers": {`const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))`, func(l *sandbox.Limits) { l.MemoryBytes = 64 * mega }, sandbox.ReasonMemory},
		"output":          {`for (;;) console.log("x".repeat(1000))`, func(l *sandbox.Limits) { l.OutputKillBytes = mega }, sandbox.ReasonOutput},
		"output, errors":  {`for (;;) console.error("x")`, func(l *sandbox.Limits) { l.OutputKillBytes = mega }, sandbox.ReasonOutput},
	} {
		t.Run(name, func(t *testing.T) {
			x := script(tc.code)
			tc.change(&x.Limits)
			o := run(t, box, x)
			o.want(t, tc.reason)
			if o.Error != nil && o.message == "" {
				t.Error("the error says nothing")
			}
			if int64(len(o.stdout)) > x.Limits.OutputBytes || int64(len(o.stderr)) > x.Limits.OutputBytes {
				t.Error("more output was kept than allowed")
			}
			s.wellAfter(t, box, nil)
		})
	}
}

// wellAfter looks that the sandbox runs the next execution as if nothing had been.
func (s *suite) wellAfter(t *testing.T, box sandbox.Sandbox, files sandbox.Files) {
	t.Helper()
	x := script(`return JSON.stringify([1, "a"])`)
	x.Files = files
	if o := run(t, box, x); o.Reason != sandbox.ReasonOK || o.value != `"[1,\"a\"]"` {
		t.Errorf("the next execution ended with %q and %q (%s)", o.Reason, o.value, o.describe())
	}
}

func (s *suite) testCancel(t *testing.T) {
	box := s.open(t)
	for name, code := range map[string]string{
		"while it waits":    `await callMCPTool("a__b", {})`,
		"while it computes": `callMCPTool("a__b", {}); await utils.sleep(100); for (;;);`,
		"while it catches":  `callMCPTool("a__b", {}); await utils.sleep(100); for (;;) { try { for (;;); } catch {} finally { continue } }`,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(bounded(t))
			defer cancel()
			g := newGate()
			x := script(code)
			x.Bridge = g
			done := background(ctx, box, x)
			select {
			case <-g.entered:
			case <-ctx.Done():
				t.Fatal("the call never came")
			}
			cancel()
			if r := <-done; r.Reason != sandbox.ReasonCancelled {
				t.Errorf("it ended with %q, want %q", r.Reason, sandbox.ReasonCancelled)
			}
			s.wellAfter(t, box, nil)
		})
	}
}

// testClock lets a call take twice the script's time while the clock stands still.
// The time is enough to start an interpreter on a busy machine.
func (s *suite) testClock(t *testing.T) {
	const wall = 6 * shortWall
	clock := sandbox.NewClock(wall)
	x := script(`await callMCPTool("a__b", {}); return "in time"`)
	x.Clock, x.Limits.Wall = clock, wall
	x.Bridge = handlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		resume := clock.Stop()
		defer resume()
		<-time.After(2 * wall)
		writeResult(w, `1`)
	})
	box := s.open(t)
	o := run(t, box, x)
	o.want(t, sandbox.ReasonOK)
	if o.value != `"in time"` {
		t.Errorf("value is %q", o.value)
	}
	s.wellAfter(t, box, nil)
}
