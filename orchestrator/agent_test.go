package orchestrator

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

const user = ident.User("user123")

// everything a model was told, in one text.
func told(requests []llm.Request) string {
	var b strings.Builder
	for _, r := range requests {
		b.WriteString(r.System.String())
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				switch p := p.(type) {
				case llm.Text:
					b.WriteString(p.Text.String())
				case llm.ToolUse:
					b.WriteString(p.Arguments.String())
				case llm.ToolResult:
					b.WriteString(p.Content.String())
				}
				b.WriteByte('\n')
			}
		}
	}
	return b.String()
}

func TestTaskRunsScriptsUntilTheModelAnswers(t *testing.T) {
	t.Parallel()
	model := llmtest.NewScript(
		llmtest.Turn{Text: "Let me count.", Calls: []llm.Call{executeCall("return 42")}},
		llmtest.Turn{Text: "There are 42."},
	)
	var code string
	s := newTestService(t, model, func(_ context.Context, x sandbox.Execution) sandbox.Result {
		code = x.Code
		return sandbox.Result{Reason: sandbox.ReasonOK, Value: pii.NewRaw(`{"count":42}`), Stdout: pii.NewRaw("counting\ndone\n")}
	})
	task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("How many?")})
	if task.Status != StatusCompleted || task.Message.String() != "There are 42." {
		t.Errorf("task ended %s with %q, want completed with the model's answer", task.Status, task.Message)
	}
	if code != "return 42" {
		t.Errorf("the sandbox got %q", code)
	}
	if task.Output.String() != `{"count":42}` {
		t.Errorf("output is %s, want what the script returned", task.Output)
	}
	if len(task.Logs) != 2 || task.Logs[1].String() != "done" {
		t.Errorf("logs are %v, want two lines", task.Logs)
	}
	if task.Usage.Turns != 2 || task.Usage.Executions != 1 {
		t.Errorf("usage is %+v, want 2 turns and 1 execution", task.Usage)
	}
	if text := told(model.Requests()); !strings.Contains(text, `{"count":42}`) || !strings.Contains(text, "counting") {
		t.Errorf("the model was not told what the script returned and printed: %s", text)
	}
}

func TestModelNeverSeesPersonalValues(t *testing.T) {
	t.Parallel()
	secrets := []string{"ann.lee@example.org", "4111 1111 1111 1111", "078-05-1120"}
	model := llmtest.NewScript(
		llmtest.Turn{Calls: []llm.Call{executeCall("return 1")}},
		llmtest.Turn{Calls: []llm.Call{executeCall("return 2")}},
		llmtest.Turn{Text: "Done."},
	)
	s := newTestService(t, model, func(_ context.Context, x sandbox.Execution) sandbox.Result {
		r := sandbox.Result{
			Reason: sandbox.ReasonOK, Value: pii.NewRaw(`{"mail":"` + secrets[0] + `"}`),
			Stdout: pii.NewRaw("card " + secrets[1] + "\n"), Stderr: pii.NewRaw("ssn " + secrets[2] + "\n"),
		}
		if x.Code == "return 2" {
			if err := x.Files.WriteFile("/artifacts/"+secrets[2]+".txt", []byte("x")); err != nil {
				t.Errorf("write: %v", err)
			}
			r.Reason, r.Error = sandbox.ReasonError, &sandbox.ScriptError{Name: secrets[2], Hint: "ask " + secrets[0], Message: pii.NewRaw("no such user " + secrets[0]), Stack: pii.NewRaw("at " + secrets[0])}
		}
		return r
	})
	task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Write to " + secrets[0])})
	if task.Status != StatusCompleted {
		t.Fatalf("task ended %s: %+v", task.Status, task.Problem)
	}
	text := told(model.Requests())
	events, _, err := s.Events(user, task.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		text += e.Data.Text.String() + e.Data.Code.String() + e.Data.Name.String()
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("the model or the event log was told %q", secret)
		}
	}
	if !strings.Contains(text, "[EMAIL_1_") {
		t.Error("the model was told no token in place of the e-mail address")
	}
}

