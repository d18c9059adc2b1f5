package llmtest

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"airlock/orchestrator/llm"
	"airlock/pii"
)

// Target is what a driver is made for by the contract.
type Target struct {
	// AnthropicURL and OpenAIURL are the same server's; a driver takes its own.
	AnthropicURL, OpenAIURL string
	Client                  *http.Client
	// Idle is how long the server may send nothing; 0 takes the driver's default.
	Idle time.Duration
}

// Canary stands in every request of the contract and must be in no error.
const Canary = "canary-7f3a"

// RunContract is what every driver of a remote model must pass: it does not lose,
// invent or repeat anything, tells every way of failing apart, and says nothing
// of the conversation in an error.
func RunContract(t *testing.T, build func(t testing.TB, at Target) llm.Provider) {
	t.Helper()
	c := contract{build: build}
	t.Run("Answers", c.answers)
	t.Run("Calls", c.calls)
	t.Run("Endings", c.endings)
	t.Run("Faults", c.faults)
	t.Run("Statuses", c.statuses)
	t.Run("Waiting", c.waiting)
	t.Run("Addresses", c.addresses)
	t.Run("Requests", c.requests)
}

type contract struct {
	build func(t testing.TB, at Target) llm.Provider
}

// target is where s is.
func target(s *Server) Target {
	return Target{AnthropicURL: s.AnthropicURL(), OpenAIURL: s.OpenAIURL(), Client: s.Client()}
}

// ask plays turn to a new driver and checks what holds for every answer.
func (c contract) ask(t *testing.T, turn Turn) Answer {
	t.Helper()
	s := NewServer(t, turn)
	got := Collect(c.build(t, target(s)).Stream(t.Context(), question()))
	checkAnswer(t, got)
	if n := len(s.Requests()); n != 1 {
		t.Errorf("%d requests for one stream: repeating is the agent's business", n)
	}
	return got
}

func checkAnswer(t *testing.T, got Answer) {
	t.Helper()
	if got.AfterEnd != 0 {
		t.Errorf("%d events after the end", got.AfterEnd)
	}
	if (got.Err == nil) == (got.Stop == "") {
		t.Errorf("error %v and stop reason %q: want exactly one of them", got.Err, got.Stop)
	}
	if got.Err != nil && strings.Contains(got.Err.Error(), Canary) {
		t.Errorf("the error tells what was said: %v", got.Err)
	}
	if got.Err != nil && len(got.Calls) > 0 {
		t.Errorf("calls of a broken turn: %+v", got.Calls)
	}
}

// question is a conversation with one of everything.
func question() llm.Request {
	return llm.Request{
		System: pii.Static("Be brief. canary-7f3a"),
		Tools: []llm.Tool{{Name: "execute_code", Description: pii.Static("Runs code. canary-7f3a"),
			InputSchema: pii.Static(`{"type":"object","properties":{"code":{"type":"string"}},"required":["code"],"additionalProperties":false}`)}},
		Messages: []llm.Message{
			{Role: llm.User, Parts: []llm.Part{llm.Text{Text: pii.Static("How many? canary-7f3a")}}},
			{Role: llm.Assistant, Parts: []llm.Part{
				llm.Text{Text: pii.Static("Let me count.")},
				llm.ToolUse{ID: "first", Name: "execute_code", Arguments: pii.Static(`{"code":"return 1 < 2"}`)},
				llm.ToolUse{ID: "second", Name: "execute_code", Arguments: pii.Static(`{"code":"throw 1"}`)},
			}},
			{Role: llm.User, Parts: []llm.Part{
				llm.ToolResult{ID: "first", Content: pii.Static("true canary-7f3a")},
				llm.ToolResult{ID: "second", Content: pii.Static("it threw"), IsError: true},
				llm.Text{Text: pii.Static("Go on.")},
			}},
		},
	}
}

func (c contract) answers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("größer [EMAIL_1_k7q2f] 日本 \"quoted\"\n", 40)
	got := c.ask(t, Turn{Text: long, Usage: llm.Usage{InputTokens: 120, OutputTokens: 34, CachedTokens: 100}})
	if got.Text != long {
		t.Errorf("the text changed on its way: %q", got.Text)
	}
	if got.Deltas < 2 {
		t.Errorf("the text came in %d pieces: it did not stream", got.Deltas)
	}
	if want := (llm.Usage{InputTokens: 120, OutputTokens: 34, CachedTokens: 100}); got.Usage != want {
		t.Errorf("usage %+v, want %+v", got.Usage, want)
	}
	if got.Stop != llm.StopEnd {
		t.Errorf("stop reason %q", got.Stop)
	}
}

func (c contract) calls(t *testing.T) {
	t.Parallel()
	call := func(id, arguments string) llm.Call {
		return llm.Call{ID: id, Name: "execute_code", Arguments: arguments}
	}
	code := `{"code":"return \"ü\" + '}{' // [EMAIL_1_k7q2f]"}`
	for name, tt := range map[string]struct {
		turn Turn
		want []llm.Call
	}{
		"two after text": {Turn{Text: "Look:", Calls: []llm.Call{call("a", code), call("b", `{"n":2}`)}},
			[]llm.Call{call("a", code), call("b", `{"n":2}`)}},
		"byte by byte":      {Turn{Calls: []llm.Call{call("a", code)}, Fault: Fault{ArgumentBytes: 1}}, []llm.Call{call("a", code)}},
		"in one piece":      {Turn{Calls: []llm.Call{call("a", code)}, Fault: Fault{ArgumentBytes: 1 << 20}}, []llm.Call{call("a", code)}},
		"as an object":      {Turn{Calls: []llm.Call{call("a", `{"n":[1,{}]}`)}, Fault: Fault{ArgumentsAsObject: true}}, []llm.Call{call("a", `{"n":[1,{}]}`)}},
		"without arguments": {Turn{Calls: []llm.Call{call("a", "")}}, []llm.Call{call("a", "{}")}},
		"null":              {Turn{Calls: []llm.Call{call("a", "null")}}, []llm.Call{call("a", "{}")}},
		"within a string":   {Turn{Calls: []llm.Call{call("a", `"{\"n\":1}"`)}}, []llm.Call{call("a", `{"n":1}`)}},
		"reported as an ordinary end": {Turn{Calls: []llm.Call{call("a", `{"n":1}`)}, Stop: llm.StopEnd},
			[]llm.Call{call("a", `{"n":1}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.ask(t, tt.turn)
			if got.Err != nil || got.Stop != llm.StopTools || got.Text != tt.turn.Text {
				t.Errorf("got %+v", got)
			}
			if len(got.Calls) != len(tt.want) {
				t.Fatalf("calls %+v\nwant %+v", got.Calls, tt.want)
			}
			for i, want := range tt.want {
				if got.Calls[i] != want {
					t.Errorf("call %d: %+v\nwant %+v", i, got.Calls[i], want)
				}
			}
		})
	}
	t.Run("ids are made where they are missing or doubled", func(t *testing.T) {
		t.Parallel()
		got := c.ask(t, Turn{Calls: []llm.Call{call("", `{"n":1}`), call("", `{"n":2}`), call("x", `{"n":3}`)}})
		ids := map[string]bool{}
		for _, made := range got.Calls {
			ids[made.ID] = true
		}
		if len(got.Calls) != 3 || len(ids) != 3 || ids[""] {
			t.Errorf("calls %+v", got.Calls)
		}
	})
}
