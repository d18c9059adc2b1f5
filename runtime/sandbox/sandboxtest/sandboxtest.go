// Package sandboxtest is the suite that every sandbox backend must pass. A
// backend's own test calls Run with a function that makes one:
//
//	func TestBackend(t *testing.T) {
//		sandboxtest.Run(t, func(t *testing.T) sandbox.Backend { ... })
//	}
//
// The backend must run JavaScript with the helpers of package runtime/helpers.
// The suite brings its own bridge and files. It asserts how executions end, never
// how fast they are: a wait without end is the only failure in time.
package sandboxtest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"airlock/ident"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// hang is how long anything may take before it counts as hanging.
const hang = time.Minute

// Run runs the whole suite on the backend that open makes; open also arranges for
// it to be closed.
func Run(t *testing.T, open func(t *testing.T) sandbox.Backend) {
	t.Helper()
	s := &suite{backend: open(t)}
	if !slices.Contains(s.backend.Languages(), sandbox.JavaScript) {
		t.Fatalf("backend %q does not run JavaScript", s.backend.Name())
	}
	for _, group := range []struct {
		name string
		test func(*testing.T)
	}{
		{"the backend is well", s.testCheck},
		{"life of a sandbox", s.testLife},
		{"results", s.testResults},
		{"values that JSON cannot hold", s.testNoJSON},
		{"errors", s.testErrors},
		{"output", s.testOutput},
		{"live output", s.testLiveOutput},
		{"limits", s.testLimits},
		{"cancelling", s.testCancel},
		{"a stopped clock", s.testClock},
		{"files", s.testFiles},
		{"modules", s.testModules},
		{"the bridge", s.testBridge},
		{"parallel calls", s.testParallelCalls},
		{"calls end with their execution", s.testCallsEnd},
		{"the token stays secret", s.testToken},
		{"executions are isolated", s.testIsolation},
		{"abuse", s.testAbuse},
	} {
		t.Run(group.name, group.test)
	}
}

type suite struct{ backend sandbox.Backend }

func (s *suite) testCheck(t *testing.T) {
	if err := s.backend.Check(bounded(t)); err != nil {
		t.Errorf("Check: %v", err)
	}
	if known := languages[s.backend.Name()]; !slices.Equal(known, s.backend.Languages()) {
		t.Errorf("backend %q runs %v; the table of docs/SECURITY.md is made for %v", s.backend.Name(), s.backend.Languages(), known)
	}
}

// open makes a sandbox for the test.
func (s *suite) open(t *testing.T) sandbox.Sandbox {
	t.Helper()
	box, err := s.backend.Open(bounded(t), ident.NewSession())
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := box.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return box
}

// bounded is a context that fails the test rather than letting it hang.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	t.Cleanup(cancel)
	return ctx
}

// script is an execution of JavaScript with limits that it does not reach.
func script(code string) sandbox.Execution {
	limits := sandbox.DefaultLimits()
	limits.Wall = hang / 2
	return sandbox.Execution{
		ID: ident.NewExecution(), Language: sandbox.JavaScript, Code: code, Token: canary, Limits: limits,
	}
}

// canary is a token that must never be found in what a script can see.
const canary = "canary-5b1f-session-token"

// outcome is a result with its texts readable.
type outcome struct {
	sandbox.Result
	value, stdout, stderr, message, stack string
}

// run runs an execution and reads its result as a model would, through a vault.
func run(t *testing.T, box sandbox.Sandbox, x sandbox.Execution) outcome {
	t.Helper()
	r, err := box.Run(bounded(t), x)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	o := outcome{
		Result: r, value: Text(t, r.Value), stdout: Text(t, r.Stdout), stderr: Text(t, r.Stderr),
	}
	if r.Error == nil && r.Reason != sandbox.ReasonOK {
		t.Errorf("it ended with %q and no error", r.Reason)
	}
	if r.Error != nil {
		o.message, o.stack = Text(t, r.Error.Message), Text(t, r.Error.Stack)
	}
	for name, text := range map[string]string{"value": o.value, "stdout": o.stdout, "stderr": o.stderr, "message": o.message, "stack": o.stack} {
		if strings.Contains(text, canary) {
			t.Errorf("the session token is in the %s", name)
		}
	}
	return o
}

// want fails the test unless the execution ended for that reason.
func (o outcome) want(t *testing.T, reason sandbox.Reason) {
	t.Helper()
	if o.Reason != reason {
		t.Errorf("it ended with %q, want %q (%s; stderr %.200q)", o.Reason, reason, o.describe(), o.stderr)
	}
}

func (o outcome) describe() string {
	if o.Error == nil {
		return "no error"
	}
	return o.Error.Name + ": " + o.message
}

// listener gathers live output.
type listener struct {
	mu    sync.Mutex // guards texts
	texts map[sandbox.Stream]string
	heard chan struct{} // receives, without waiting, at each piece
}

func listen() *listener {
	return &listener{texts: map[sandbox.Stream]string{}, heard: make(chan struct{}, 1)}
}

func (l *listener) take(t *testing.T) func(sandbox.Stream, pii.Raw) {
	return func(stream sandbox.Stream, text pii.Raw) {
		l.mu.Lock()
		l.texts[stream] += Text(t, text)
		l.mu.Unlock()
		select {
		case l.heard <- struct{}{}:
		default:
		}
	}
}

func (l *listener) text(stream sandbox.Stream) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.texts[stream]
}
