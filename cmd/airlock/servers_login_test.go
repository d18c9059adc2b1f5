package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// signInServer is a remote server with an authorization server of its own that
// lets everybody in.
func signInServer(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	reply := func(pattern string, body map[string]any) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(body)
		})
	}
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
	reply("GET /.well-known/oauth-protected-resource/mcp", map[string]any{
		"resource": server.URL + "/mcp", "authorization_servers": []string{server.URL}})
	reply("GET /.well-known/oauth-authorization-server", map[string]any{
		"issuer": server.URL, "authorization_endpoint": server.URL + "/authorize", "token_endpoint": server.URL + "/token",
		"registration_endpoint": server.URL + "/register", "code_challenge_methods_supported": []string{"S256"}})
	reply("POST /register", map[string]any{"client_id": "me"})
	reply("POST /token", map[string]any{"access_token": "canary-access", "token_type": "Bearer", "refresh_token": "canary-refresh"})
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+url.Values{"code": {"c"}, "state": {q.Get("state")}}.Encode(), http.StatusFound)
	})
	return server.URL
}

// browser opens the first address that it reads with a query.
type browser struct {
	t    *testing.T
	said bytes.Buffer
	done bool
}

var addressForm = regexp.MustCompile(`http://\S+\?\S+`)

func (b *browser) Write(p []byte) (int, error) {
	b.said.Write(p)
	if address := addressForm.FindString(b.said.String()); address != "" && !b.done {
		b.done = true
		go func() {
			if r, err := http.Get(address); err == nil {
				_ = r.Body.Close()
			}
		}()
	}
	return len(p), nil
}

func TestServersLoginKeepsASealedToken(t *testing.T) {
	dir := t.TempDir()
	catalog, data := filepath.Join(dir, "catalog.json"), filepath.Join(dir, "data")
	text := `{"schemaVersion":1,"servers":{"notes":{"url":"` + signInServer(t) + `/mcp"}}}`
	if err := os.WriteFile(catalog, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	screen := &browser{t: t}
	arguments := []string{"servers", "login", "notes", "--wait", "30s", "--catalog", catalog, "--data-dir", data}
	if code := run(context.Background(), arguments, streams{in: &bytes.Buffer{}, out: &out, err: screen}); code != exitOK {
		t.Fatalf("exit code %d: %s", code, screen.said.String())
	}
	if out.String() != "signed in to notes\n" {
		t.Errorf("printed %q", out.String())
	}
	kept := filepath.Join(data, "tokens", "oauth", "notes")
	sealed, err := os.ReadFile(kept)
	if err != nil || bytes.Contains(sealed, []byte("canary")) || bytes.Contains(sealed, []byte("127.0.0.1")) {
		t.Errorf("kept %q, %v", sealed, err)
	}
	arguments[1] = "logout"
	arguments = append(arguments[:3], arguments[5:]...)
	if code := run(context.Background(), arguments, streams{in: &bytes.Buffer{}, out: io.Discard, err: screen}); code != exitOK {
		t.Errorf("logout: exit code %d: %s", code, screen.said.String())
	}
	if _, err := os.Stat(kept); !os.IsNotExist(err) {
		t.Errorf("after logout: %v", err)
	}
}
