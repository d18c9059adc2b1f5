package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"airlock/orchestrator/auth"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
)

const webTests = "../../test/web/"

// chromium finds Chromium, or skips.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	const what = "no Chromium: apt-get install chromium, or set CHROMIUM to its program"
	if os.Getenv("AIRLOCK_REQUIRE_BROWSER") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
	return ""
}

// stage is what a browser is driven over: systems whose model answers by the first word
// of the task, which names a script in test/web/scripts.
type stage struct {
	t     *testing.T
	model *llmtest.Server
	// held are what answers wait for, oldest first.
	held chan chan struct{}
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, held: make(chan chan struct{}, 100)}
	s.model = llmtest.NewEndlessServer(t, s.turn)
	return s
}

// hold is what an answer waits for until a request to releaseURL.
func (s *stage) hold() <-chan struct{} {
	wait := make(chan struct{})
	s.held <- wait
	return wait
}

// releaseURL lets one answer go on, once the model has been asked for it.
func (s *stage) releaseURL() string {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case wait := <-s.held:
			close(wait)
		case <-r.Context().Done():
		}
	}))
	s.t.Cleanup(server.Close)
	return server.URL
}

// answers is what the model says once a task's script has run.
var answers = map[string]string{
	"chart": "Revenue by region, from all sales:\n\n![Revenue by region](<revenue by region.svg>)\n\n" +
		"**North America** leads. The figures are in [regions.csv](regions.csv).\n\n```sql\nSELECT region, SUM(amount) FROM sales GROUP BY region\n```\n",
	"customers": "The first 25 customers are in `customers.csv`. I did not see any of their names or addresses.",
	"hostile": `<script>window.ran=1</script><img src=x onerror=window.ran=1> [x](javascript:window.ran=1) ![y](https://evil.example/p.png)` +
		"\n\n<iframe src=\"javascript:top.ran=1\"></iframe>\n\n```html\n</code></pre><script>window.ran=1</script>\n```",
}

