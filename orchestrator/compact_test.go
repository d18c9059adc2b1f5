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
		return nextOf(r, scripts)
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

// nextOf calls one script after the other, which it numbers, until there were so many
// since the user has spoken.
func nextOf(r llm.Request, scripts int) llmtest.Turn {
	next := 0
	if last := r.Messages[len(r.Messages)-1]; !says(last) {
		_, _ = fmt.Sscanf(last.Parts[0].(llm.ToolResult).ID, "c%d", &next)
		next++
	}
	if next == scripts {
		return llmtest.Turn{Text: "done"}
	}
	return llmtest.Turn{Calls: []llm.Call{{ID: fmt.Sprint("c", next), Name: toolExecute, Arguments: `{"code":"x"}`}}}
}

// tooLong is how a provider refuses a conversation.
var tooLong = fails(llm.Error{Status: 400, Code: "context_length_exceeded", Cause: llm.ErrTooLong})

// TestRefusedConversationsAreShortened has models with less room than the configuration
// says: what they are asked must fit after two refusals at the most, and stay so.
func TestRefusedConversationsAreShortened(t *testing.T) {
	t.Parallel()
	const scripts = 12
	for name, room := range map[string]int{"half of it": 10_000, "a fourth": 5000} { // bytes
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused := 0
			model := llmtest.NewScriptFunc(func(r llm.Request) llmtest.Turn {
				checkPairs(t, r.Messages)
				if size(r.Messages) > room {
					refused++
					return tooLong
				}
				return nextOf(r, scripts)
			})
			s := newTestService(t, model, returns(`"`+strings.Repeat("long ", 500)+`"`))
			task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("the task")})
			if task.Status != StatusCompleted || task.Usage.Executions != scripts {
				t.Errorf("ended %s after %d scripts: %+v", task.Status, task.Usage.Executions, task.Problem)
			}
			if refused == 0 || refused > 2*len(keptRefused) {
				t.Errorf("the model refused %d times", refused)
			}
			requests := model.Requests()
			if last := told(requests[len(requests)-1:]); !strings.Contains(last, "the task") || !strings.Contains(last, "turns on this are left out") {
				t.Errorf("the last request does not say what is to be done, or that something is left out")
			}
		})
	}
}

func TestAConversationThatCannotBeShortEnoughEndsTheTask(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		turns []llmtest.Turn
		asked int
	}{
		"one that is short":      {[]llmtest.Turn{tooLong}, 1},
		"one that stays refused": {[]llmtest.Turn{{Calls: []llm.Call{executeCall("x")}}, {Calls: []llm.Call{executeCall("x")}}, tooLong, tooLong, tooLong}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.NewScript(tt.turns...)
			s := newTestService(t, model, returns(`"`+strings.Repeat("long ", 500)+`"`))
			task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("the task")})
			if task.Status != StatusFailed || task.Problem.Code != "context_length" || len(model.Requests()) != tt.asked {
				t.Errorf("ended %s after %d requests: %+v", task.Status, len(model.Requests()), task.Problem)
			}
		})
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
