package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
)

var update = flag.Bool("update", false, "write the golden files anew")

func target(s *llmtest.Server) llmtest.Target {
	return llmtest.Target{AnthropicURL: s.AnthropicURL(), OpenAIURL: s.OpenAIURL(), Client: s.Client()}
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, got, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, pretty.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pretty.Bytes(), want) {
		t.Errorf("%s differs; look, then run with -update. Got:\n%s", path, pretty.Bytes())
	}
}

// The request shows where the cache is marked: at the system prompt and at the
// last two messages of the user.
func TestRequestIsAsRecorded(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Turn{Text: "ok"})
	text := func(x pii.Tokenized) llm.Part { return llm.Text{Text: x} }
	llmtest.Collect(newProvider(t, target(s)).Stream(t.Context(), llm.Request{
		System: pii.Static("Be brief."),
		Tools:  []llm.Tool{{Name: "execute_code", Description: pii.Static("Runs code."), InputSchema: pii.Static(`{"type":"object","properties":{"code":{"type":"string","minLength":1}},"required":["code"]}`)}},
		Messages: []llm.Message{
			{Role: llm.User, Parts: []llm.Part{text(pii.Static("one"))}},
			{Role: llm.Assistant, Parts: []llm.Part{text(pii.Static("two"))}},
			{Role: llm.User, Parts: []llm.Part{text(pii.Static("three"))}},
			{Role: llm.Assistant, Parts: []llm.Part{
				llm.NewOpaque("anthropic/test-model", []byte(`{"type":"redacted_thinking","data":"c2VhbGVk"}`)),
				llm.ToolUse{ID: "gemini:call/1", Name: "execute_code", Arguments: pii.Static(`{"code":"return 1"}`)},
				llm.ToolUse{ID: "b", Name: "execute_code", Arguments: pii.Static(``)},
			}},
			{Role: llm.User, Parts: []llm.Part{
				text(pii.Static("said before the results")),
				llm.ToolResult{ID: "gemini:call/1", Content: pii.Static("1")},
				llm.ToolResult{ID: "b", IsError: true},
			}},
		},
	}))
	golden(t, "request.json", s.Requests()[0])
}

func TestWithoutSystemPromptTheToolsAreMarked(t *testing.T) {
	t.Parallel()
	p := &Provider{model: "m", maxTokens: 1}
	params, err := p.params(llm.Request{Tools: []llm.Tool{{Name: "a", InputSchema: pii.Static("{}")}, {Name: "b", InputSchema: pii.Static("{}")}}})
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(body, []byte("cache_control")); n != 1 || !bytes.HasSuffix(body, []byte(`"cache_control":{"type":"ephemeral"}}]}`)) {
		t.Errorf("marked %d times in %s", n, body)
	}
}

