package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is an MCP server that wants a token and the authorization server that
// gives it, both strict, on origins of their own.
type world struct {
	t            *testing.T
	server, auth *httptest.Server

	mu       sync.Mutex // guards what follows
	clients  map[string]string
	codes    map[string]url.Values // by code: what it was asked for with
	refresh  string
	access   string
	lifetime int
	renewals int

	// What a test changes. Each has the default of a correct server.
	metadata  func(resource map[string]any)
	authority func(map[string]any)
	answer    func(url.Values)
	token     http.HandlerFunc
	challenge string
	noPRM     bool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, clients: map[string]string{}, codes: map[string]url.Values{}, lifetime: 3600}
	mcp, auth := http.NewServeMux(), http.NewServeMux()
	w.server, w.auth = httptest.NewServer(mcp), httptest.NewServer(auth)
	t.Cleanup(w.server.Close)
	t.Cleanup(w.auth.Close)
	w.challenge = fmt.Sprintf(`Bearer realm="x", resource_metadata="%s/.well-known/oauth-protected-resource/mcp", scope="files:read"`, w.server.URL)
	mcp.HandleFunc("POST /mcp", func(out http.ResponseWriter, _ *http.Request) {
		out.Header().Set("WWW-Authenticate", w.challenge)
		out.WriteHeader(http.StatusUnauthorized)
	})
	mcp.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", w.serveResource)
	auth.HandleFunc("GET /.well-known/oauth-authorization-server", w.serveAuthority)
	mcp.HandleFunc("GET /.well-known/oauth-authorization-server", w.serveAuthority)
	auth.HandleFunc("POST /register", w.serveRegister)
	auth.HandleFunc("GET /authorize", w.serveAuthorize)
	auth.HandleFunc("POST /token", func(out http.ResponseWriter, r *http.Request) {
		if w.token != nil {
			w.token(out, r)
			return
		}
		w.serveToken(out, r)
	})
	return w
}

func (w *world) url() string { return w.server.URL + "/mcp" }

func reply(out http.ResponseWriter, status int, body map[string]any) {
	out.Header().Set("Content-Type", "application/json")
	out.WriteHeader(status)
	_ = json.NewEncoder(out).Encode(body)
}

func (w *world) serveResource(out http.ResponseWriter, r *http.Request) {
	if w.noPRM {
		http.NotFound(out, r)
		return
	}
	m := map[string]any{"resource": w.url(), "authorization_servers": []string{w.auth.URL}, "scopes_supported": []string{"all"}}
	if w.metadata != nil {
		w.metadata(m)
	}
	reply(out, http.StatusOK, m)
}

func (w *world) serveAuthority(out http.ResponseWriter, r *http.Request) {
	m := map[string]any{
		"issuer": w.auth.URL, "authorization_endpoint": w.auth.URL + "/authorize?tenant=7", "token_endpoint": w.auth.URL + "/token",
		"registration_endpoint": w.auth.URL + "/register", "code_challenge_methods_supported": []string{"plain", "S256"},
		"authorization_response_iss_parameter_supported": true,
	}
	if "http://"+r.Host == w.server.URL {
		m["issuer"] = w.server.URL
	}
	if w.authority != nil {
		w.authority(m)
	}
	reply(out, http.StatusOK, m)
}

func (w *world) serveRegister(out http.ResponseWriter, r *http.Request) {
	var in struct {
		Redirects []string `json:"redirect_uris"`
		Method    string   `json:"token_endpoint_auth_method"`
	}
	if json.NewDecoder(r.Body).Decode(&in) != nil || len(in.Redirects) != 1 || in.Method != "none" {
		reply(out, http.StatusBadRequest, map[string]any{"error": "invalid_client_metadata"})
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id := "client-" + rand.Text()
	w.clients[id] = in.Redirects[0]
	reply(out, http.StatusCreated, map[string]any{"client_id": id, "token_endpoint_auth_method": "none"})
}

func (w *world) serveAuthorize(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	q := r.URL.Query()
	redirect := w.clients[q.Get("client_id")]
	if redirect == "" || q.Get("redirect_uri") != redirect || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" ||
		q.Get("tenant") != "7" || q.Get("resource") == "" || len(q.Get("state")) < 20 {
		http.Error(out, "bad request", http.StatusBadRequest)
		return
	}
	code := rand.Text()
	w.codes[code] = q
	answer := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {w.auth.URL}}
	if w.answer != nil {
		w.answer(answer)
	}
	http.Redirect(out, r, redirect+"?"+answer.Encode(), http.StatusFound)
}

func (w *world) serveToken(out http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := r.ParseForm(); err != nil {
		return
	}
	f := r.PostForm
	grant := ""
	switch f.Get("grant_type") {
	case "authorization_code":
		asked := w.codes[f.Get("code")]
		delete(w.codes, f.Get("code"))
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		if asked != nil && base64.RawURLEncoding.EncodeToString(sum[:]) == asked.Get("code_challenge") &&
			f.Get("client_id") == asked.Get("client_id") && f.Get("redirect_uri") == asked.Get("redirect_uri") && f.Get("resource") == asked.Get("resource") {
			grant = "code"
		}
	case "refresh_token":
		if f.Get("refresh_token") == w.refresh && w.refresh != "" && f.Get("resource") != "" && w.clients[f.Get("client_id")] != "" {
			grant = "refresh"
			w.renewals++
		}
	}
	if grant == "" {
		reply(out, http.StatusBadRequest, map[string]any{"error": "invalid_grant", "error_description": "canary@example.com"})
		return
	}
	w.access, w.refresh = "at."+rand.Text(), "rt-"+rand.Text() // a refresh token is good once
	reply(out, http.StatusOK, map[string]any{"access_token": w.access, "token_type": "bearer", "refresh_token": w.refresh, "expires_in": w.lifetime})
}

// memory is a store that can be looked into.
type memory struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (m *memory) Put(_ context.Context, name string, sealed []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept[name] = slices.Clone(sealed)
	return nil
}

func (m *memory) Get(_ context.Context, name string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept[name] == nil {
		return nil, fs.ErrNotExist
	}
	return slices.Clone(m.kept[name]), nil
}

func (m *memory) Delete(_ context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, name)
	return nil
}

// clock is what a client takes for now.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

func newClient(t *testing.T, store Store, now func() time.Time) *Client {
	t.Helper()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(transport.CloseIdleConnections)
	c, err := New(Options{Store: store, Key: []byte(strings.Repeat("k", 32)), Transport: transport, Now: now})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// signIn does what a person at a browser does.
func (w *world) signIn(c *Client, change func(*Login)) error {
	browser := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	l := Login{Server: "files", URL: w.url(), Show: func(address, authority string) error {
		if authority != w.auth.URL && authority != w.server.URL {
			w.t.Errorf("the user is told of %q", authority)
		}
		go func() {
			r, err := browser.Get(address)
			if err == nil {
				_ = r.Body.Close()
			}
		}()
		return nil
	}}
	if change != nil {
		change(&l)
	}
	ctx, cancel := context.WithTimeout(w.t.Context(), 20*time.Second)
	defer cancel()
	return c.Login(ctx, l)
}
