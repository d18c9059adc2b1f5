package oauth

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestSignInGivesTheTokenToItsAddressOnly(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*world){
		"as specified":           nil,
		"no hint":                func(w *world) { w.challenge = "" },
		"another scheme first":   func(w *world) { w.challenge = `Basic realm="a, b", ` + w.challenge },
		"resource of the origin": func(w *world) { w.metadata = func(m map[string]any) { m["resource"] = w.server.URL } },
		"server from before RFC 9728": func(w *world) {
			w.noPRM, w.challenge = true, "Bearer"
			w.answer = func(v url.Values) { v.Set("iss", w.server.URL) }
		},
		"no iss, none promised": func(w *world) {
			w.authority = func(m map[string]any) { delete(m, "authorization_response_iss_parameter_supported") }
			w.answer = func(v url.Values) { v.Del("iss") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, store := newWorld(t), &memory{kept: map[string][]byte{}}
			if change != nil {
				change(w)
			}
			c := newClient(t, store, nil)
			if err := w.signIn(c, nil); err != nil {
				t.Fatal(err)
			}
			if got, err := c.Token(t.Context(), "files", w.url()); err != nil || got != w.access {
				t.Errorf("token %q, %v; want %q", got, err, w.access)
			}
			for _, other := range [][2]string{{"files", w.url() + "/x"}, {"files", w.auth.URL + "/mcp"}, {"other", w.url()}} {
				if got, err := c.Token(t.Context(), other[0], other[1]); err != nil || got != "" {
					t.Errorf("%q has the token %q, %v", other, got, err)
				}
			}
			for name, sealed := range store.kept {
				for _, secret := range []string{w.access, w.refresh, w.server.URL} {
					if bytes.Contains(sealed, []byte(secret)) || strings.Contains(name, secret) {
						t.Errorf("%s holds %q in clear", name, secret)
					}
				}
			}
			if err := c.Logout(t.Context(), "files"); err != nil {
				t.Error(err)
			}
			if got, err := c.Token(t.Context(), "files", w.url()); err != nil || got != "" {
				t.Errorf("after Logout: %q, %v", got, err)
			}
		})
	}
}

func TestSignInAsksForTheScopesAndTheResource(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*world)
		own    []string
		want   string
	}{
		"of the challenge": {nil, nil, "files:read"},
		"of the metadata":  {func(w *world) { w.challenge = "" }, nil, "all"},
		"of the catalog":   {nil, []string{"a", "b"}, "a b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.change != nil {
				c.change(w)
			}
			var asked url.Values
			err := w.signIn(newClient(t, &memory{kept: map[string][]byte{}}, nil), func(l *Login) {
				show := l.Show
				l.Scopes = c.own
				l.Show = func(address, authority string) error {
					u, err := url.Parse(address)
					asked = u.Query()
					return errors.Join(err, show(address, authority))
				}
			})
			if err != nil || asked.Get("scope") != c.want || asked.Get("resource") != w.url() {
				t.Errorf("asked for scope %q and resource %q, %v; want %q", asked.Get("scope"), asked.Get("resource"), err, c.want)
			}
		})
	}
}

