package bridge

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"airlock/servers"
	"airlock/servers/database"
)

// newShop is a rig on the real servers: a Manager with the built-in database.
func newShop(tb testing.TB) *rig {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "catalog.json")
	if err := os.WriteFile(file, []byte(`{"schemaVersion":1,"servers":{"database":{"transport":"builtin"},"other":{"transport":"builtin"}}}`), 0o600); err != nil {
		tb.Fatal(err)
	}
	catalog, err := servers.LoadCatalog(file, os.LookupEnv)
	if err != nil {
		tb.Fatal(err)
	}
	shop, err := database.New(database.Options{Seed: 1})
	if err != nil {
		tb.Fatal(err)
	}
	manager, err := servers.New(servers.Options{Catalog: catalog, Builtins: map[string]servers.Builtin{"database": shop, "other": shop}})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := manager.Close(); err != nil {
			tb.Error(err)
		}
	})
	return newRig(tb, func(o *Options, _ *Grant) { o.Upstreams = manager })
}

// rows reads what a query answered.
func rows(tb testing.TB, body string) []map[string]any {
	tb.Helper()
	var result struct{ Content []struct{ Text string } }
	if err := json.Unmarshal([]byte(body), &result); err != nil || len(result.Content) != 1 {
		tb.Fatalf("%v: %s", err, body)
	}
	var all []map[string]any
	if err := json.Unmarshal([]byte(result.Content[0].Text), &all); err != nil {
		tb.Fatalf("%v: %s", err, result.Content[0].Text)
	}
	return all
}

// A script finds the sample shop's tools, reads customers as tokens, and asks for
// one of them by his token; another server is not given it.
func TestRealShop(t *testing.T) {
	t.Parallel()
	r := newShop(t)
	if got := names(t, r.list("?query=run%20sql%20query&server=database&limit=1")); len(got) != 1 || got[0] != "database__query" {
		t.Errorf("found %v", got)
	}
	status, body := r.do(http.MethodGet, "/v1/tools/database__query", "")
	if status != http.StatusOK || !strings.Contains(body, `declare function callMCPTool(name: \"database__query\", args: {`) {
		t.Errorf("details: %d %s", status, body)
	}
	status, body = r.call("database__query", `{"query":"SELECT id, email, phone FROM customers ORDER BY id LIMIT 3"}`)
	if status != http.StatusOK || strings.Contains(body, "@") {
		t.Fatalf("got %d %s", status, body)
	}
	customers := rows(t, body)
	email, _ := customers[0]["email"].(string)
	if !regexp.MustCompile(`^\[EMAIL_\d+_k7q2f\]$`).MatchString(email) {
		t.Fatalf("the e-mail is %q", email)
	}
	query, err := json.Marshal(map[string]string{"query": "SELECT id FROM customers WHERE email = '" + email + "'"})
	if err != nil {
		t.Fatal(err)
	}
	status, body = r.call("database__query", string(query))
	if status != http.StatusOK || len(rows(t, body)) != 1 || rows(t, body)[0]["id"] != customers[0]["id"] {
		t.Errorf("asked by token: %d %s", status, body)
	}
	if status, body = r.call("other__query", string(query)); status != http.StatusForbidden || codeOf(t, body) != "release_refused" {
		t.Errorf("another server: %d %s", status, body)
	}
	if status, body = r.call("database__query", `{"query":7}`); status != http.StatusUnprocessableEntity {
		t.Errorf("bad arguments: %d %s", status, body)
	}
	if status, body = r.call("database__query", `{"query":"SELECT nonsense"}`); status != http.StatusOK || !strings.Contains(body, `"isError":true`) {
		t.Errorf("a tool's own error: %d %s", status, body)
	}
}

func BenchmarkRealShop(b *testing.B) {
	r := newShop(b)
	const arguments = `{"query":"SELECT id, category, amount FROM sales LIMIT 10"}`
	b.Run("direct", func(b *testing.B) {
		for b.Loop() {
			if _, err := r.bridge.options.Upstreams.CallWatched(b.Context(), r.access.caller(), "database__query", json.RawMessage(arguments), nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("bridge", func(b *testing.B) {
		for b.Loop() {
			r.renew()
			if status, body := r.call("database__query", arguments); status != http.StatusOK {
				b.Fatal(status, body)
			}
		}
	})
}