func TestTaskEndsInOrder(t *testing.T) {
	t.Parallel()
	call := llmtest.Turn{Calls: []llm.Call{executeCall("return 1")}}
	for name, tc := range map[string]struct {
		turns  []llmtest.Turn
		run    scriptFunc
		limits func(*Limits)
		status Status
		code   string
	}{
		"when the model uses all its turns": {
			turns: []llmtest.Turn{call, call, call}, run: returns("1"), limits: func(l *Limits) { l.Turns = 2 },
			status: StatusFailed, code: "turn_limit",
		},
		"when the same script error comes three times": {
			turns: []llmtest.Turn{call, call, call, call}, run: throws("boom"), status: StatusFailed, code: "stuck",
		},
		"when the model refuses": {
			turns: []llmtest.Turn{{Text: "I will not.", Stop: llm.StopRefusal}}, status: StatusFailed, code: "model_refused",
		},
		"when the answer is cut at its length": {
			turns: []llmtest.Turn{{Text: "It goes on and", Stop: llm.StopLength}}, status: StatusFailed, code: "model_length",
		},
		"when the provider refuses for good": {
			turns:  []llmtest.Turn{{Err: &llm.Error{Provider: "test", Status: 401, Code: "bad_key", Hint: "set the key"}}},
			status: StatusFailed, code: "model_failed",
		},
		"when the script outlives the task": {
			turns: []llmtest.Turn{call}, run: waits(make(chan struct{}, 1)), limits: func(l *Limits) { l.Task = 20 * time.Millisecond },
			status: StatusFailed, code: "task_timeout",
		},
		"when a tool does not exist": {
			turns:  []llmtest.Turn{{Calls: []llm.Call{{Name: "rm_rf", Arguments: "{}"}}}, {Text: "Sorry."}},
			status: StatusCompleted,
		},
		"when arguments do not fit": {
			turns:  []llmtest.Turn{{Calls: []llm.Call{{Name: toolExecute, Arguments: `{"kode":1}`}}}, {Text: "Sorry."}},
			status: StatusCompleted,
		},
		"when a language is not there": {
			turns:  []llmtest.Turn{{Calls: []llm.Call{{Name: toolExecute, Arguments: `{"language":"cobol","code":"x"}`}}}, {Text: "Sorry."}},
			status: StatusCompleted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var limits []func(*Limits)
			if tc.limits != nil {
				limits = append(limits, tc.limits)
			}
			s := newTestService(t, llmtest.NewScript(tc.turns...), tc.run, limits...)
			task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Do it.")})
			if task.Status != tc.status {
				t.Fatalf("ended %s (%+v), want %s", task.Status, task.Problem, tc.status)
			}
			if tc.code == "" {
				return
			}
			if task.Problem == nil || task.Problem.Code != tc.code || task.Problem.Hint == "" {
				t.Errorf("problem is %+v, want the code %s and a hint", task.Problem, tc.code)
			}
		})
	}
}

func TestBrokenTurnsAreAskedAgainAndHaveNoEffect(t *testing.T) {
	t.Parallel()
	model := llmtest.NewScript(
		llmtest.Turn{Text: "Half a thou", Calls: []llm.Call{executeCall("return 'twice'")}, Err: llm.ErrTruncated},
		llmtest.Turn{Err: &llm.Error{Provider: "test", Status: 529, Retry: true, After: time.Millisecond}},
		llmtest.Turn{Text: "A whole thought."},
	)
	ran := false
	s := newTestService(t, model, func(context.Context, sandbox.Execution) sandbox.Result {
		ran = true
		return sandbox.Result{Reason: sandbox.ReasonOK}
	})
	task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Think.")})
	if task.Status != StatusCompleted || task.Message.String() != "A whole thought." {
		t.Errorf("ended %s with %q", task.Status, task.Message)
	}
	if ran {
		t.Error("a tool ran from a turn that broke off")
	}
	if task.Usage.Turns != 1 {
		t.Errorf("%d turns counted, want 1", task.Usage.Turns)
	}
}

