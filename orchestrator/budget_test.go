package orchestrator

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// works is a turn that runs a script and uses so many tokens.
func works(input, output int) llmtest.Turn {
	return llmtest.Turn{Text: "Going on.", Calls: []llm.Call{executeCall("return 1")}, Usage: llm.Usage{InputTokens: input, OutputTokens: output}}
}

func TestBudgetsEndATaskWithWhatItReached(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		turns  []llmtest.Turn
		limits func(*Limits)
		code   string
		asked  int
		noted  bool // that the last turn was the last
	}{
		"turns":  {[]llmtest.Turn{works(1, 1), works(1, 1), works(1, 1)}, func(l *Limits) { l.Turns = 2 }, "turn_limit", 2, true},
		"tokens": {[]llmtest.Turn{works(400, 100), works(400, 100), works(400, 100)}, func(l *Limits) { l.Tokens = 1000 }, "token_limit", 2, true},
		// Each turn costs a cent: 500 × 10 + 50 × 100 dollars for a million.
		"cost": {[]llmtest.Turn{works(500, 50), works(500, 50), works(500, 50)}, func(l *Limits) { l.CostUSD = 0.02 }, "cost_limit", 2, true},
		"a turn that breaks off counts": {
			[]llmtest.Turn{{Text: "Go", Usage: llm.Usage{InputTokens: 900, OutputTokens: 100}, Err: llm.ErrTruncated}, works(400, 100), works(1, 1)},
			func(l *Limits) { l.Tokens = 1200 }, "token_limit", 2, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := llmtest.NewScript(tc.turns...)
			s := newTestService(t, twoModels(t, script, llmtest.NewScript()), returns(`{"rows":3}`), tc.limits)
			task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Do it.")})
			if task.Status != StatusFailed || task.Problem.Code != tc.code || task.Problem.Hint == "" {
				t.Errorf("ended %s: %+v", task.Status, task.Problem)
			}
			if task.Message.String() != "Going on." || task.Output.String() != `{"rows":3}` {
				t.Errorf("what it reached is lost: %q, %s", task.Message, task.Output)
			}
			if n := len(script.Requests()); n != tc.asked {
				t.Errorf("the model was asked %d times, want %d", n, tc.asked)
			}
			last := script.Requests()[tc.asked-1]
			if noted := strings.Contains(told([]llm.Request{last}), "This is your last turn"); noted != tc.noted {
				t.Errorf("the model was told that its last turn is the last: %v", noted)
			}
		})
	}
}

func TestAnAnswerInTheLastTurnCompletesTheTask(t *testing.T) {
	t.Parallel()
	script := llmtest.NewScript(works(1, 1), llmtest.Turn{Text: "Three rows."})
	s := newTestService(t, script, returns("3"))
	task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Do it."), MaxTurns: 2})
	if task.Status != StatusCompleted || task.Message.String() != "Three rows." {
		t.Errorf("ended %s with %q", task.Status, task.Message)
	}
	if strings.Contains(told(script.Requests()[:1]), "last turn") {
		t.Error("the first turn was told to be the last")
	}
}

func TestUsageHasTokensAndCost(t *testing.T) {
	t.Parallel()
	script := llmtest.NewScript(
		llmtest.Turn{Calls: []llm.Call{executeCall("return 1")}, Usage: llm.Usage{InputTokens: 1000, OutputTokens: 10}},
		llmtest.Turn{Text: "Done.", Usage: llm.Usage{InputTokens: 1100, CachedTokens: 1000, OutputTokens: 20}})
	s := newTestService(t, twoModels(t, script, llmtest.NewScript()), returns("1"))
	used := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Do it.")}).Usage
	const want = (1100*10.0 + 1000*1 + 30*100) / 1e6
	if used.Turns != 2 || used.InputTokens != 2100 || used.CachedTokens != 1000 || used.OutputTokens != 30 || math.Abs(used.CostUSD-want) > 1e-12 || used.Model != "a/one" {
		t.Errorf("usage %+v, want a cost of %v", used, want)
	}
}

func TestToolCallsOfATaskAreBounded(t *testing.T) {
	t.Parallel()
	script := llmtest.NewScript(works(1, 1), works(1, 1), works(1, 1))
	statuses := []int{}
	call := func(ctx context.Context, x sandbox.Execution) sandbox.Result {
		for range 3 {
			statuses = append(statuses, send(ctx, x, "{}"))
		}
		return sandbox.Result{Reason: sandbox.ReasonOK}
	}
	s := newTestServiceWith(t, &mailServer{}, time.Minute, script, call, func(l *Limits) { l.ToolCalls = 4 })
	task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Do it.")})
	if task.Status != StatusFailed || task.Problem.Code != "tool_call_limit" || task.Usage.Executions != 2 {
		t.Errorf("ended %s after %d executions: %+v", task.Status, task.Usage.Executions, task.Problem)
	}
	want := []int{200, 200, 200, 200, 429, 429}
	if len(statuses) != len(want) {
		t.Fatalf("statuses %v", statuses)
	}
	for i, status := range want {
		if statuses[i] != status {
			t.Errorf("call %d: %d, want %d", i+1, statuses[i], status)
		}
	}
}

func TestTheSameFailureThreeTimesEndsWithWhatWasLearned(t *testing.T) {
	t.Parallel()
	call := llmtest.Turn{Text: "Let me try.", Calls: []llm.Call{executeCall("return 1")}}
	lost := llmtest.Turn{Calls: []llm.Call{{Name: "rm_rf", Arguments: "{}"}}}
	for name, tc := range map[string]struct {
		turns []llmtest.Turn
		want  string
	}{
		"as the model tells it":         {[]llmtest.Turn{call, call, call, {Text: "The server is down."}}, "The server is down."},
		"or by the failure itself":      {[]llmtest.Turn{call, call, call, {Calls: call.Calls}}, "Let me try.\n\nThe same failure came back three times: Error: no such user [EMAIL_1_"},
		"also when nobody can tell":     {[]llmtest.Turn{call, call, call, fails(llm.Error{Status: 401})}, "The same failure came back three times: Error: no such user"},
		"also of a tool there is not":   {[]llmtest.Turn{lost, lost, lost, {Text: "No such tool."}}, "No such tool."},
		"and by its words in that case": {[]llmtest.Turn{lost, lost, lost, {Calls: lost.Calls}}, "The same failure came back three times: There is no such tool."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := llmtest.NewScript(tc.turns...)
			s := newTestService(t, script, throws("no such user ann.lee@example.org"))
			task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Do it.")})
			if task.Status != StatusFailed || task.Problem.Code != "stuck" {
				t.Fatalf("ended %s: %+v", task.Status, task.Problem)
			}
			if message := task.Message.String(); !strings.Contains(message, tc.want) || strings.Contains(message, "ann.lee") {
				t.Errorf("the message is %q, want %q in it", message, tc.want)
			}
			if text := told(script.Requests()[3:]); !strings.Contains(text, "Say what you found out") {
				t.Errorf("the model was not asked what it found out: %s", text)
			}
			if task.Usage.Executions > sameFailures {
				t.Errorf("%d executions", task.Usage.Executions)
			}
		})
	}
}
