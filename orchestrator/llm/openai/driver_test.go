package openai

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
)

var update = flag.Bool("update", false, "write the golden files anew")

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

func params(t *testing.T, p *Provider, r llm.Request) []byte {
	t.Helper()
	translated, err := p.params(r)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(translated)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// The request shows where reasoning and Gemini's signatures go back.
func TestRequestIsAsRecorded(t *testing.T) {
	t.Parallel()
	p := &Provider{host: "models.test", model: "test-model", maxTokens: 500}
	golden(t, "request.json", params(t, p, llm.Request{
		System: pii.Static("Be brief."),
		Tools:  []llm.Tool{{Name: "execute_code", Description: pii.Static("Runs code."), InputSchema: pii.Static(`{"type":"object","properties":{"code":{"type":"string","minLength":1}},"required":["code"]}`)}},
		Messages: []llm.Message{
			{Role: llm.User, Parts: []llm.Part{llm.Text{Text: pii.Static("one")}}},
			{Role: llm.Assistant, Parts: []llm.Part{
				llm.NewOpaque("openai@models.test/test-model", []byte(`{"message":{"reasoning_content":"hm"},"calls":{"a":{"google":{"thought_signature":"c2lnbg=="}}}}`)),
				llm.NewOpaque("openai@elsewhere.test/test-model", []byte(`{"message":{"reasoning_content":"foreign"}}`)),
				llm.Text{Text: pii.Static("two")},
				llm.ToolUse{ID: "a", Name: "execute_code", Arguments: pii.Static(`{"code":"return 1"}`)},
				llm.ToolUse{ID: "b", Name: "execute_code", Arguments: pii.Static(``)},
			}},
			{Role: llm.User, Parts: []llm.Part{
				llm.Text{Text: pii.Static("said before the results")},
				llm.ToolResult{ID: "a", Content: pii.Static("1")},
				llm.ToolResult{ID: "b", Content: pii.Static("it threw"), IsError: true},
			}},
		},
	}))
}

// A conversation that began with another model goes on with Gemini.
func TestGeminiIsExcusedFromSignaturesOfOthers(t *testing.T) {
	t.Parallel()
	conversation := llm.Request{Messages: []llm.Message{
		{Role: llm.Assistant, Parts: []llm.Part{
			llm.ToolUse{ID: "a", Name: "f", Arguments: pii.Static(`{}`)},
			llm.ToolUse{ID: "b", Name: "f", Arguments: pii.Static(`{}`)},
		}},
		{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "a", Content: pii.Static("1")}, llm.ToolResult{ID: "b", Content: pii.Static("2")}}},
	}}
	const mark = `"extra_content":{"google":{"thought_signature":"skip_thought_signature_validator"}}`
	if body := params(t, &Provider{host: googleHost, model: "m"}, conversation); bytes.Count(body, []byte(mark)) != 1 {
		t.Errorf("want the mark once in\n%s", body)
	}
	if body := params(t, &Provider{host: "models.test", model: "m"}, conversation); bytes.Contains(body, []byte("extra_content")) {
		t.Errorf("others get the mark too:\n%s", body)
	}
	signed := llm.NewOpaque("openai@"+googleHost+"/m", []byte(`{"calls":{"a":{"google":{"thought_signature":"c2lnbg=="}}}}`))
	conversation.Messages[0].Parts = append(conversation.Messages[0].Parts, signed)
	if body := params(t, &Provider{host: googleHost, model: "m"}, conversation); bytes.Contains(body, []byte("skip_")) || !bytes.Contains(body, []byte("c2lnbg==")) {
		t.Errorf("Gemini's own signature is not what goes back:\n%s", body)
	}
}

