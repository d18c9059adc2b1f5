package orchestrator

import (
	"testing"
	"testing/synctest"
	"time"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
)

func TestAModelRestsAfterThreeTasksAndIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newResting()
		check := func(when string, want bool) {
			t.Helper()
			if got := r.rests("a/one"); got != want {
				t.Errorf("%s: rests is %v, want %v", when, got, want)
			}
		}
		check("before anything", false)
		r.fail("a/one")
		r.fail("a/one")
		check("after two failures", false)
		r.answer("a/one")
		r.fail("a/one")
		r.fail("a/one")
		check("after an answer and two failures", false)
		r.fail("a/one")
		check("after three failures in a row", true)
		if r.rests("b/two") {
			t.Error("another model rests too")
		}
		<-time.After(restTime) // of the bubble
		check("when its time is over", false)
		r.fail("a/one")
		check("when it failed once more", true)
		r.answer("a/one")
		check("after an answer", false)
	})
}

func TestTasksBeginWithTheFallbackWhereTheirModelFailedBefore(t *testing.T) {
	t.Parallel()
	down := llmtest.NewScriptFunc(func(llm.Request) llmtest.Turn { return fails(llm.Error{Status: 501}) })
	works := llmtest.NewScriptFunc(func(llm.Request) llmtest.Turn { return llmtest.Turn{Text: "Done."} })
	s := newTestService(t, twoModels(t, down, works), nil)
	for n := range failedTasks + 2 {
		task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Do it.")})
		if task.Status != StatusCompleted || task.Usage.Model != "b/two" {
			t.Fatalf("task %d ended %s by %s: %+v", n, task.Status, task.Usage.Model, task.Problem)
		}
		if changed := eventsOf(t, s, task, EventModelChanged); len(changed) != 1 || changed[0].Data.Problem == nil {
			t.Errorf("task %d told of %+v", n, changed)
		}
	}
	if asked := len(down.Requests()); asked != failedTasks {
		t.Errorf("the model that fails was asked %d times, want %d", asked, failedTasks)
	}
}
