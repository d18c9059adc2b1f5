package metrics

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestMetrics(t *testing.T) {
	t.Parallel()
	m := New()
	m.TaskTaken()
	m.TaskTaken()
	m.TaskEnded("completed", 3*time.Second)
	m.TurnEnded("ok", 100, 20, 30, time.Second)
	m.TurnEnded("error", -1, 0, 0, time.Second)
	m.ExecutionEnded("wasm", "javascript", "ok", 2*time.Millisecond)
	m.ToolCalled("database", "ok", time.Millisecond)
	m.ToolCalled("", "unknown_tool", time.Millisecond)
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	for _, line := range []string{
		"airlock_tasks_open 1",
		`airlock_task_seconds_bucket{status="completed",le="2.5"} 0`,
		`airlock_task_seconds_bucket{status="completed",le="5"} 1`,
		`airlock_model_turn_seconds_count{outcome="error"} 1`,
		`airlock_model_tokens_total{kind="input"} 100`,
		`airlock_model_tokens_total{kind="cached"} 30`,
		`airlock_execution_seconds_bucket{backend="wasm",language="javascript",reason="ok",le="0.0025"} 1`,
		`airlock_tool_call_seconds_count{outcome="ok",server="database"} 1`,
		`airlock_tool_call_seconds_count{outcome="unknown_tool",server=""} 1`,
	} {
		if !strings.Contains(w.Body.String(), line+"\n") {
			t.Errorf("%s is missing", line)
		}
	}
}
