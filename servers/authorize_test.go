package servers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	mcpserver "github.com/mark3labs/mcp-go/server"
)

// tokens is an Authorizer whose token is good until it is renewed.
type tokens struct {
	mu       sync.Mutex
	good     string
	renewals int
	err      error
	asked    []string
}

func (a *tokens) Token(_ context.Context, server, url string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, server+" "+url)
	return a.good, a.err
}

func (a *tokens) Renew(_ context.Context, _, _, refused string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.renewals++
	if a.good == refused {
		a.good += "+"
	}
	return a.good, a.err
}

// guarded serves the echo server to those with the token that it wants.
type guarded struct {
	mu   sync.Mutex
	want string
	seen []string
}

func (g *guarded) start(t *testing.T) string {
	t.Helper()
	echo, err := echoServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	real := mcpserver.NewStreamableHTTPServer(echo)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		got := r.Header.Get("Authorization")
		g.seen = append(g.seen, got)
		ok := got == g.want
		g.mu.Unlock()
		if !ok {
			http.Error(w, "canary", http.StatusUnauthorized)
			return
		}
		real.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/mcp"
}

func TestTokensGoToTheServerAndAreRenewed(t *testing.T) {
	t.Parallel()
	g, source := &guarded{want: "Bearer t+"}, &tokens{good: "t"}
	url := g.start(t)
	m := managerWith(t, Options{Catalog: catalogOf(t, fmt.Sprintf(`"echo":{"url":%q}`, url)), Authorizer: source})
	if _, err := m.Call(t.Context(), anyone, "echo__echo", nil); err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	g.want = "Bearer t++" // it has ended
	g.mu.Unlock()
	if _, err := m.Call(t.Context(), anyone, "echo__echo", nil); err != nil {
		t.Error(err)
	}
	if source.renewals != 2 || source.asked[0] != "echo "+url {
		t.Errorf("renewed %d times, asked for %q", source.renewals, source.asked[0])
	}
}

func TestWithoutATokenTheErrorSaysHowToSignIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source *tokens
		want   string
	}{
		"nobody signed in":      {&tokens{}, "HTTP status 401; check the credentials in headers or inputs of catalog.json, or sign in: airlock servers login echo"},
		"sign-in ended":         {&tokens{err: errors.New("the sign-in has ended")}, "the sign-in has ended; run: airlock servers login echo"},
		"renewed but no better": {&tokens{good: "t"}, "HTTP status 401; check the credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &guarded{want: "Bearer other"}
			m := managerWith(t, Options{Catalog: catalogOf(t, fmt.Sprintf(`"echo":{"url":%q}`, g.start(t))), Authorizer: c.source})
			_, err := m.Call(t.Context(), anyone, "echo__echo", nil)
			if !errors.Is(err, ErrUpstream) || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%v, want %q", err, c.want)
			}
			if c.source.renewals > 1 {
				t.Errorf("renewed %d times for one call", c.source.renewals)
			}
		})
	}
}

// TestTokensGoNowhereElse lets the server send the client elsewhere, by a
// redirect and by an endpoint on another origin.
func TestTokensGoNowhereElse(t *testing.T) {
	t.Parallel()
	heard := make(chan string, 10)
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard <- r.Header.Get("Authorization") }))
	t.Cleanup(other.Close)
	redirects := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	t.Cleanup(redirects.Close)
	events := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "event: endpoint\ndata: %s/messages\n\n", other.URL)
	}))
	t.Cleanup(events.Close)
	m := managerWith(t, Options{
		Catalog:    catalogOf(t, fmt.Sprintf(`"a":{"url":%q},"b":{"transport":"sse","url":%q,"lifecycle":{"initTimeoutMs":2000}}`, redirects.URL, events.URL)),
		Authorizer: &tokens{good: "secret"},
	})
	for _, tool := range []string{"a__x", "b__x"} {
		if _, err := m.Call(t.Context(), anyone, tool, nil); !errors.Is(err, ErrUpstream) && !errors.Is(err, ErrTimeout) {
			t.Errorf("%s: %v", tool, err)
		}
	}
	if len(heard) > 0 {
		t.Errorf("another origin was sent %q", <-heard)
	}
	// The RoundTripper itself, as if a library followed after all.
	u := m.byName["a"]
	client := &http.Client{Transport: u.authorize(http.DefaultTransport)}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, other.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if got := <-heard; got != "" {
		t.Errorf("another origin was sent %q", got)
	}
}

func TestCatalogsOwnCredentialsWin(t *testing.T) {
	t.Parallel()
	g, source := &guarded{want: "Bearer from the catalog"}, &tokens{good: "t"}
	m := managerWith(t, Options{
		Catalog:    catalogOf(t, fmt.Sprintf(`"echo":{"url":%q,"headers":{"authorization":"Bearer from the catalog"}}`, g.start(t))),
		Authorizer: source,
	})
	if _, err := m.Call(t.Context(), anyone, "echo__echo", nil); err != nil || len(source.asked) > 0 {
		t.Errorf("%v, asked for %q", err, source.asked)
	}
}

func TestRemoteSaysWhatSigningInTakes(t *testing.T) {
	t.Parallel()
	c, err := load(t, `{"schemaVersion":1,"inputs":[{"id":"pg","secret":true,"from":"env:PG_URL"},{"id":"unset","from":"env:NOT_SET"}],"servers":{
		"files":{"url":"https://example.com/mcp?key=${input:pg}","oauth":{"clientId":"me","clientSecret":"${input:pg}","scopes":["a","b"],"port":8123}},
		"plain":{"url":"https://example.com/mcp","enabled":false},
		"local":{"command":"x"},"missing":{"url":"https://${input:unset}/mcp"}}}`)
	if err != nil || len(c.Warnings()) > 0 {
		t.Fatal(err, c.Warnings())
	}
	r, err := c.Remote("files")
	if err != nil || r.URL != "https://example.com/mcp?key=postgres://u:canary@host/db" || r.ClientID != "me" ||
		r.ClientSecret != "postgres://u:canary@host/db" || strings.Join(r.Scopes, " ") != "a b" || r.Port != 8123 {
		t.Errorf("%s, %v", r.ClientID, err)
	}
	if printed := fmt.Sprintf("%v %+v %#v %s", r, r, r, r); strings.Contains(printed, "canary") {
		t.Errorf("printing shows a secret: %s", printed)
	}
	if r, err := c.Remote("plain"); err != nil || r.URL != "https://example.com/mcp" {
		t.Errorf("plain: %v", err)
	}
	for server, want := range map[string]string{"local": "only remote servers", "missing": "NOT_SET, which is not set", "nobody": `no server "nobody"`} {
		if _, err := c.Remote(server); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", server, err)
		}
	}
}