// turn reads a request in OpenAI's protocol.
func (s *stage) turn(body []byte) llmtest.Turn {
	var request struct {
		Messages []struct {
			Role    string
			Content any
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		s.t.Errorf("the model was asked %s: %v", body, err)
	}
	var text string
	ran := false
	for _, m := range request.Messages {
		switch m.Role {
		case "user":
			text, ran = askedIn(fmt.Sprint(m.Content)), false
		case "tool":
			ran = true
		}
	}
	name := strings.Trim(strings.ToLower(strings.Fields(text + " ?")[0]), ":,.[{map ")
	usage := llm.Usage{InputTokens: 1840, OutputTokens: 312}
	switch {
	case name == "wait" && !ran:
		return llmtest.Turn{Text: "First I look around.", Usage: usage, Calls: []llm.Call{call(s.t, `console.log("looked"); return 1`)}}
	case name == "wait":
		return llmtest.Turn{Text: "Here is the **end** of it.", Usage: usage, Hold: s.hold()}
	case name == "count" && ran:
		return llmtest.Turn{Text: "That was all.", Usage: usage, Hold: s.hold()}
	case ran:
		return llmtest.Turn{Text: answers[name] + " ", Usage: usage}
	}
	code, err := os.ReadFile(webTests + "scripts/" + filepath.Base(name) + ".js")
	if err != nil {
		return llmtest.Turn{Text: "You said: " + text, Usage: usage}
	}
	return llmtest.Turn{Text: "I write a script for that.", Usage: usage, Calls: []llm.Call{call(s.t, string(code))}}
}

// askedIn is the task in what a model is told, after the note on its files.
func askedIn(said string) string {
	if note, task, ok := strings.Cut(said, "\n\n"); ok && strings.HasPrefix(note, "Files that came") {
		return task
	}
	return said
}

func call(t *testing.T, code string) llm.Call {
	arguments, err := json.Marshal(map[string]string{"code": code})
	if err != nil {
		t.Error(err)
	}
	return llm.Call{Name: "execute_code", Arguments: string(arguments)}
}

func (s *stage) played(c *Config) {
	c.LLMProvider, c.LLMAPIKey, c.LLMModel, c.LLMBaseURL = "openai", "k", "some-model", s.model.OpenAIURL()
}

// guarded asks before each query.
func guarded(t *testing.T) func(*Config) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.json")
	entry := `{"schemaVersion":1,"servers":{"database":{"transport":"builtin","tools":{"approval":{"query":"required"}}}}}`
	if err := os.WriteFile(path, []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(c *Config) { c.Catalog = path }
}

// serveForKeys serves a system that wants keys, and makes three.
func serveForKeys(t *testing.T, s *stage) (base string, keys map[string]string) {
	t.Helper()
	base, c := serveSystem(t, s.played, guarded(t), func(c *Config) { c.Auth, c.RateLimitMax, c.RateLimitWindowMs = "keys", 1000, 60_000 })
	store, err := auth.NewKeys(c.system.callers, c.system.keys.callers)
	if err != nil {
		t.Fatal(err)
	}
	keys = map[string]string{}
	for name, rights := range map[string]auth.Rights{"all": {Run: true, Reveal: true, Approve: true}, "run": {Run: true}} {
		if _, keys[name], err = store.Create(t.Context(), "ann@example.org", rights, ""); err != nil {
			t.Fatal(err)
		}
	}
	return base, keys
}

// TestWebPage drives the page with a browser: test/web/page.mjs says what it does.
func TestWebPage(t *testing.T) {
	program := chromium(t)
	s := newStage(t)
	keyed, keys := serveForKeys(t, s)
	issuer := newIssuer(t)
	line := newLine(t)
	control := line.lead(t, serveOnLoopback(t, s.played, func(c *Config) { c.AllowedHosts = []string{line.address()} }))
	drive(t, program, "page.mjs", map[string]any{
		"plain": serveOnLoopback(t), "played": serveOnLoopback(t, s.played), "guarded": serveOnLoopback(t, s.played, guarded(t)),
		"keyed": keyed, "keys": keys, "release": s.releaseURL(),
		"issued": serveOnLoopback(t, s.played, issuer.trusted), "tokens": issuer.tokens,
		"line": "http://" + line.address(), "control": control,
	})
}

// TestScreenshots makes the pictures of the README, where AIRLOCK_SCREENSHOTS says.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("AIRLOCK_SCREENSHOTS")
	if dir == "" {
		t.Skip("make screenshots makes them")
	}
	program := chromium(t)
	s := newStage(t)
	drive(t, program, "screenshots.mjs", map[string]any{
		"plain": serveOnLoopback(t), "played": serveOnLoopback(t, s.played), "guarded": serveOnLoopback(t, s.played, guarded(t)), "dir": dir,
	})
}

// driveTime bounds one script of test/web, which takes a minute, and many on a busy machine.
const driveTime = 10 * time.Minute

// drive runs a script of test/web, each of whose lines tells how one part of it went.
func drive(t *testing.T, program, script string, config map[string]any) {
	t.Helper()
	config["browser"] = program
	argument, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), driveTime)
	defer cancel()
	command := exec.CommandContext(ctx, "node", webTests+script, string(argument))
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("%v; install Node.js", err)
	}
	parts := 0
	for lines := bufio.NewScanner(out); lines.Scan(); parts++ {
		var part struct{ Name, Error, Note string }
		if err := json.Unmarshal(lines.Bytes(), &part); err != nil {
			t.Errorf("%s printed %s", script, lines.Bytes())
			continue
		}
		t.Run(part.Name, func(t *testing.T) {
			if part.Note != "" {
				t.Log(part.Note)
			}
			if part.Error != "" {
				t.Error(part.Error)
			}
		})
	}
	if err := command.Wait(); err != nil || parts == 0 {
		t.Fatalf("%s: %v after %d parts (make deps installs what it needs)\n%s", script, err, parts, stderr.Bytes())
	}
}
