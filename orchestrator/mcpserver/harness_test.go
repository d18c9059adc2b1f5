package mcpserver

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"airlock/bridge"
	"airlock/ident"
	"airlock/orchestrator"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/origins"
	"airlock/orchestrator/state"
	"airlock/pii"
	"airlock/pii/detect"
	"airlock/runtime/sandbox"
	"airlock/servers"
	"airlock/skills"
	"airlock/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// scriptFunc stands for an interpreter: it gets the script and plays its part. Real
// sandboxes run in the tests of cmd/airlock.
type scriptFunc func(ctx context.Context, x sandbox.Execution) sandbox.Result

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

// fakeServers is a catalog of one server whose one tool asks for consent.
type fakeServers struct{ entry servers.Entry }

var deleteTool = servers.Tool{
	Server: "files", Name: "delete", Description: pii.NewRaw("Deletes a file."), InputSchema: pii.NewRaw(`{"type":"object"}`),
}

func (f fakeServers) Tools(context.Context, servers.Caller) ([]servers.Tool, []servers.Fault) {
	return []servers.Tool{deleteTool}, nil
}
func (f fakeServers) KnownTools(context.Context, servers.Caller) []servers.Tool {
	return []servers.Tool{deleteTool}
}
func (f fakeServers) Tool(_ context.Context, _ servers.Caller, name string) (servers.Tool, error) {
	if name != deleteTool.FullName() {
		return servers.Tool{}, servers.ErrUnknownTool
	}
	return deleteTool, nil
}
func (f fakeServers) CallWatched(context.Context, servers.Caller, string, json.RawMessage, func(servers.Progress)) (servers.Result, error) {
	return servers.Result{JSON: pii.NewRaw(`{"content":[{"type":"text","text":"gone"}]}`)}, nil
}
func (f fakeServers) Entry(string) (servers.Entry, bool) { return f.entry, true }

// noModel is never asked.
type noModel struct{ llm.Provider }

// newFace makes a server whose scripts are played by run.
func newFace(t testing.TB, run scriptFunc) *Server {
	t.Helper()
	dir := t.TempDir()
	approvals := orchestrator.NewApprovals(5 * time.Second)
	pseudonym := ident.NewPseudonym([]byte("a key for tests, 32 bytes long.."))
	path := dir + "/catalog.json"
	text := `{"schemaVersion":1,"servers":{"files":{"command":"x","release":"all","tools":{"approval":{"*":"required"}}}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	catalog, err := servers.LoadCatalog(path, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	guard, err := bridge.New(bridge.Options{
		Secret: []byte("a secret for tests, 32 bytes or more"), TokenTTL: time.Hour, Limits: bridge.DefaultLimits(),
		Upstreams: fakeServers{catalog.Entries()[0]}, Approver: approvals, Audit: io.Discard, Pseudonym: pseudonym,
	})
	if err != nil {
		t.Fatal(err)
	}
	store, err := skills.New(skills.Options{Library: fstest.MapFS{}, UsersDir: dir + "/skills"})
	if err != nil {
		t.Fatal(err)
	}
	spaces, err := workspace.New(workspace.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	detector, err := detect.New(detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := state.Open(t.Context(), state.Options{Dir: dir + "/store", Key: make([]byte, state.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	service, err := orchestrator.New(orchestrator.Options{
		Provider: noModel{}, Backends: []sandbox.Backend{fakeBackend{run}}, Bridge: guard, Approvals: approvals, Skills: store, Workspaces: spaces,
		Vaults: pii.VaultOptions{Detector: detector}, State: orchestrator.State{Queue: kept.Queue(), Events: kept.Events(), Vaults: kept.Vaults(), Tasks: kept.Tasks(), Kept: kept.Kept(), Eraser: kept}, StateKey: make([]byte, 32),
		Pseudonym: pseudonym, StubsDir: dir + "/stubs", Limits: orchestrator.DefaultLimits(),
	})
	if err != nil {
		t.Fatal(err)
	}
	face, err := New(Options{Service: service, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range []func() error{face.Close, service.Close, spaces.Close, store.Close, kept.Close} {
			if err := f(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	})
	return face
}

// returns plays a script that returns a JSON value.
func returns(value string) scriptFunc {
	return func(context.Context, sandbox.Execution) sandbox.Result {
		return sandbox.Result{Reason: sandbox.ReasonOK, Value: pii.NewRaw(value)}
	}
}

// serveHTTP serves a face on loopback and gives its URL.
func serveHTTP(t testing.TB, face *Server, change ...func(*HTTPOptions)) string {
	t.Helper()
	server := httptest.NewUnstartedServer(nil)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	o := HTTPOptions{Origins: origins.Policy{Port: port}}
	for _, f := range change {
		f(&o)
	}
	server.Config.Handler = face.Handler(o)
	server.Start()
	t.Cleanup(func() {
		_ = face.Close() // its streams would hold the server open
		server.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return server.URL + Path
}