func TestTheAnswersBoundHasTheNameThatTheServerKnows(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"api.openai.com": `"max_completion_tokens":9`, "x.openai.azure.com": `"max_completion_tokens":9`, "127.0.0.1:11434": `"max_tokens":9`,
	} {
		if body := params(t, &Provider{host: host, model: "m"}, llm.Request{MaxTokens: 9}); !bytes.Contains(body, []byte(want)) {
			t.Errorf("%s: no %s in %s", host, want, body)
		}
	}
	if body := params(t, &Provider{host: "h", model: "m"}, llm.Request{}); bytes.Contains(body, []byte("max_")) {
		t.Errorf("unasked bound in %s", body)
	}
}

// Not parallel: it changes the environment.
func TestEnvironmentIsNotUsed(t *testing.T) {
	for name, value := range map[string]string{
		"OPENAI_BASE_URL": "http://127.0.0.1:1", "OPENAI_API_KEY": "env-key", "OPENAI_ADMIN_KEY": "env-admin", "OPENAI_ORG_ID": "env-org",
		"OPENAI_PROJECT_ID": "env-project", "OPENAI_CUSTOM_HEADERS": "X-From-Env: yes", "OPENAI_LOG": "debug",
		"HTTP_PROXY": "http://127.0.0.1:1", "http_proxy": "http://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	s := llmtest.NewServer(t, llmtest.Turn{Text: "ok"}, llmtest.Turn{Text: "ok"})
	for i, key := range []string{"test-key", ""} {
		p, err := New(Options{APIKey: key, BaseURL: s.OpenAIURL(), Model: "m", HTTPClient: s.Client()})
		if err != nil {
			t.Fatal(err)
		}
		if got := llmtest.Collect(p.Stream(t.Context(), llm.Request{})); got.Text != "ok" {
			t.Fatalf("got %+v", got)
		}
		h := s.Headers()[i]
		want := ""
		if key != "" {
			want = "Bearer " + key
		}
		if h.Get("Authorization") != want || h.Get("Openai-Organization") != "" || h.Get("Openai-Project") != "" || h.Get("X-From-Env") != "" {
			t.Errorf("headers %v", h)
		}
	}
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	good := Options{APIKey: "k", Model: "m"}
	for _, o := range []Options{good, {BaseURL: "http://127.0.0.1:11434/v1", Model: "m"}} {
		if _, err := New(o); err != nil {
			t.Fatal(err)
		}
	}
	for want, spoil := range map[string]func(*Options){
		"no API key":       func(o *Options) { o.APIKey = "" },
		"white space":      func(o *Options) { o.APIKey = "secret\n" },
		"no model":         func(o *Options) { o.Model = "" },
		"max tokens is -1": func(o *Options) { o.MaxTokens = -1 },
		"idle time":        func(o *Options) { o.Idle = -1 },
		"base URL must be": func(o *Options) { o.BaseURL = "localhost" },
		"user or password": func(o *Options) { o.BaseURL = "https://u:secret@h" },
	} {
		o := good
		spoil(&o)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// events is a decoder of chunks that are at hand.
type events struct {
	chunks []string
	next   int
}

func (e *events) Next() bool             { e.next++; return e.next <= len(e.chunks) }
func (e *events) Event() ssestream.Event { return ssestream.Event{Data: []byte(e.chunks[e.next-1])} }
func (e *events) Close() error           { return nil }
func (e *events) Err() error             { return nil }

// play feeds chunks to a turn that follows three messages.
func play(chunks ...string) llmtest.Answer {
	return llmtest.Collect(func(yield func(llm.Event, error) bool) {
		turn := newTurn("openai@test", 3)
		if err := turn.read(&events{chunks: chunks}, yield); err != nil {
			yield(nil, err)
			return
		}
		turn.end(yield)
	})
}

func delta1(d string) string {
	return `{"choices":[{"index":0,"delta":` + d + `,"finish_reason":null}]}`
}

func finish(reason string) string {
	return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
}

func TestDialects(t *testing.T) {
	t.Parallel()
	call := func(id, name, arguments string) llm.Call { return llm.Call{ID: id, Name: name, Arguments: arguments} }
	for name, tt := range map[string]struct {
		chunks []string
		text   string
		calls  []llm.Call
		stop   llm.StopReason
		kept   string
	}{
		"Gemini counts every call as the first and signs it": {
			chunks: []string{
				delta1(`{"role":"assistant","tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":"{\"n\":1}"},"extra_content":{"google":{"thought_signature":"c2lnbg=="}}}]}`),
				delta1(`{"tool_calls":[{"index":0,"id":"y","type":"function","function":{"name":"f","arguments":"{\"n\":2}"}}]}`),
				finish("stop"),
			},
			calls: []llm.Call{call("x", "f", `{"n":1}`), call("y", "f", `{"n":2}`)}, stop: llm.StopTools,
			kept: `{"calls":{"x":{"google":{"thought_signature":"c2lnbg=="}}}}`,
		},
		"the same without ids": {
			chunks: []string{
				delta1(`{"tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":"{\"n\":1}"}}]}`),
				delta1(`{"tool_calls":[{"index":0,"id":"","function":{"name":"f","arguments":"{\"n\":2}"}}]}`),
				finish("tool_calls"), "[DONE]", delta1(`{"content":"after the end"}`),
			},
			calls: []llm.Call{call("airlock_3_0", "f", `{"n":1}`), call("airlock_3_1", "f", `{"n":2}`)}, stop: llm.StopTools,
		},
		"Ollama sends whole calls, here without indexes": {
			chunks: []string{
				delta1(`{"content":"","tool_calls":[{"id":"a","function":{"name":"f","arguments":{"n":1}}},{"id":"b","function":{"name":"g","arguments":{}}}]}`),
				finish("stop"), "[DONE]",
			},
			calls: []llm.Call{call("a", "f", `{"n":1}`), call("b", "g", `{}`)}, stop: llm.StopTools,
		},
		"vLLM interleaves calls and reasons beside the text": {
			chunks: []string{
				delta1(`{"role":"assistant","content":null,"reasoning_content":"two "}`), delta1(`{"reasoning_content":"calls"}`),
				delta1(`{"content":"Look"}`),
				delta1(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n"}},{"index":1,"id":"b","function":{"name":"g","arguments":"{"}}]}`),
				delta1(`{"tool_calls":[{"index":1,"function":{"arguments":"}"}},{"index":0,"function":{"arguments":"\":1}"}}]}`),
				finish("tool_calls"),
			},
			text: "Look", calls: []llm.Call{call("a", "f", `{"n":1}`), call("b", "g", `{}`)}, stop: llm.StopTools,
			kept: `{"message":{"reasoning_content":"two calls"}}`,
		},
		"a server that repeats id and name in every piece": {
			chunks: []string{
				delta1(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"n\":"}}]}`),
				delta1(`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"1}"}}]}`),
				finish("tool_calls"),
			},
			calls: []llm.Call{call("a", "f", `{"n":1}`)}, stop: llm.StopTools,
		},
		"LiteLLM passes signed blocks in pieces": {
			chunks: []string{
				delta1(`{"thinking_blocks":[{"type":"thinking","thinking":"one ","signature":null}]}`),
				delta1(`{"thinking_blocks":[{"type":"thinking","thinking":"two"}]}`),
				delta1(`{"thinking_blocks":[{"type":"thinking","thinking":"","signature":"c2lnbg=="}]}`),
				delta1(`{"thinking_blocks":[{"type":"thinking","thinking":"three","signature":"b3RoZXI="}]}`),
				delta1(`{"content":"ok"}`), finish("stop"),
			},
			text: "ok", stop: llm.StopEnd,
			kept: `{"message":{"thinking_blocks":[{"type":"thinking","thinking":"one two","signature":"c2lnbg=="},{"type":"thinking","thinking":"three","signature":"b3RoZXI="}]}}`,
		},
		"OpenRouter tells reasoning in details, and errors that are none": {
			chunks: []string{
				`{"error":null,"choices":[{"index":0,"delta":{"content":"","reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm","format":"f","index":0}]},"finish_reason":null}]}`,
				delta1(`{"reasoning":"!","reasoning_details":[{"type":"reasoning.text","text":"!","index":0},{"type":"reasoning.encrypted","data":"AA==","index":1}]}`),
				delta1(`{"content":"ok"}`), finish("stop"),
			},
			text: "ok", stop: llm.StopEnd,
			kept: `{"message":{"reasoning":"hm!","reasoning_details":[{"type":"reasoning.text","text":"hm!","format":"f","index":0},{"type":"reasoning.encrypted","data":"AA==","index":1}]}}`,
		},
		"other choices are not ours": {
			chunks: []string{`{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"stop"},{"index":0,"delta":{"content":"yes"},"finish_reason":"stop"}]}`},
			text:   "yes", stop: llm.StopEnd,
		},
		"a refusal is told as text": {
			chunks: []string{delta1(`{"refusal":"I will "}`), delta1(`{"refusal":"not."}`), finish("stop")},
			text:   "I will not.", stop: llm.StopRefusal,
		},
		"reasons in other words": {chunks: []string{delta1(`{"content":"x"}`), finish("eos")}, text: "x", stop: llm.StopEnd},
		"an unknown reason":      {chunks: []string{delta1(`{"content":"x"}`), finish("insufficient_system_resource")}, text: "x", stop: llm.StopOther},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := play(tt.chunks...)
			if got.Err != nil || got.Text != tt.text || got.Stop != tt.stop || len(got.Calls) != len(tt.calls) {
				t.Fatalf("got %+v", got)
			}
			for i, want := range tt.calls {
				if got.Calls[i] != want {
					t.Errorf("call %d: %+v, want %+v", i, got.Calls[i], want)
				}
			}
			checkKept(t, got.Reasoning, tt.kept)
		})
	}
}

func checkKept(t *testing.T, blocks []llm.Opaque, want string) {
	t.Helper()
	if want == "" {
		if len(blocks) != 0 {
			t.Errorf("kept %d blocks, want none", len(blocks))
		}
		return
	}
	if len(blocks) != 1 {
		t.Fatalf("kept %d blocks, want one", len(blocks))
	}
	data, _ := blocks[0].For("openai@test")
	var got, expected any
	if json.Unmarshal(data, &got) != nil || json.Unmarshal([]byte(want), &expected) != nil {
		t.Fatalf("not JSON: %s", data)
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(expected)
	if !bytes.Equal(a, b) {
		t.Errorf("kept %s\nwant %s", a, b)
	}
}

func TestAnEndWithoutReasonIsTruncated(t *testing.T) {
	t.Parallel()
	for _, chunks := range [][]string{{}, {"[DONE]"}, {delta1(`{"content":"x"}`), "[DONE]"}, {"", `{"choices":[]}`}, {`{}`}} {
		if got := play(chunks...); got.Err == nil || got.Stop != "" {
			t.Errorf("%q: %+v", chunks, got)
		}
	}
}

func FuzzTurn(f *testing.F) {
	f.Add(delta1(`{"tool_calls":[{"index":0,"id":"x","function":{"name":"f","arguments":"{}"},"extra_content":{"a":1}}]}`) + "\n" + finish("stop"))
	f.Add(delta1(`{"thinking_blocks":[{"type":["odd"],"index":{}}],"reasoning_details":[{"type":{},"text":7},null]}`))
	f.Add(`{"choices":[{"delta":{"content":"x","reasoning":[1]}}],"usage":{"prompt_tokens":1}}`)
	f.Fuzz(func(t *testing.T, data string) {
		got := play(strings.Split(data, "\n")...)
		if (got.Err == nil) == (got.Stop == "") || got.AfterEnd != 0 {
			t.Errorf("%q ends twice or not at all: %+v", data, got)
		}
		for _, call := range got.Calls {
			if call.ID == "" || call.Name == "" || !json.Valid([]byte(call.Arguments)) || call.Arguments[0] != '{' {
				t.Errorf("%q: call %+v", data, call)
			}
		}
	})
}