// TestCallsOfOneTurnAreDoneInTheirOrder has a model call several tools at once: all are
// answered, and a script finds what the one before it left.
func TestCallsOfOneTurnAreDoneInTheirOrder(t *testing.T) {
	t.Parallel()
	list := llm.Call{Name: toolList, Arguments: "{}"}
	model := llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{
		executeCall("1"), list, executeCall("2"), {Name: "unknown", Arguments: "{}"}, list, executeCall("3"),
	}}, llmtest.Turn{Text: "Done."})
	var ran string // unguarded: the race detector sees scripts that overlap
	s := newTestService(t, model, func(_ context.Context, x sandbox.Execution) sandbox.Result {
		ran += x.Code
		return sandbox.Result{Reason: sandbox.ReasonOK, Value: pii.NewRaw(`"so far ` + ran + `"`)}
	})
	task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Do it.")})
	if task.Status != StatusCompleted || ran != "123" || task.Output.String() != `"so far 123"` {
		t.Errorf("ended %s, ran %s, output %s", task.Status, ran, task.Output)
	}
	messages := model.Requests()[1].Messages
	checkPairs(t, messages)
	var said []string
	for _, p := range messages[len(messages)-1].Parts {
		said = append(said, p.(llm.ToolResult).Content.String())
	}
	for i, want := range []string{"so far 1", `"tools"`, "so far 12", "no such tool", `"tools"`, "so far 123"} {
		if i >= len(said) || !strings.Contains(said[i], want) {
			t.Errorf("result %d of %q does not say %q", i, said, want)
		}
	}
}

func TestSessionRemembersItsConversationAndBelongsToItsUser(t *testing.T) {
	t.Parallel()
	model := llmtest.NewScript(llmtest.Turn{Text: "Noted."}, llmtest.Turn{Text: "Blue."})
	s := newTestService(t, model, nil)
	first := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("My colour is blue.")})
	second := runTask(t, s, TaskRequest{User: user, Session: first.Session, Text: pii.NewRaw("Which colour?")})
	if second.Session != first.Session {
		t.Error("the second task got a session of its own")
	}
	if text := told(model.Requests()[1:]); !strings.Contains(text, "My colour is blue.") || !strings.Contains(text, "Noted.") {
		t.Errorf("the second turn was not told of the first: %s", text)
	}
	_, err := s.Submit(t.Context(), TaskRequest{User: "somebody", Session: first.Session, Text: pii.NewRaw("Which colour?")})
	if !errors.Is(err, ErrNotFound) {
		t.Errorf("another user's session gave %v, want ErrNotFound", err)
	}
	if _, err := s.Task("somebody", first.ID); !errors.Is(err, ErrNotFound) {
		t.Errorf("another user's task gave %v, want ErrNotFound", err)
	}
}

func TestLongResultIsCutAndKeptWhole(t *testing.T) {
	t.Parallel()
	long := `"` + strings.Repeat("abcdefghij", 10_000) + `"`
	model := llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("return 1")}}, llmtest.Turn{Text: "Long."})
	s := newTestService(t, model, returns(long))
	task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Go on.")})
	text := told(model.Requests()[1:])
	if len(text) > 2*DefaultLimits().ModelBytes {
		t.Errorf("the model was told %d bytes", len(text))
	}
	at := strings.Index(text, "/workspace/.airlock/")
	if at < 0 {
		t.Fatalf("the model was not told where the whole result is: %.300s", text)
	}
	path := text[at : at+strings.Index(text[at:], ".json")+len(".json")]
	session, err := s.sessions.take(user, task.Session)
	if err != nil {
		t.Fatal(err)
	}
	defer s.sessions.release(session)
	done, err := s.sessions.work(session)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	kept, err := session.files.ReadFile(path, 1<<20)
	if err != nil || string(kept) != long {
		t.Errorf("%s holds %d bytes (%v), want the whole result", path, len(kept), err)
	}
}
