package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/zap"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
)

// serveOnLoopback serves a system on a port, for clients that are processes of their
// own, and gives its base URL.
func serveOnLoopback(t *testing.T, change ...func(*Config)) string {
	t.Helper()
	base, _ := serveSystem(t, change...)
	return base
}

// serveSystem is serveOnLoopback for who looks behind it too.
func serveSystem(t *testing.T, change ...func(*Config)) (string, *client) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var config *Config
	change = append(change, func(c *Config) { c.Port, config = listener.Addr().(*net.TCPAddr).Port, c })
	c := openSystem(t, change...)
	if config.Auth != "none" {
		callers, err := config.openCallers(t.Context(), c.system, zap.NewNop())
		if err != nil {
			t.Fatal(err)
		}
		if err := config.guardAPI(t.Context(), c.system, callers, zap.NewNop()); err != nil {
			t.Fatal(err)
		}
	}
	served := make(chan error, 1)
	go func() { served <- c.system.api.Serve(listener) }()
	t.Cleanup(func() {
		c.close()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return "http://" + listener.Addr().String(), c
}

// node runs a client of test/npm and decodes what it prints.
func node(t *testing.T, into any, script string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "node", append([]string{"../../test/npm/clients/" + script}, arguments...)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v (make deps installs what it needs)\n%s", script, err, stderr.Bytes())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("%s printed %s: %v", script, out, err)
	}
}

// chartTurns are two turns: a script that makes a picture and reads an address, and
// the answer.
func chartTurns(t *testing.T) []llmtest.Turn {
	t.Helper()
	code, err := json.Marshal(map[string]string{"code": `
		await fs.writeFile("/artifacts/by region.png", "no real picture");
		console.log((await callMCPTool("database__query", {query: "SELECT email FROM customers LIMIT 1"}))[0]);
	`})
	if err != nil {
		t.Fatal(err)
	}
	usage := llm.Usage{InputTokens: 100, OutputTokens: 20, CachedTokens: 30}
	return []llmtest.Turn{
		{Text: "I make a chart.", Calls: []llm.Call{{ID: "c", Name: "execute_code", Arguments: string(code)}}, Usage: usage},
		{Text: "Here it is.", Usage: usage},
	}
}

// playedBy lets a system be answered by a model that plays these turns.
func playedBy(t *testing.T, turns ...llmtest.Turn) (func(*Config), *llmtest.Server) {
	t.Helper()
	model := llmtest.NewServer(t, turns...)
	return func(c *Config) {
		c.LLMProvider, c.LLMAPIKey, c.LLMModel, c.LLMBaseURL = "openai", "k", "some-model", model.OpenAIURL()
	}, model
}

func TestOpenAIClient(t *testing.T) {
	t.Parallel()
	failed := llmtest.Turn{Text: "no", Stop: llm.StopRefusal}
	turns := append(append(chartTurns(t), chartTurns(t)...), failed, failed)
	played, model := playedBy(t, turns...)
	base := serveOnLoopback(t, played)
	var got struct {
		Models  []string
		Text    string
		Finish  string
		Events  []string
		Usage   map[string]any
		Whole   struct{ Text, Finish string }
		Session string
		Errors  []string
	}
	node(t, &got, "openai.mjs", base+"/v1")
	link := "\n\n![by region.png](" + base + "/artifacts/local/by%20region.png)"
	if want := "I make a chart.\n\nHere it is." + link; got.Text != want || got.Finish != "stop" {
		t.Errorf("the stream says %q and ends %q, want %q", got.Text, got.Finish, want)
	}
	if want := "Here it is." + link; got.Whole.Text != want || got.Whole.Finish != "stop" {
		t.Errorf("the answer is %q, %q; want %q", got.Whole.Text, got.Whole.Finish, want)
	}
	if got.Usage["prompt_tokens"] != 200.0 || got.Usage["completion_tokens"] != 40.0 || got.Usage["total_tokens"] != 240.0 {
		t.Errorf("the usage is %v", got.Usage)
	}
	if all := strings.Join(got.Events, " "); !strings.Contains(all, "tool.called tool.finished") || !strings.Contains(all, "artifact.created") {
		t.Errorf("the events are %s", all)
	}
	if all := strings.Join(got.Models, " "); all != "airlock openai/some-model" || !strings.HasPrefix(got.Session, "ses_") {
		t.Errorf("the models are %q, the session %q", all, got.Session)
	}
	if all := strings.Join(got.Errors, ", "); all != "404 model_not_found, 400 unsupported_content, 422 model_refused, stream model_refused" {
		t.Errorf("the errors are %s", all)
	}
	first := string(model.Requests()[0])
	if !strings.Contains(first, "Instructions of the application") || !strings.Contains(first, "I will.") || strings.Contains(first, "ann@") {
		t.Errorf("the model was told %s", first)
	}
	response, err := http.Get(base + "/artifacts/local/by%20region.png")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || string(text) != "no real picture" {
		t.Errorf("the link leads to %q, %v", text, err)
	}
}

func TestVercelAIClient(t *testing.T) {
	t.Parallel()
	played, _ := playedBy(t, append(chartTurns(t), chartTurns(t)...)...)
	base := serveOnLoopback(t, played)
	var got struct {
		Text, Finish string
		Usage        struct{ InputTokens, OutputTokens int }
		Whole        struct{ Text, Finish string }
		Error        string
	}
	node(t, &got, "ai.mjs", base+"/v1")
	if !strings.HasPrefix(got.Text, "I make a chart.\n\nHere it is.\n\n![by region.png](") || got.Finish != "stop" {
		t.Errorf("the stream says %q and ends %q", got.Text, got.Finish)
	}
	if got.Usage.InputTokens != 200 || got.Usage.OutputTokens != 40 {
		t.Errorf("the usage is %+v", got.Usage)
	}
	if !strings.HasPrefix(got.Whole.Text, "Here it is.") || got.Whole.Finish != "stop" {
		t.Errorf("the answer is %+v", got.Whole)
	}
	if !regexp.MustCompile(`^404 there is no such model: "gpt-nothing"`).MatchString(got.Error) {
		t.Errorf("the error is %q", got.Error)
	}
}
