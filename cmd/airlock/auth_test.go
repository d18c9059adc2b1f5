package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"go.uber.org/zap"

	"airlock/orchestrator/auth"
)

// TestServerTakesKeys puts the guarded API in place as serve does, and calls it with
// a key, without one, and with one that was revoked meanwhile.
func TestServerTakesKeys(t *testing.T) {
	t.Parallel()
	var config *Config
	cl := openSystem(t, func(c *Config) { c.Auth, c.RateLimitMax, c.RateLimitWindowMs = "keys", 100, 1000; config = c })
	callers, err := config.openCallers(t.Context(), cl.system, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	if err := config.guardAPI(t.Context(), cl.system, callers, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	client, base := cl.system.api.Client()
	keys, err := auth.NewKeys(cl.system.callers, cl.system.keys.callers)
	if err != nil {
		t.Fatal(err)
	}
	made, key, err := keys.Create(t.Context(), "ann", auth.Rights{Run: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	post := func(credential string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/execute", strings.NewReader(`{"code":"return 1"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", credential)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	if got := post("Bearer " + key); got != http.StatusOK {
		t.Errorf("with the key: %d", got)
	}
	if got := post(""); got != http.StatusUnauthorized {
		t.Errorf("without a key: %d", got)
	}
	if err := keys.Revoke(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	if got := post("Bearer " + key); got != http.StatusUnauthorized {
		t.Errorf("with a revoked key: %d", got)
	}
}

// TestMetricsCountWhatRan runs a script that calls a tool, and reads the counts.
func TestMetricsCountWhatRan(t *testing.T) {
	t.Parallel()
	cl := openSystem(t)
	cl.execute(t, "ann@example.org", `await callMCPTool("database__query", {query: "SELECT 1"})`, false)
	response, err := cl.http.Get(cl.base + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`airlock_execution_seconds_count{backend="wasm",language="javascript",reason="ok"} 1`,
		`airlock_tool_call_seconds_count{outcome="ok",server="database"} 1`,
	} {
		if !strings.Contains(string(text), line) {
			t.Errorf("%s is missing in %s", line, text)
		}
	}
	if strings.Contains(string(text), "ann") {
		t.Error("the user is named")
	}
}
