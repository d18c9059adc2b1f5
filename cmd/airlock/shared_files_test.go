package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"go.uber.org/zap"

	"airlock/orchestrator/auth"
)

// startNATS starts a NATS server in this process and gives its URL.
func startNATS(t *testing.T) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the NATS server did not start")
	}
	return s.ClientURL()
}

// openShared opens a system as one of several that share a store, with a data folder of
// its own.
func openShared(t *testing.T, url string, change ...func(*Config)) *client {
	t.Helper()
	cl := openSystem(t, append([]func(*Config){func(c *Config) {
		c.NATSURL, c.StoreKey, c.SessionSecret = url, strings.Repeat("07", 32), strings.Repeat("secret", 6)
	}}, change...)...)
	if err := cl.system.service.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	return cl
}

// in runs a script in a session and gives its result.
func (c *client) in(t *testing.T, session, code string) executed {
	t.Helper()
	var out executed
	body := map[string]any{"userId": "ann", "language": "javascript", "code": code, "detokenize": true}
	if session != "" {
		body["sessionId"] = session
	}
	if err := c.do(t.Context(), "/execute", body, &out); err != nil {
		t.Fatalf("execute: %v", err)
	}
	if out.Error != nil {
		t.Fatalf("the script ended with %s: %s", out.Status, out.Error.Message)
	}
	return out
}

// TestAnotherProcessGoesOnWithAllFiles ends one of several processes that share nothing but a
// NATS server, and goes on in its session with another: the workspace, the values of an
// artifact, and the skills are there.
func TestAnotherProcessGoesOnWithAllFiles(t *testing.T) {
	t.Parallel()
	url := startNATS(t)
	one, beside := openShared(t, url), openShared(t, url)
	out := one.in(t, "", `
		const fs = require("fs");
		fs.mkdirSync("/workspace/deep");
		fs.writeFileSync("/workspace/deep/numbers.json", "[1,2,3]");
		fs.writeFileSync("/artifacts/letter.txt", "Dear bob@example.org, it is done.");
		fs.writeFileSync("/skills/three.js", "/** Returns three. */\nmodule.exports = async () => 3;\n");
		return 1;`)
	if !slices.Equal(out.Saved, []string{"three"}) || len(out.Artifacts) != 1 {
		t.Fatalf("saved %v, artifacts %v, refused %v", out.Saved, out.Artifacts, out.Refused)
	}
	if got := beside.download(t, "ann", "letter.txt"); got != "Dear bob@example.org, it is done." {
		t.Errorf("while the first one lives the artifact is %q", got)
	}
	one.close()
	two := openShared(t, url) // which knows at once that the first one has left
	const read = `
		const fs = require("fs");
		const three = await require("/skills/three.js")();
		fs.appendFileSync("/artifacts/letter.txt", " Regards");
		return JSON.parse(fs.readFileSync("/workspace/deep/numbers.json", "utf8")).concat(three);`
	if got := two.in(t, out.SessionID, read); string(got.Result) != "[1,2,3,3]" {
		t.Errorf("the second one reads %s", got.Result)
	}
	if got := beside.download(t, "ann", "letter.txt"); got != "Dear bob@example.org, it is done. Regards" {
		t.Errorf("the one beside has %q", got)
	}
	var list struct {
		Skills []struct{ Name string }
	}
	if err := beside.do(t.Context(), "/skills?userId=ann", nil, &list); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list.Skills, func(s struct{ Name string }) bool { return s.Name == "three" }) {
		t.Errorf("the one beside has the skills %v", list.Skills)
	}
}

// TestKeysCountAtEveryProcess makes a key by the command of one machine, and uses and
// revokes it at others.
func TestKeysCountAtEveryProcess(t *testing.T) {
	t.Parallel()
	url := startNATS(t)
	var config *Config
	cl := openShared(t, url, func(c *Config) { c.Auth, c.RateLimitMax, c.RateLimitWindowMs = "keys", 100, 1000; config = c })
	callers, err := config.openCallers(t.Context(), cl.system, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	if err := config.guardAPI(t.Context(), cl.system, callers, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	client, base := cl.system.api.Client()
	status := func(key string) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/tasks?userId=ann", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	elsewhere := *config
	elsewhere.DataDir = t.TempDir()
	out := filepath.Join(t.TempDir(), "out")
	command := func(run func(std streams) error) []byte {
		t.Helper()
		f, err := os.Create(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := run(streams{strings.NewReader(""), f, os.Stderr}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	var made struct {
		auth.Key
		Secret string `json:"key"`
	}
	text := command(func(std streams) error {
		return keysCreate{User: "ann", Rights: []string{"run"}, JSON: true}.Run(t.Context(), &elsewhere, std)
	})
	if err := json.Unmarshal(text, &made); err != nil {
		t.Fatal(err)
	}
	if got := status(made.Secret); got != http.StatusOK {
		t.Errorf("with a key that was made elsewhere: %d", got)
	}
	text = command(func(std streams) error { return keysList{}.Run(t.Context(), &elsewhere, std) })
	if !strings.Contains(string(text), made.ID) {
		t.Errorf("the list is %q", text)
	}
	command(func(std streams) error { return keysRevoke{ID: made.ID}.Run(t.Context(), &elsewhere, std) })
	if got := status(made.Secret); got != http.StatusUnauthorized {
		t.Errorf("with a key that was revoked elsewhere: %d", got)
	}
	if left, _ := filepath.Glob(filepath.Join(elsewhere.DataDir, "state", "keys", "*")); len(left) != 0 {
		t.Errorf("the data folder holds %v", left)
	}
}
