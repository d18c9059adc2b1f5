package orchestrator

import (
	"fmt"
	"strings"
	"testing"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
)

// TestLongConversationsAreShortened lets a model run scripts with long results, in
// one task and in a session of many, and looks at what each request holds.
func TestLongConversationsAreShortened(t *testing.T) {
	t.Parallel()
	const limit, scripts, tasks = 3000, 8, 6
	model := llmtest.NewScriptFunc(func(r llm.Request) llmtest.Turn {
		if n := size(r.Messages) / bytesPerToken; n > limit+limit/3 { // the latest stay whole
			t.Errorf("a request has about %d tokens, the limit is %d", n, limit)
		}
		checkPairs(t, r.Messages)
		calls := 0
		for i := len(r.Messages) - 1; i >= 0 && !says(r.Messages[i]); i-- {
			if r.Messages[i].Role == llm.Assistant {
				calls++
			}
		}
		if calls == scripts {
			return llmtest.Turn{Text: "done"}
		}
		return llmtest.Turn{Calls: []llm.Call{{ID: fmt.Sprint("c", calls), Name: toolExecute, Arguments: `{"code":"x"}`}}}
	})
	s := newTestService(t, model, returns(`"`+strings.Repeat("long ", 500)+`"`), func(l *Limits) { l.ContextTokens = limit })
	r := TaskRequest{User: user, Text: pii.NewRaw("the first task")}
	for n := range tasks {
		task := runTask(t, s, r)
		if task.Status != StatusCompleted {
			t.Fatalf("task %d is %s: %+v", n, task.Status, task.Problem)
		}
		r = TaskRequest{User: user, Session: task.Session, Text: pii.NewRaw(fmt.Sprintf("task %d", n+2))}
	}
	requests := model.Requests()
	last := told(requests[len(requests)-1:])
	for _, want := range []string{"cut to save room", "the beginning of this conversation", "task 6"} {
		if !strings.Contains(strings.ToLower(last), want) {
			t.Errorf("the last request does not say %q", want)
		}
	}
	if strings.Contains(last, "the first task") {
		t.Error("the last request still holds the first task")
	}
}

// checkPairs fails unless every result stands after its call, as providers demand.
func checkPairs(t *testing.T, messages []llm.Message) {
	t.Helper()
	var open []string
	for i, m := range messages {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolUse:
				open = append(open, p.ID)
			case llm.ToolResult:
				if len(open) == 0 || open[0] != p.ID {
					t.Errorf("message %d answers %q, which was not called", i, p.ID)
					return
				}
				open = open[1:]
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("calls %q have no results", open)
	}
}

func TestShortConversationsStayWhole(t *testing.T) {
	t.Parallel()
	model := llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("x")}}, llmtest.Turn{Text: "done"})
	s := newTestService(t, model, returns(`"`+strings.Repeat("long ", 500)+`"`))
	runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("x")})
	if strings.Contains(told(model.Requests()), "save room") {
		t.Error("a short conversation was shortened")
	}
}