func TestSignInIsRefused(t *testing.T) {
	t.Parallel()
	set := func(key string, value any) func(map[string]any) { return func(m map[string]any) { m[key] = value } }
	for name, c := range map[string]struct {
		change func(*world)
		want   string
	}{
		"metadata with another issuer":     {func(w *world) { w.authority = set("issuer", "https://evil.example") }, "names another issuer"},
		"metadata of another server":       {func(w *world) { w.metadata = set("resource", "https://victim.example/mcp") }, "that of another server"},
		"metadata of a neighbour":          {func(w *world) { w.metadata = set("resource", w.server.URL+"/mc") }, "that of another server"},
		"no resource":                      {func(w *world) { w.metadata = func(m map[string]any) { delete(m, "resource") } }, "that of another server"},
		"hint to another origin":           {func(w *world) { w.challenge = `Bearer resource_metadata="https://evil.example/x"` }, "on another origin"},
		"hint to nothing":                  {func(w *world) { w.challenge = `Bearer resource_metadata="` + w.server.URL + `/nothing"` }, "not where it says"},
		"no authorization server":          {func(w *world) { w.metadata = set("authorization_servers", []string{}) }, "names no authorization server"},
		"unencrypted authorization server": {func(w *world) { w.metadata = set("authorization_servers", []string{"http://auth.example"}) }, "is not https"},
		"unencrypted token endpoint":       {func(w *world) { w.authority = set("token_endpoint", "http://auth.example/t") }, "token_endpoint is not https"},
		"script as authorization endpoint": {func(w *world) { w.authority = set("authorization_endpoint", "javascript:alert(1)") }, "authorization_endpoint is no address"},
		"no PKCE":                          {func(w *world) { w.authority = set("code_challenge_methods_supported", []string{"plain"}) }, "PKCE with S256"},
		"no word of PKCE":                  {func(w *world) { w.authority = func(m map[string]any) { delete(m, "code_challenge_methods_supported") } }, "PKCE with S256"},
		"no registration":                  {func(w *world) { w.authority = func(m map[string]any) { delete(m, "registration_endpoint") } }, "oauth.clientId in catalog.json"},
		"answer of another issuer":         {func(w *world) { w.answer = func(v url.Values) { v.Set("iss", "https://evil.example") } }, "another authorization server"},
		"answer without the promised iss":  {func(w *world) { w.answer = func(v url.Values) { v.Del("iss") } }, "another authorization server"},
		"denied": {func(w *world) {
			w.answer = func(v url.Values) {
				v.Del("code")
				v.Set("error", "access_denied")
				v.Set("error_description", "canary")
			}
		}, "did not let the user in: access_denied"},
		"denied by an unknown word": {func(w *world) { w.answer = func(v url.Values) { v.Set("error", "canary") } }, "an unknown error"},
		"no code":                   {func(w *world) { w.answer = func(v url.Values) { v.Del("code") } }, "holds no code"},
		"forged code":               {func(w *world) { w.answer = func(v url.Values) { v.Set("code", "x") } }, "did not give a token for the code: invalid_grant"},
		"token endpoint down": {func(w *world) {
			w.token = func(out http.ResponseWriter, _ *http.Request) {
				http.Error(out, "canary", http.StatusServiceUnavailable)
			}
		}, "HTTP status 503"},
		"token endpoint speaks HTML": {func(w *world) {
			w.token = func(out http.ResponseWriter, _ *http.Request) { _, _ = out.Write([]byte("<p>canary")) }
		}, "not in the form of OAuth"},
		"token that would end the header": {func(w *world) { w.token = token("a\r\nX: canary", "bearer") }, "no bearer token"},
		"token of another type":           {func(w *world) { w.token = token("a", "mac") }, "no bearer token"},
		"no token":                        {func(w *world) { w.token = token("", "bearer") }, "not in the form of OAuth"},
		"endless metadata":                {func(w *world) { w.authority = set("x", strings.Repeat("y", 2<<20)) }, "at most 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, store := newWorld(t), &memory{kept: map[string][]byte{}}
			c.change(w)
			err := w.signIn(newClient(t, store, nil), nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%v, want %q", err, c.want)
			}
			if len(store.kept) > 0 {
				t.Error("something was kept")
			}
		})
	}
}

func token(access, kind string) http.HandlerFunc {
	return func(out http.ResponseWriter, _ *http.Request) {
		reply(out, http.StatusOK, map[string]any{"access_token": access, "token_type": kind})
	}
}

