package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"airlock/ident"
	"airlock/orchestrator/auth"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// exchange sends a request and gives its status and body.
func exchange(t *testing.T, r *http.Request) (*http.Response, string) {
	t.Helper()
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

// openSession initializes and gives the session's id.
func openSession(t *testing.T, url string, change ...func(*http.Request)) string {
	t.Helper()
	r := newPost(t, url, initialize)
	for _, f := range change {
		f(r)
	}
	answer, body := exchange(t, r)
	id := answer.Header.Get(headerSession)
	if answer.StatusCode != http.StatusOK || id == "" {
		t.Fatalf("initialize: %d %s", answer.StatusCode, body)
	}
	return id
}

func set(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`

func TestHTTPRefuses(t *testing.T) {
	t.Parallel()
	url := serveHTTP(t, newFace(t, returns("1")))
	session := openSession(t, url)
	method := func(name string) func(*http.Request) {
		return func(r *http.Request) { r.Method, r.Body, r.ContentLength = name, nil, 0 }
	}
	for name, tc := range map[string]struct {
		body   string
		change []func(*http.Request)
		status int
	}{
		"a foreign Host":                  {ping, []func(*http.Request){func(r *http.Request) { r.Host = "evil.example.com" }}, 421},
		"a foreign Origin":                {ping, []func(*http.Request){set("Origin", "https://evil.example.com")}, 403},
		"a foreign Origin's preflight":    {ping, []func(*http.Request){method("OPTIONS"), set("Origin", "https://evil.example.com")}, 403},
		"an opaque Origin":                {ping, []func(*http.Request){set("Origin", "null")}, 403},
		"two Origins":                     {ping, []func(*http.Request){func(r *http.Request) { r.Header["Origin"] = []string{"http://localhost", "x"} }}, 403},
		"an unknown session":              {ping, []func(*http.Request){set(headerSession, "nobody")}, 404},
		"no session":                      {ping, []func(*http.Request){set(headerSession, "")}, 400},
		"a form":                          {ping, []func(*http.Request){set("Content-Type", "text/plain")}, 415},
		"a compressed body":               {ping, []func(*http.Request){set("Content-Encoding", "gzip")}, 415},
		"a body that is too long":         {`{"x":"` + strings.Repeat("y", maxMessage) + `"}`, nil, 413},
		"no JSON":                         {`{`, nil, 400},
		"a batch":                         {`[` + ping + `]`, nil, 400},
		"another JSON-RPC":                {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, nil, 400},
		"an id that is an object":         {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, nil, 400},
		"an unknown version":              {ping, []func(*http.Request){set(headerVersion, "1999-01-01")}, 400},
		"the protocol without sessions":   {`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, nil, 400},
		"a method that HTTP knows not":    {"", []func(*http.Request){method("PUT")}, 405},
		"a stream that is not asked for":  {"", []func(*http.Request){method("GET"), set("Accept", "application/json")}, 406},
		"a stream of an unknown session":  {"", []func(*http.Request){method("GET"), set(headerSession, "nobody")}, 404},
		"an event that is not kept":       {"", []func(*http.Request){method("GET"), set(headerLast, "99-1")}, 400},
		"an event that is no event":       {"", []func(*http.Request){method("GET"), set(headerLast, "x")}, 400},
		"the end of an unknown session":   {"", []func(*http.Request){method("DELETE"), set(headerSession, "nobody")}, 404},
		"metadata where nobody signs in":  {"", []func(*http.Request){method("GET"), func(r *http.Request) { r.URL.Path = metadataPath }}, 404},
		"a path that is none":             {"", []func(*http.Request){method("GET"), func(r *http.Request) { r.URL.Path = "/" }}, 404},
		"nothing: a request that is fine": {ping, []func(*http.Request){set("Origin", strings.TrimSuffix(url, Path))}, 200},
		"nothing: an answer to nobody":    {`{"jsonrpc":"2.0","id":77,"result":{}}`, nil, 202},
	} {
		r := newPost(t, url, tc.body)
		r.Header.Set(headerSession, session)
		for _, f := range tc.change {
			f(r)
		}
		if answer, body := exchange(t, r); answer.StatusCode != tc.status {
			t.Errorf("%s: %d %s, want %d", name, answer.StatusCode, body, tc.status)
		}
	}
	r := newPost(t, url, ping)
	r.Method = http.MethodDelete
	r.Header.Set(headerSession, session)
	if answer, body := exchange(t, r); answer.StatusCode != http.StatusOK {
		t.Errorf("end: %d %s", answer.StatusCode, body)
	}
	r = newPost(t, url, ping)
	r.Header.Set(headerSession, session)
	if answer, body := exchange(t, r); answer.StatusCode != http.StatusNotFound {
		t.Errorf("after the end: %d %s", answer.StatusCode, body)
	}
}

