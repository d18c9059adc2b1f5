package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"airlock/ident"
	"airlock/pii"
	"airlock/pii/detect"
	"airlock/servers"
)

func TestMain(m *testing.M) {
	// regexp2's clock for timeouts ends by itself when no match needs it any more.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

// The catalog of the tests: servers that differ in what they may be given and in
// when the user is asked.
const testCatalog = `{"schemaVersion":1,"servers":{
	"shop": {"transport":"builtin"},
	"post": {"transport":"builtin"},
	"mail": {"transport":"builtin","release":"none"},
	"crm":  {"transport":"builtin","release":"all"},
	"disk": {"transport":"builtin","tools":{"approval":{"delete_*":"required","*":"hint"}}}}}`

func testEntries(tb testing.TB) map[string]servers.Entry {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "catalog.json")
	if err := os.WriteFile(file, []byte(testCatalog), 0o600); err != nil {
		tb.Fatal(err)
	}
	catalog, err := servers.LoadCatalog(file, func(string) (string, bool) { return "", false })
	if err != nil {
		tb.Fatal(err)
	}
	entries := map[string]servers.Entry{}
	for _, e := range catalog.Entries() {
		entries[e.Name] = e
	}
	return entries
}

// upstreams is a fake that records what it is asked.
type upstreams struct {
	tools   []servers.Tool
	faults  []servers.Fault
	entries map[string]servers.Entry
	lookup  error              // of Tool, if set
	reports []servers.Progress // of each call
	answer  func(ctx context.Context, name, arguments string) (servers.Result, error)

	mu    sync.Mutex // guards calls
	calls []string   // name and arguments as the tool got them
}

func (u *upstreams) Tools(context.Context, servers.Caller) ([]servers.Tool, []servers.Fault) {
	return u.tools, u.faults
}

func (u *upstreams) KnownTools(context.Context, servers.Caller) []servers.Tool {
	return slices.DeleteFunc(slices.Clone(u.tools), func(t servers.Tool) bool { return t.Server == "mail" }) // which does not run
}

func (u *upstreams) Tool(_ context.Context, _ servers.Caller, name string) (servers.Tool, error) {
	if u.lookup != nil {
		return servers.Tool{}, u.lookup
	}
	for _, t := range u.tools {
		if t.FullName() == name {
			return t, nil
		}
	}
	return servers.Tool{}, fmt.Errorf("find a tool: %w", servers.ErrUnknownTool)
}

func (u *upstreams) CallWatched(ctx context.Context, _ servers.Caller, name string, arguments json.RawMessage, watch func(servers.Progress)) (servers.Result, error) {
	u.mu.Lock()
	u.calls = append(u.calls, name+" "+string(arguments))
	u.mu.Unlock()
	for _, p := range u.reports {
		watch(p)
	}
	return u.answer(ctx, name, string(arguments))
}

func (u *upstreams) Entry(server string) (servers.Entry, bool) {
	e, ok := u.entries[server]
	return e, ok
}

func (u *upstreams) called() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]string(nil), u.calls...)
}

func text(s string) servers.Result {
	block, _ := json.Marshal(s)
	return servers.Result{JSON: pii.NewRaw(`{"content":[{"type":"text","text":` + string(block) + `}]}`)}
}

func tool(fullName, inputSchema string) servers.Tool {
	server, name, _ := strings.Cut(fullName, "__")
	return servers.Tool{Server: server, Name: name, Description: pii.NewRaw("Does " + name + "."), InputSchema: pii.NewRaw(inputSchema)}
}

// lockedBuffer is a log that many goroutines write to.
type lockedBuffer struct {
	mu   sync.Mutex // guards the rest
	text bytes.Buffer
	fail error
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.fail != nil {
		return 0, b.fail
	}
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *lockedBuffer) failWith(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = err
}

// rig is a bridge with one execution's access.
type rig struct {
	tb     testing.TB
	up     *upstreams
	bridge *Bridge
	access *Access
	vault  *pii.Vault
	audit  *lockedBuffer
	log    *lockedBuffer
	events []Event
	grant  Grant
}

var testSecret = []byte("0123456789abcdef0123456789abcdef")

