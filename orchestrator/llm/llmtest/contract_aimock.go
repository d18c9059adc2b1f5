package llmtest

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"airlock/orchestrator/llm"
	"airlock/pii"
)

// aimockFixtures has an answer for each task of RunAimock, by a word in it.
const aimockFixtures = `{"fixtures":[
 {"match":{"userMessage":"greet"},"response":{"content":"Hello there, how are you today?","reasoning":"somebody greets","usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}},
 {"match":{"userMessage":"count","hasToolResult":true},"response":{"content":"There are 42."}},
 {"match":{"userMessage":"count"},"response":{"content":"Let me see.","toolCalls":[{"name":"execute_code","arguments":"{\"code\":\"return 6*7\"}"},{"name":"list_mcp_tools","arguments":"{}"}]}},
 {"match":{"userMessage":"ramble"},"response":{"content":"and so on and on","finishReason":"length"}},
 {"match":{"userMessage":"truncate"},"response":{"content":"this will be cut off before its end"},"latency":20,"truncateAfterChunks":3},
 {"match":{"userMessage":"throttle"},"response":{"error":{"message":"canary-7f3a","type":"rate_limit_error","code":"rate_limit_exceeded"},"status":429,"retryAfter":30}},
 {"match":{"userMessage":"overload"},"response":{"error":{"message":"canary-7f3a","type":"overloaded_error"},"status":529}},
 {"match":{"userMessage":"refuse"},"response":{"error":{"message":"prompt is too long: canary-7f3a","type":"invalid_request_error"},"status":400}},
 {"match":{"userMessage":"chaos-drop"},"response":{"content":"x"},"chaos":{"dropRate":1}},
 {"match":{"userMessage":"chaos-malformed"},"response":{"content":"x"},"chaos":{"malformedRate":1}},
 {"match":{"userMessage":"chaos-disconnect"},"response":{"content":"x"},"chaos":{"disconnectRate":1}},
 {"match":{"userMessage":"chaos-ratelimit"},"response":{"content":"x"},"chaos":{"rateLimitRate":1}}
]}`

// RunAimock is the contract once more, against a double that somebody else wrote.
func RunAimock(t *testing.T, build func(t testing.TB, at Target) llm.Provider) {
	t.Helper()
	mock := StartAimock(t, aimockFixtures)
	p := build(t, mock.Target())
	ask := func(t *testing.T, r llm.Request) Answer {
		t.Helper()
		got := Collect(p.Stream(t.Context(), r))
		checkAnswer(t, got)
		return got
	}
	t.Run("text and reasoning", func(t *testing.T) {
		got := ask(t, task(pii.Static("greet")))
		if got.Text != "Hello there, how are you today?" || got.Deltas < 3 || got.Stop != llm.StopEnd || len(got.Reasoning) != 1 {
			t.Errorf("got %+v", got)
		}
		if got.Usage.InputTokens != 10 || got.Usage.OutputTokens != 5 {
			t.Errorf("usage %+v", got.Usage)
		}
	})
	t.Run("calls and their results", func(t *testing.T) { aimockCalls(t, mock, ask) })
	t.Run("faults", func(t *testing.T) { aimockFaults(t, ask) })
}

// task is a request with nothing but a task.
func task(text pii.Tokenized) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{Text: text}}}}}
}

func aimockCalls(t *testing.T, mock *Aimock, ask func(*testing.T, llm.Request) Answer) {
	t.Helper()
	r := task(pii.Static("count the orders of [EMAIL_1_k7q2f]"))
	r.System, r.Tools = question().System, question().Tools
	got := ask(t, r)
	if got.Text != "Let me see." || got.Stop != llm.StopTools || len(got.Calls) != 2 {
		t.Fatalf("got %+v", got)
	}
	if got.Calls[0].Name != "execute_code" || got.Calls[0].Arguments != `{"code":"return 6*7"}` || got.Calls[1].Arguments != "{}" {
		t.Errorf("calls %+v", got.Calls)
	}
	r.Messages = append(r.Messages,
		llm.Message{Role: llm.Assistant, Parts: []llm.Part{
			llm.Text{Text: pii.Static("Let me see.")},
			llm.ToolUse{ID: got.Calls[0].ID, Name: "execute_code", Arguments: pii.Static(`{"code":"return 6*7"}`)},
			llm.ToolUse{ID: got.Calls[1].ID, Name: "list_mcp_tools", Arguments: pii.Static("{}")},
		}},
		llm.Message{Role: llm.User, Parts: []llm.Part{
			llm.ToolResult{ID: got.Calls[0].ID, Content: pii.Static(`{"status":"ok","result":42}`)},
			llm.ToolResult{ID: got.Calls[1].ID, Content: pii.Static("no such server"), IsError: true},
		}})
	if got := ask(t, r); got.Text != "There are 42." {
		t.Errorf("after the results: %+v", got)
	}
	requests := mock.Requests(t)
	last := requests[len(requests)-1].Body
	for _, want := range []string{"[EMAIL_1_k7q2f]", "Be brief.", got.Calls[0].ID, got.Calls[1].ID, `return 6*7`, `\"result\":42`, "no such server", "execute_code"} {
		if !bytes.Contains(last, []byte(want)) {
			t.Errorf("no %s in\n%s", want, last)
		}
	}
}

func aimockFaults(t *testing.T, ask func(*testing.T, llm.Request) Answer) {
	t.Helper()
	if got := ask(t, task(pii.Static("ramble"))); got.Stop != llm.StopLength || got.Text == "" {
		t.Errorf("cut at its length: %+v", got)
	}
	if got := ask(t, task(pii.Static("truncate"))); !errors.Is(got.Err, llm.ErrTruncated) {
		t.Errorf("truncated: %+v", got)
	}
	for text, want := range map[pii.Tokenized]llm.Error{
		pii.Static("throttle"):         {Status: 429, Retry: true, After: 30 * time.Second},
		pii.Static("overload"):         {Status: 529, Retry: true},
		pii.Static("refuse"):           {Status: 400, Code: "context_length_exceeded"},
		pii.Static("chaos-drop"):       {Status: 500, Retry: true},
		pii.Static("chaos-malformed"):  {Status: 200, Retry: true, Code: "not_a_stream"},
		pii.Static("chaos-disconnect"): {Status: 0, Retry: true},
		pii.Static("chaos-ratelimit"):  {Status: 429, Retry: true, After: time.Second},
		pii.Static("nothing matches"):  {Status: 404},
	} {
		fault := asError(t, ask(t, task(text)).Err)
		if fault.Status != want.Status || fault.Retry != want.Retry || fault.After != want.After || (want.Code != "" && fault.Code != want.Code) {
			t.Errorf("%s: got %+v", text, fault)
		}
	}
}