func TestPagesOfTrustedOrigins(t *testing.T) {
	t.Parallel()
	url := serveHTTP(t, newFace(t, returns("1")), func(o *HTTPOptions) { o.Origins.Origins = []string{"https://app.example.com"} })
	r := newPost(t, url, "")
	r.Method, r.Body, r.ContentLength = http.MethodOptions, nil, 0
	r.Header.Set("Origin", "https://app.example.com")
	answer, _ := exchange(t, r)
	if answer.StatusCode != http.StatusNoContent || answer.Header.Get("Access-Control-Allow-Origin") != "https://app.example.com" || !strings.Contains(answer.Header.Get("Access-Control-Allow-Headers"), headerSession) {
		t.Errorf("the preflight: %d %v", answer.StatusCode, answer.Header)
	}
}

// tokens knows callers by what they send.
type tokens map[string]auth.Caller

func (k tokens) Authenticate(_ context.Context, credential string) (auth.Caller, error) {
	if caller, ok := k[credential]; ok {
		return caller, nil
	}
	return auth.Caller{}, fmt.Errorf("%w: it is nobody's", auth.ErrUnauthorized)
}

func TestSessionsBelongToTheirUsers(t *testing.T) {
	t.Parallel()
	known := tokens{}
	for _, name := range []string{"ann", "ben"} {
		known[name+"s-key"] = auth.Caller{User: ident.User(name), Rights: auth.Rights{Run: true}}
	}
	known["weak"] = auth.Caller{User: "ann"}
	url := serveHTTP(t, newFace(t, returns("1")), func(o *HTTPOptions) {
		o.Authenticator, o.AuthorizationServer = known, "https://id.example.com"
	})
	bearer := func(key string) func(*http.Request) { return set("Authorization", "Bearer "+key) }
	session := openSession(t, url, bearer("anns-key"))
	for name, tc := range map[string]struct {
		change []func(*http.Request)
		status int
	}{
		"its user":            {[]func(*http.Request){bearer("anns-key")}, 200},
		"another user":        {[]func(*http.Request){bearer("bens-key")}, 404},
		"one who claims it":   {[]func(*http.Request){bearer("bens-key"), set("X-User-Id", "ann")}, 404},
		"nobody":              {nil, 401},
		"a bad key":           {[]func(*http.Request){bearer("x")}, 401},
		"one without a right": {[]func(*http.Request){bearer("weak")}, 403},
	} {
		r := newPost(t, url, ping)
		r.Header.Set(headerSession, session)
		for _, f := range tc.change {
			f(r)
		}
		answer, body := exchange(t, r)
		if answer.StatusCode != tc.status {
			t.Errorf("%s: %d %s", name, answer.StatusCode, body)
		}
		base := strings.TrimSuffix(url, Path)
		if challenge := answer.Header.Get("WWW-Authenticate"); tc.status == 401 && !strings.Contains(challenge, `resource_metadata="`+base+metadataPath+Path+`"`) {
			t.Errorf("%s: the challenge is %q", name, challenge)
		}
	}
	r := newPost(t, strings.TrimSuffix(url, Path)+metadataPath+Path, "")
	r.Method = http.MethodGet
	var told struct {
		Resource string
		Servers  []string `json:"authorization_servers"`
	}
	if _, body := exchange(t, r); json.Unmarshal([]byte(body), &told) != nil || told.Resource != url || len(told.Servers) != 1 {
		t.Errorf("the metadata is %s", body)
	}
}

func TestProxiesSayWhomTheyCallFor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trusted, named string
		status         int
	}{
		"a trusted proxy":                     {"127.0.0.0/8", "ben", 404},
		"a trusted proxy for the same":        {"127.0.0.0/8", "ann", 200},
		"somebody else's claim is overlooked": {"10.0.0.0/8", "ben", 200},
		"no user id":                          {"127.0.0.0/8", "../ann", 400},
		"a claim beside the proxy's word":     {"127.0.0.0/8", "ann ben", 400},
	} {
		url := serveHTTP(t, newFace(t, returns("1")), func(o *HTTPOptions) {
			o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix(tc.trusted)}
		})
		session := openSession(t, url, set("X-User-Id", "ann"))
		r := newPost(t, url, ping)
		r.Header.Set(headerSession, session)
		r.Header["X-User-Id"] = strings.Fields(tc.named)
		if answer, body := exchange(t, r); answer.StatusCode != tc.status {
			t.Errorf("%s: %d %s", name, answer.StatusCode, body)
		}
	}
}