const (
	anyObject = `{"type":"object"}`
	nonce     = "k7q2f"
)

func testVault(tb testing.TB) *pii.Vault {
	tb.Helper()
	d, err := detect.New(detect.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	v, err := pii.NewVault(pii.VaultOptions{Detector: d, Nonce: nonce})
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// newRig makes a rig; change may alter the options and the grant before use.
func newRig(tb testing.TB, change ...func(*Options, *Grant)) *rig {
	tb.Helper()
	r := &rig{tb: tb, vault: testVault(tb), audit: &lockedBuffer{}, log: &lockedBuffer{}}
	r.up = &upstreams{
		entries: testEntries(tb),
		tools: []servers.Tool{
			tool("shop__find", anyObject), tool("shop__echo", anyObject), tool("mail__send", anyObject), tool("crm__update", anyObject),
			tool("disk__delete_all", anyObject), tool("disk__read", anyObject),
			tool("shop__typed", `{"type":"object","properties":{"limit":{"type":"integer","minimum":1},"name":{"type":"string"}},"required":["limit"],"additionalProperties":false}`),
			tool("shop__broken", `{"type":"object","properties":{"a":{"$ref":"https://example.com/s.json"}}}`),
		},
		answer: func(_ context.Context, _, arguments string) (servers.Result, error) { return text(arguments), nil },
	}
	log := zap.New(zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(r.log), zap.DebugLevel))
	o := Options{
		Secret: testSecret, TokenTTL: time.Hour, Limits: DefaultLimits(), Upstreams: r.up,
		Audit: r.audit, Pseudonym: ident.NewPseudonym([]byte("a key for pseudonyms")), Log: log,
	}
	r.grant = Grant{User: "ada@example.com", Session: "ses_one", Task: "task_one", Execution: "exe_one", Vault: r.vault, Scope: ScopeAll}
	for _, f := range change {
		f(&o, &r.grant)
	}
	if o.Upstreams == Upstreams(r.up) && r.grant.Observe == nil {
		var mu sync.Mutex
		r.grant.Observe = func(e Event) { mu.Lock(); defer mu.Unlock(); r.events = append(r.events, e) }
	}
	var err error
	if r.bridge, err = New(o); err != nil {
		tb.Fatal(err)
	}
	if r.access, err = r.bridge.Grant(r.grant); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(r.access.Revoke)
	return r
}

// do sends a request in process, as the wasm backend does.
func (r *rig) do(method, path, body string) (int, string) {
	r.tb.Helper()
	w := r.send(r.request(method, path, body))
	return w.Code, w.Body.String()
}

func (r *rig) request(method, path, body string) *http.Request {
	var from io.Reader
	if body != "" {
		from = strings.NewReader(body)
	}
	req, err := http.NewRequest(method, "http://bridge"+path, from)
	if err != nil {
		r.tb.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+r.access.Token())
	return req
}

func (r *rig) send(req *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r.bridge.Handler(r.grant.Session).ServeHTTP(w, req)
	return w
}

func (r *rig) call(name, arguments string) (int, string) {
	r.tb.Helper()
	return r.do(http.MethodPost, "/v1/tools/"+name+"/call", `{"arguments":`+arguments+`}`)
}

// show makes a value known to the session as that server's, and returns its token.
func (r *rig) show(value, server string) string {
	r.tb.Helper()
	t, err := r.vault.Tokenize(pii.NewRaw(value), pii.OriginServer(server))
	if err != nil {
		r.tb.Fatal(err)
	}
	if t.String() == value {
		r.tb.Fatalf("%q is not found by any detector", value)
	}
	return t.String()
}

func codeOf(tb testing.TB, body string) string {
	tb.Helper()
	var e struct {
		Error struct{ Code, Message, Hint string }
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil {
		tb.Fatalf("answer %q is not JSON: %v", body, err)
	}
	return e.Error.Code
}

func (r *rig) records() []map[string]any {
	r.tb.Helper()
	var all []map[string]any
	for line := range strings.Lines(r.audit.String()) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			r.tb.Fatalf("audit line %q: %v", line, err)
		}
		all = append(all, one)
	}
	return all
}
