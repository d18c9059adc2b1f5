package orchestrator

import (
	"testing"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
)

// TestLinesAboutATaskNameIt lets a provider fail in a way that is tried again, and in
// one that ends the task.
func TestLinesAboutATaskNameIt(t *testing.T) {
	t.Parallel()
	s := newTestService(t, llmtest.NewScript(
		llmtest.Turn{Err: &llm.Error{Retry: true, After: time.Millisecond}}, llmtest.Turn{Err: &llm.Error{Code: "broken"}},
	), returns("1"))
	core, lines := observer.New(zap.DebugLevel)
	s.log = zap.New(core)
	task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("x")})
	if lines.Len() < 2 {
		t.Fatalf("%d lines were written", lines.Len())
	}
	for _, line := range lines.All() {
		if has := line.ContextMap(); has["task"] != string(task.ID) || has["session"] != string(task.Session) {
			t.Errorf("%q has %v", line.Message, has)
		}
	}
}