// TestRedirectsAreNotFollowed lets each step point to another origin, which must
// not hear of it.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"token": "/token", "registration": "/register", "metadata": "/.well-known/oauth-authorization-server"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			heard := make(chan string, 10)
			other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { heard <- r.URL.Path }))
			t.Cleanup(other.Close)
			w := newWorld(t)
			inner := w.auth.Config.Handler
			w.auth.Config.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				if r.URL.Path == path {
					http.Redirect(out, r, other.URL, http.StatusTemporaryRedirect)
					return
				}
				inner.ServeHTTP(out, r)
			})
			if err := w.signIn(newClient(t, &memory{kept: map[string][]byte{}}, nil), nil); err == nil {
				t.Error("signed in")
			}
			if len(heard) > 0 {
				t.Errorf("the other origin was asked for %s", <-heard)
			}
		})
	}
}

func TestAnswerWithAnotherStateIsNotTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := newClient(t, &memory{kept: map[string][]byte{}}, nil)
	browser := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	statuses := map[string]int{}
	err := w.signIn(c, func(l *Login) {
		show := l.Show
		l.Show = func(address, authority string) error {
			u, err := url.Parse(address)
			if err != nil {
				return err
			}
			back := u.Query().Get("redirect_uri")
			for _, query := range []string{"?code=stolen&state=wrong", "?code=stolen", "?error=access_denied&state="} {
				r, err := browser.Get(back + query)
				if err != nil {
					return err
				}
				_ = r.Body.Close()
				statuses[query] = r.StatusCode
			}
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, back+"?code=stolen&state="+u.Query().Get("state"), nil)
			if err != nil {
				return err
			}
			r.Host = "evil.example" // a name that was made to point here
			answer, err := browser.Do(r)
			if err != nil {
				return err
			}
			_ = answer.Body.Close()
			statuses["foreign host"] = answer.StatusCode
			return show(address, authority)
		}
	})
	if err != nil {
		t.Errorf("the right answer was not taken afterwards: %v", err)
	}
	for what, status := range statuses {
		if status != http.StatusBadRequest {
			t.Errorf("%s was answered with status %d", what, status)
		}
	}
	if len(statuses) != 4 {
		t.Errorf("tried %d answers", len(statuses))
	}
}

func TestNobodySigningInEndsWithTheContext(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	c := newClient(t, &memory{kept: map[string][]byte{}}, nil)
	err := c.Login(ctx, Login{Server: "files", URL: w.url(), Show: func(string, string) error { cancel(); return nil }})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "nobody signed in") {
		t.Errorf("%v", err)
	}
}

func TestKnownClientIsNotRegisteredAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.authority = func(m map[string]any) { delete(m, "registration_endpoint") }
	sent := make(chan string, 1)
	w.token = func(out http.ResponseWriter, r *http.Request) {
		id, secret, _ := r.BasicAuth()
		sent <- id + " " + secret
		token("a", "Bearer")(out, r)
	}
	err := w.signIn(newClient(t, &memory{kept: map[string][]byte{}}, nil), func(l *Login) {
		l.ClientID, l.ClientSecret = "me", "s/cret"
		show := l.Show
		l.Show = func(address, authority string) error {
			u, err := url.Parse(address)
			if err != nil {
				return err
			}
			w.mu.Lock()
			w.clients["me"] = u.Query().Get("redirect_uri")
			w.mu.Unlock()
			return show(address, authority)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := <-sent; got != "me s%2Fcret" { // RFC 6749, section 2.3.1: both parts are form-encoded
		t.Errorf("authenticated as %q", got)
	}
}

func TestUnusableAddressIsRefusedWithoutShowingIt(t *testing.T) {
	t.Parallel()
	c := newClient(t, &memory{kept: map[string][]byte{}}, nil)
	for _, address := range []string{"http://example.com/mcp?key=canary", "https://u:canary@example.com", "file:///canary", "://canary", ""} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := c.Login(ctx, Login{Server: "s", URL: address}); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", address, err)
		}
		cancel()
	}
}
