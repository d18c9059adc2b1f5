package orchestrator

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"airlock/bridge"
	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/state"
	"airlock/pii"
	"airlock/pii/detect"
	"airlock/runtime/sandbox"
	"airlock/servers"
	"airlock/skills"
	"airlock/workspace"
	"airlock/workspace/mirror"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scriptFunc stands for an interpreter: it gets the script and plays its part.
type scriptFunc func(ctx context.Context, x sandbox.Execution) sandbox.Result

// fakeBackend runs scriptFunc in place of scripts. Real sandboxes are tested in
// their own packages and, with this one, by the stories of cmd/airlock.
type fakeBackend struct{ run scriptFunc }

func (fakeBackend) Name() string                  { return "fake" }
func (fakeBackend) Languages() []sandbox.Language { return []sandbox.Language{sandbox.JavaScript} }
func (fakeBackend) Check(context.Context) error   { return nil }
func (fakeBackend) Close() error                  { return nil }
func (b fakeBackend) Open(context.Context, ident.Session) (sandbox.Sandbox, error) {
	return fakeSandbox(b), nil
}

type fakeSandbox struct{ run scriptFunc }

func (s fakeSandbox) Run(ctx context.Context, x sandbox.Execution) (sandbox.Result, error) {
	return s.run(ctx, x), nil
}
func (fakeSandbox) Close() error { return nil }

// noServers is a catalog without servers.
type noServers struct{}

func (noServers) Tools(context.Context, servers.Caller) ([]servers.Tool, []servers.Fault) {
	return nil, nil
}
func (noServers) KnownTools(context.Context, servers.Caller) []servers.Tool { return nil }
func (noServers) Tool(context.Context, servers.Caller, string) (servers.Tool, error) {
	return servers.Tool{}, servers.ErrUnknownTool
}
func (noServers) CallWatched(context.Context, servers.Caller, string, json.RawMessage, func(servers.Progress)) (servers.Result, error) {
	return servers.Result{}, servers.ErrUnknownTool
}
func (noServers) Entry(string) (servers.Entry, bool) { return servers.Entry{}, false }

// severalModels is a provider for a service that lists models.
type severalModels struct {
	llm.Provider
	models   []Model
	fallback string
}

// newTestService makes a service whose scripts are played by run.
func newTestService(t *testing.T, provider llm.Provider, run scriptFunc, change ...func(*Limits)) *Service {
	t.Helper()
	return newTestServiceWith(t, noServers{}, time.Minute, provider, run, change...)
}

// newTestServiceWith takes the servers as well, and how long approvals are waited for.
func newTestServiceWith(t *testing.T, upstreams bridge.Upstreams, wait time.Duration, provider llm.Provider, run scriptFunc, change ...func(*Limits)) *Service {
	t.Helper()
	return newTestServiceIn(t, t.TempDir(), upstreams, wait, provider, run, change...)
}

// newTestServiceIn takes the folder as well.
func newTestServiceIn(t *testing.T, dir string, upstreams bridge.Upstreams, wait time.Duration, provider llm.Provider, run scriptFunc, change ...func(*Limits)) *Service {
	t.Helper()
	kept, err := state.Open(t.Context(), state.Options{Dir: dir + "/store", Key: make([]byte, state.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	return newTestServiceOn(t, kept, nil, dir, upstreams, wait, provider, run, change...)
}

// newTestServiceOn takes the store as well, and those who share it.
func newTestServiceOn(t *testing.T, kept *state.Store, members Members, dir string, upstreams bridge.Upstreams, wait time.Duration, provider llm.Provider, run scriptFunc, change ...func(*Limits)) *Service {
	t.Helper()
	approvals := NewApprovals(wait)
	pseudonym := ident.NewPseudonym([]byte("a key for tests, 32 bytes long.."))
	guard, err := bridge.New(bridge.Options{
		Secret: []byte("a secret for tests, 32 bytes or more"), TokenTTL: time.Hour, Limits: bridge.DefaultLimits(),
		Upstreams: upstreams, Approver: approvals, Audit: io.Discard, Pseudonym: pseudonym,
	})
	if err != nil {
		t.Fatal(err)
	}
	var folders *mirror.Mirror
	var notes Notes
	sharedDir := ""
	if members != nil {
		sharedDir = dir + "/skills-shared"
		if folders, err = mirror.New(kept.Kept(), dir+"/mirrored"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = folders.Close() })
		erased, err := state.OpenFiles(dir + "/erased")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = erased.Close() })
		notes = erased
	}
	store, err := skills.New(skills.Options{Library: fstest.MapFS{}, UsersDir: dir + "/skills", SharedDir: sharedDir, Mirror: folders})
	if err != nil {
		t.Fatal(err)
	}
	spaces, err := workspace.New(workspace.Options{Dir: dir, Mirror: folders})
	if err != nil {
		t.Fatal(err)
	}
	detector, err := detect.New(detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	limits := DefaultLimits()
	for _, f := range change {
		f(&limits)
	}
	options := Options{
		Provider: provider, Backends: []sandbox.Backend{fakeBackend{run}}, Bridge: guard, Approvals: approvals, Skills: store, Workspaces: spaces,
		Vaults: pii.VaultOptions{Detector: detector}, State: State{Queue: kept.Queue(), Events: kept.Events(), Vaults: kept.Vaults(), Tasks: kept.Tasks(), Kept: kept.Kept(), Eraser: kept, Members: members, Notes: notes}, StateKey: make([]byte, 32),
		Pseudonym: pseudonym, StubsDir: dir + "/stubs", Limits: limits,
	}
	if several, ok := provider.(severalModels); ok {
		options.Models, options.Fallback = several.models, several.fallback
	}
	s, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		_ = spaces.Close()
		_ = store.Close()
		_ = kept.Close()
	})
	return s
}

// returns plays a script that returns a JSON value.
func returns(value string) scriptFunc {
	return func(context.Context, sandbox.Execution) sandbox.Result {
		return sandbox.Result{Reason: sandbox.ReasonOK, Value: pii.NewRaw(value)}
	}
}

// throws plays a script that fails.
func throws(message string) scriptFunc {
	return func(context.Context, sandbox.Execution) sandbox.Result {
		return sandbox.Result{Reason: sandbox.ReasonError, Error: &sandbox.ScriptError{Name: "Error", Message: pii.NewRaw(message), Line: 3}}
	}
}

// waits plays a script that never ends by itself, and tells that it has begun.
func waits(begun chan<- struct{}) scriptFunc {
	return func(ctx context.Context, _ sandbox.Execution) sandbox.Result {
		begun <- struct{}{}
		<-ctx.Done()
		return sandbox.Result{Reason: sandbox.ReasonCancelled, Error: &sandbox.ScriptError{Name: "Cancelled"}}
	}
}

// executeCall is a model's call of execute_code.
func executeCall(code string) llm.Call {
	text, _ := json.Marshal(map[string]string{"language": "javascript", "code": code})
	return llm.Call{Name: toolExecute, Arguments: string(text)}
}

// runTask submits a task and follows it to its end.
func runTask(t *testing.T, s *Service, r TaskRequest) Task {
	t.Helper()
	id, err := s.Submit(t.Context(), r)
	if err != nil {
		t.Fatalf("submit: %v", err)
	}
	done, err := s.Wait(t.Context(), r.User, id)
	if err != nil {
		t.Fatalf("wait: %v", err)
	}
	return done
}

// tasksOf lists a user's tasks.
func tasksOf(t *testing.T, s *Service, user ident.User) []Task {
	t.Helper()
	all, err := s.Tasks(user)
	if err != nil {
		t.Fatal(err)
	}
	return all
}