func TestReasoningGoesBackVerbatim(t *testing.T) {
	t.Parallel()
	s := llmtest.NewServer(t, llmtest.Turn{Reasoning: "it's <b>7</b>", Redacted: "c2VhbGVk+/=", Text: "seven"})
	got := llmtest.Collect(newProvider(t, target(s)).Stream(t.Context(), llm.Request{}))
	if len(got.Reasoning) != 2 {
		t.Fatalf("blocks: %+v", got)
	}
	for i, want := range []string{
		`{"type":"thinking","thinking":"it's <b>7</b>","signature":"` + llmtest.Signature + `"}`,
		`{"type":"redacted_thinking","data":"c2VhbGVk+/="}`,
	} {
		data, ours := got.Reasoning[i].For("anthropic/test-model")
		if !ours || !sameJSON(t, data, []byte(want)) {
			t.Errorf("block %d: %s", i, data)
		}
		if _, theirs := got.Reasoning[i].For("openai"); theirs {
			t.Error("another provider may read it")
		}
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatalf("%v in %s", err, a)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	first, _ := json.Marshal(x)
	second, _ := json.Marshal(y)
	return bytes.Equal(first, second)
}

// countingTracers counts how often the SDK wants to trace.
type countingTracers struct {
	noop.TracerProvider
	asked atomic.Int32
}

func (c *countingTracers) Tracer(name string, o ...trace.TracerOption) trace.Tracer {
	c.asked.Add(1)
	return c.TracerProvider.Tracer(name, o...)
}

// Not parallel: it changes the environment and the global tracer.
func TestEnvironmentAndTracersAreNotUsed(t *testing.T) {
	for name, value := range map[string]string{
		"ANTHROPIC_BASE_URL": "http://127.0.0.1:1", "ANTHROPIC_API_KEY": "env-key", "ANTHROPIC_AUTH_TOKEN": "env-token",
		"ANTHROPIC_CUSTOM_HEADERS": "X-From-Env: yes", "ANTHROPIC_PROFILE": "nobody", "ANTHROPIC_LOG": "debug",
		"ANTHROPIC_OPEN_TELEMETRY": "true", "ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE": "content",
		"HTTP_PROXY": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	tracers := &countingTracers{}
	before := otel.GetTracerProvider()
	otel.SetTracerProvider(tracers)
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	s := llmtest.NewServer(t, llmtest.Turn{Text: "ok"})
	if got := llmtest.Collect(newProvider(t, target(s)).Stream(t.Context(), llm.Request{})); got.Text != "ok" {
		t.Fatalf("got %+v", got)
	}
	h := s.Headers()[0]
	if h.Get("Authorization") != "Bearer test-key" || h.Get("X-Api-Key") != "" || h.Get("X-From-Env") != "" || h.Get("Traceparent") != "" {
		t.Errorf("headers %v", h)
	}
	if n := tracers.asked.Load(); n != 0 {
		t.Errorf("the SDK asked for a tracer %d times", n)
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	good := Options{APIKey: "k", Model: "m"}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Options){
		"no API key":        func(o *Options) { o.APIKey = "" },
		"white space":       func(o *Options) { o.APIKey = "secret\n" },
		"no model":          func(o *Options) { o.Model = "" },
		"max tokens is -1":  func(o *Options) { o.MaxTokens = -1 },
		"idle time is -1ns": func(o *Options) { o.Idle = -1 },
		"base URL must be":  func(o *Options) { o.BaseURL = "localhost" },
		"user or password":  func(o *Options) { o.BaseURL = "https://u:secret@h" },
	} {
		o := good
		spoil(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestBaseURLMayEndInV1(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{"", "/", "/v1", "/v1/"} {
		s := llmtest.NewServer(t, llmtest.Turn{Text: "ok"})
		at := target(s)
		at.AnthropicURL += suffix
		if got := llmtest.Collect(newProvider(t, at).Stream(t.Context(), llm.Request{})); got.Text != "ok" {
			t.Errorf("%q: %+v", suffix, got)
		}
	}
}

// play feeds events to a turn, as the SDK decodes them.
func play(t testing.TB, events ...string) llmtest.Answer {
	t.Helper()
	return llmtest.Collect(func(yield func(llm.Event, error) bool) {
		turn := newTurn("test", 3)
		for _, line := range events {
			var e sdk.MessageStreamEventUnion
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatal(err)
			}
			got, err := turn.take(e)
			if !yieldAll(yield, got, err) {
				return
			}
		}
		got, err := turn.end()
		yieldAll(yield, got, err)
	})
}

func TestStreamsOfOtherServers(t *testing.T) {
	t.Parallel()
	const start = `{"type":"message_start","message":{"usage":{"input_tokens":5,"cache_read_input_tokens":90,"cache_creation_input_tokens":7,"output_tokens":1}}}`
	const stop = `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`
	const tool = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`

	got := play(t, start, tool, `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1}"}}`, stop)
	if len(got.Calls) != 1 || got.Calls[0].Arguments != `{"n":1}` {
		t.Errorf("a block that is not closed: %+v", got)
	}
	if want := (llm.Usage{InputTokens: 102, OutputTokens: 9, CachedTokens: 90}); got.Usage != want {
		t.Errorf("usage %+v, want %+v", got.Usage, want)
	}
	got = play(t, start, tool, `{"type":"content_block_stop","index":0}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"whole "}}`, `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"text"}}`, stop)
	if len(got.Calls) != 1 || got.Text != "whole text" || got.Err != nil {
		t.Errorf("text after a call: %+v", got)
	}
	if got := play(t, start, `{"type":"content_block_delta","index":4,"delta":{"type":"text_delta","text":"x"}}`); got.Err == nil || got.Text != "" {
		t.Errorf("a delta of nothing: %+v", got)
	}
	if got := play(t, start, `{"type":"from_the_future"}`, `{"type":"content_block_start","index":0,"content_block":{"type":"from_the_future"}}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":6,"output_tokens":9}}`); got.Err != nil || got.Stop != llm.StopEnd || got.Usage.InputTokens != 6 {
		t.Errorf("unknown events: %+v", got)
	}
	if got := play(t, start, `{"type":"message_stop"}`); got.Err == nil {
		t.Errorf("a stop without a reason: %+v", got)
	}
}

func TestAnAnswerThatFillsTheContextIsTooLong(t *testing.T) {
	t.Parallel()
	got := play(t, `{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"},"usage":{"output_tokens":9}}`)
	if !errors.Is(got.Err, llm.ErrTooLong) {
		t.Errorf("got %+v", got)
	}
}

func FuzzTurn(f *testing.F) {
	f.Add([]byte(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{"n":1}}}`))
	f.Add([]byte(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"a"}}` + "\n" + `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"b"}}`))
	f.Add([]byte(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":-1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		turn := newTurn("test", 0)
		var events []llm.Event
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			var e sdk.MessageStreamEventUnion
			if json.Unmarshal(line, &e) != nil {
				continue
			}
			more, err := turn.take(e)
			events = append(events, more...)
			if err != nil {
				return
			}
		}
		more, err := turn.end()
		if err != nil {
			return
		}
		for _, e := range append(events, more...) {
			if call, ok := e.(llm.Call); ok && (call.ID == "" || call.Name == "" || !json.Valid([]byte(call.Arguments)) || call.Arguments[0] != '{') {
				t.Errorf("call %+v", call)
			}
			if r, ok := e.(llm.Reasoning); ok {
				if block, _ := r.Block.For(name); !json.Valid(block) {
					t.Errorf("block %s", block)
				}
			}
		}
	})
}