// TestAnswersSurviveBrokenConnections breaks a call's stream and asks for the rest.
func TestAnswersSurviveBrokenConnections(t *testing.T) {
	t.Parallel()
	broken := make(chan struct{})
	url := serveHTTP(t, newFace(t, func(_ context.Context, x sandbox.Execution) sandbox.Result {
		x.Output(sandbox.Stdout, pii.NewRaw("before\n"))
		<-broken
		x.Output(sandbox.Stdout, pii.NewRaw("after\n"))
		return sandbox.Result{Reason: sandbox.ReasonOK}
	}))
	session := openSession(t, url)
	ctx, cut := context.WithCancel(t.Context())
	r := newPost(t, url, `{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"x"},"_meta":{"progressToken":1}}}`).WithContext(ctx)
	r.Header.Set(headerSession, session)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if id, ok := strings.CutPrefix(lines.Text(), "id: "); ok {
			last = id
		}
		if strings.Contains(lines.Text(), "before") {
			break
		}
	}
	cut()
	_ = answer.Body.Close()
	close(broken)
	r = newPost(t, url, "")
	r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
	r.Header.Set(headerSession, session)
	r.Header.Set(headerLast, last)
	rest, body := exchange(t, r)
	if rest.StatusCode != http.StatusOK || strings.Contains(body, "before") || !strings.Contains(body, "after") || !strings.Contains(body, `"id":9`) {
		t.Errorf("the rest after %s is %d %s", last, rest.StatusCode, body)
	}
}

func TestIdleSessionsEnd(t *testing.T) {
	t.Parallel()
	face := newFace(t, returns("1"))
	h := newHTTPSessions(face, nil)
	s := face.newSession("ann")
	h.byID[s.id] = s
	if idle := h.idle(); len(idle) != 0 {
		t.Errorf("a new session is idle: %d", len(idle))
	}
	s.used = s.used.Add(-2 * sessionIdle)
	s.inFlight["1"] = func() {}
	if idle := h.idle(); len(idle) != 0 {
		t.Error("a session at work is idle")
	}
	delete(s.inFlight, "1")
	if idle := h.idle(); len(idle) != 1 || len(h.byID) != 0 {
		t.Errorf("%d sessions are idle, %d are left", len(idle), len(h.byID))
	}
}

func TestNobodyEndsTheSessionsOfOthers(t *testing.T) {
	t.Parallel()
	face := newFace(t, returns("1"))
	h := newHTTPSessions(face, nil)
	add := func(user ident.User) *session {
		s := face.newSession(user)
		h.byID[s.id] = s
		return s
	}
	anns := add("ann")
	first := add("ben")
	for range maxUserSessions - 1 {
		add("ben").inFlight["1"] = func() {}
	}
	if !h.makeRoom("ben") || h.byID[first.id] != nil || h.byID[anns.id] == nil {
		t.Error("another session than the user's own oldest was ended")
	}
	add("ben").inFlight["1"] = func() {}
	if h.makeRoom("ben") {
		t.Error("a user has more sessions at work than a user may")
	}
	if !h.makeRoom("ann") || h.byID[anns.id] == nil {
		t.Error("one user's sessions leave no room for another's")
	}
}

func TestScriptsAreCounted(t *testing.T) {
	t.Parallel()
	left := 1
	url := serveHTTP(t, newFace(t, returns("1")), func(o *HTTPOptions) {
		o.Begun = func(user ident.User) time.Duration {
			if left--; left < 0 || user != localUser {
				return 90 * time.Second
			}
			return 0
		}
	})
	session := openSession(t, url)
	for _, want := range []string{`"status\":\"ok`, "try again in 90 s"} {
		r := newPost(t, url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_code","arguments":{"code":"x"}}}`)
		r.Header.Set(headerSession, session)
		if answer, body := exchange(t, r); answer.StatusCode != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("answered %d %s, want %s", answer.StatusCode, body, want)
		}
	}
}

// deadlines records what is set on a connection.
type deadlines struct {
	http.ResponseWriter
	set time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error { d.set = at; return nil }

func TestWholeAnswersAreGivenTime(t *testing.T) {
	t.Parallel()
	d := &deadlines{ResponseWriter: httptest.NewRecorder()}
	answerJSON(d, http.StatusOK, []byte("{}"))
	if d.set.IsZero() {
		t.Error("a client that reads nothing holds its connection for ever")
	}
}
