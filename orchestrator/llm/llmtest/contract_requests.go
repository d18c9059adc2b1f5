package llmtest

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"airlock/orchestrator/llm"
	"airlock/pii"
)

func (c contract) requests(t *testing.T) {
	t.Parallel()
	t.Run("say all that the model is told and nothing else", c.requestsSayAll)
	t.Run("bring reasoning back to where it came from", c.reasoningComesBack)
	t.Run("leave out what is blank", c.blanksAreLeftOut)
	t.Run("may overlap", c.streamsOverlap)
	t.Run("need schemas that are objects", c.schemasAreObjects)
}

func (c contract) requestsSayAll(t *testing.T) {
	t.Parallel()
	s := NewServer(t, Turn{Text: "ok"}, Turn{Text: "ok"})
	p := c.build(t, target(s))
	Collect(p.Stream(t.Context(), question()))
	named := question()
	named.Model, named.MaxTokens = "another-model", 77
	Collect(p.Stream(t.Context(), named))
	first, second := s.Requests()[0], s.Requests()[1]
	for _, want := range []string{
		"Be brief.", "How many?", "Let me count.", "execute_code", "Runs code.", `"additionalProperties":false`,
		"return 1", "true canary", "it threw", "Go on.", `"first"`, `"second"`, `"stream":true`,
	} {
		if !bytes.Contains(first, []byte(want)) {
			t.Errorf("no %s in\n%s", want, first)
		}
	}
	for _, unasked := range []string{"temperature", "top_p", "tool_choice", "metadata", `"user":`, "seed", "thinking"} {
		if bytes.Contains(first, []byte(unasked)) {
			t.Errorf("%s in\n%s", unasked, first)
		}
	}
	if !bytes.Contains(second, []byte(`"model":"another-model"`)) || !bytes.Contains(second, []byte("77")) {
		t.Errorf("model and length are not as asked in\n%s", second)
	}
}

func (c contract) reasoningComesBack(t *testing.T) {
	t.Parallel()
	thought := "first \"count\", then <answer>"
	s := NewServer(t, Turn{Reasoning: thought, Text: "One", Calls: []llm.Call{{ID: "a", Name: "execute_code", Arguments: "{}"}}}, Turn{Text: "ok"}, Turn{Text: "ok"})
	p := c.build(t, target(s))
	got := Collect(p.Stream(t.Context(), question()))
	if len(got.Reasoning) != 1 || strings.Contains(got.Text, "first") {
		t.Fatalf("reasoning %d, text %q", len(got.Reasoning), got.Text)
	}
	r := question()
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{
			got.Reasoning[0],
			llm.NewOpaque("somebody-else", []byte(`{"type":"thinking","thinking":"foreign"}`)),
			llm.Text{Text: pii.Static("One")},
			llm.ToolUse{ID: "a", Name: "execute_code", Arguments: pii.Static("{}")},
		}},
		llm.Message{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "a", Content: pii.Static("1")}}})
	Collect(p.Stream(t.Context(), r))
	body := s.Requests()[1]
	if !bytes.Contains(body, []byte(`first \"count\", then `)) {
		t.Errorf("the reasoning did not come back in\n%s", body)
	}
	if bytes.Contains(body, []byte("foreign")) {
		t.Errorf("another provider's reasoning went out in\n%s", body)
	}
	r.Model = "another-model"
	Collect(p.Stream(t.Context(), r))
	if body := s.Requests()[2]; bytes.Contains(body, []byte("then ")) {
		t.Errorf("another model's reasoning went out in\n%s", body)
	}
	elsewhere := NewServer(t, Turn{Text: "ok"})
	Collect(c.build(t, target(elsewhere)).Stream(t.Context(), r))
	if len(elsewhere.Requests()) != 1 {
		t.Error("the conversation does not go on at another address")
	}
}

func (c contract) blanksAreLeftOut(t *testing.T) {
	t.Parallel()
	s := NewServer(t, Turn{Text: "ok"})
	got := Collect(c.build(t, target(s)).Stream(t.Context(), llm.Request{Messages: []llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.Text{Text: pii.Static("hello")}}},
		{Role: llm.Assistant, Parts: []llm.Part{llm.Text{Text: pii.Static(" \n")}}},
		{Role: llm.Assistant},
		{Role: llm.User, Parts: []llm.Part{llm.Text{Text: pii.Static("still there?")}}},
	}}))
	if got.Text != "ok" {
		t.Errorf("got %+v", got)
	}
	body := s.Requests()[0]
	for _, empty := range []string{`"assistant"`, `"tools"`, `"system"`, `"content":[]`, `"content":""`} {
		if bytes.Contains(body, []byte(empty)) {
			t.Errorf("%s in\n%s", empty, body)
		}
	}
}

func (c contract) streamsOverlap(t *testing.T) {
	t.Parallel()
	const many = 8
	turns := make([]Turn, many)
	for i := range turns {
		turns[i] = Turn{Text: strings.Repeat("word ", 50), Calls: []llm.Call{{ID: "a", Name: "f", Arguments: `{"n":1}`}}}
	}
	p := c.build(t, target(NewServer(t, turns...)))
	var group sync.WaitGroup
	for range many {
		group.Go(func() {
			if got := Collect(p.Stream(t.Context(), question())); got.Text != turns[0].Text || len(got.Calls) != 1 || got.Err != nil {
				t.Errorf("got %+v", got)
			}
		})
	}
	group.Wait()
}

func (c contract) schemasAreObjects(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	p := c.build(t, target(s))
	for _, schema := range []pii.Tokenized{pii.Static(""), pii.Static("[]"), pii.Static(`{"type":`), pii.Static("null")} {
		got := Collect(p.Stream(t.Context(), llm.Request{Tools: []llm.Tool{{Name: "odd", InputSchema: schema}}}))
		if got.Err == nil || !strings.Contains(got.Err.Error(), `"odd"`) {
			t.Errorf("schema %q: %v", schema, got.Err)
		}
	}
	if len(s.Requests()) != 0 {
		t.Error("a request went out nevertheless")
	}
}
