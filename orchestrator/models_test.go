package orchestrator

import (
	"errors"
	"strings"
	"testing"
	"time"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
)

// twoModels are served by scripts; the second is the fallback.
func twoModels(t *testing.T, first, second *llmtest.Script) severalModels {
	t.Helper()
	router, err := llm.NewRouter("a/one", map[string]llm.Route{"a/one": {Provider: first}, "b/two": {Provider: second}})
	if err != nil {
		t.Fatal(err)
	}
	price := &Price{Input: 10, CachedInput: 1, Output: 100}
	return severalModels{router, []Model{{ID: "a/one", Price: price}, {ID: "b/two", Price: price}}, "b/two"}
}

// fails is a turn that ends with a provider's error.
func fails(e llm.Error) llmtest.Turn {
	e.Provider = "test"
	return llmtest.Turn{Err: &e}
}

func TestTheFallbackGoesOnWhereAModelIsNotToBeHad(t *testing.T) {
	t.Parallel()
	busy := fails(llm.Error{Status: 529, Code: "overloaded_error", Retry: true, After: time.Millisecond})
	for name, turns := range map[string][]llmtest.Turn{
		"when it is overloaded, asked four times":       {busy, busy, busy, busy},
		"when it breaks off, asked four times":          {{Err: llm.ErrTruncated}, {Err: llm.ErrTruncated}, busy, busy},
		"at once when it asks for a long wait":          {fails(llm.Error{Status: 429, Retry: true, After: time.Minute})},
		"at once when it has no quota left":             {fails(llm.Error{Status: 429, Code: "insufficient_quota"})},
		"at once when it fails in a way that will last": {fails(llm.Error{Status: 501})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := llmtest.NewScript(turns...), llmtest.NewScript(
				llmtest.Turn{Calls: []llm.Call{executeCall("return 1")}}, llmtest.Turn{Text: "Done."})
			s := newTestService(t, twoModels(t, first, second), returns("1"))
			task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Do it.")})
			if task.Status != StatusCompleted || task.Message.String() != "Done." || task.Usage.Model != "b/two" {
				t.Errorf("ended %s with %q by %s: %+v", task.Status, task.Message, task.Usage.Model, task.Problem)
			}
			if n := len(first.Requests()); n != len(turns) {
				t.Errorf("the first model was asked %d times, want %d: the fallback stays", n, len(turns))
			}
			changed := eventsOf(t, s, task, EventModelChanged)
			if len(changed) != 1 || changed[0].Data.Model != "b/two" || changed[0].Data.Problem == nil {
				t.Errorf("events of the change: %+v", changed)
			}
		})
	}
}

func eventsOf(t *testing.T, s *Service, task Task, kind EventType) (found []Event) {
	t.Helper()
	events, _, err := s.Events(task.User, task.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if e.Type == kind {
			found = append(found, e)
		}
	}
	return found
}

func TestTheFallbackHidesNoMistakeOfOurs(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 401, 403, 404, 413, 422} {
		first, second := llmtest.NewScript(fails(llm.Error{Status: status})), llmtest.NewScript(llmtest.Turn{Text: "Done."})
		s := newTestService(t, twoModels(t, first, second), nil)
		task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Do it.")})
		if task.Status != StatusFailed || task.Problem.Code != "model_failed" || len(second.Requests()) != 0 {
			t.Errorf("status %d: ended %s, the fallback was asked %d times", status, task.Status, len(second.Requests()))
		}
	}
}

func TestAFallbackThatFailsTooEndsTheTask(t *testing.T) {
	t.Parallel()
	down := fails(llm.Error{Status: 501})
	s := newTestService(t, twoModels(t, llmtest.NewScript(down), llmtest.NewScript(down)), nil)
	if task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Do it.")}); task.Status != StatusFailed || task.Problem.Code != "model_failed" {
		t.Errorf("ended %s: %+v", task.Status, task.Problem)
	}
}

func TestARetryThatTheTaskCannotWaitForIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	model := llmtest.NewScript(fails(llm.Error{Status: 429, Retry: true, After: time.Hour}), llmtest.Turn{Text: "late"})
	s := newTestService(t, model, nil)
	task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Do it.")})
	if task.Status != StatusFailed || task.Problem.Code != "model_failed" || !strings.Contains(task.Problem.Message, "429") {
		t.Errorf("ended %s: %+v", task.Status, task.Problem)
	}
}

func TestTasksNameTheirModel(t *testing.T) {
	t.Parallel()
	two := llmtest.NewScript(llmtest.Turn{Text: "Two."}, llmtest.Turn{Text: "Two."})
	s := newTestService(t, twoModels(t, llmtest.NewScript(), two), nil)
	for _, name := range []string{"b/two", "two"} {
		task := runTask(t, s, TaskRequest{User: user, Model: name, Text: pii.NewRaw("Do it.")})
		if task.Message.String() != "Two." || task.Usage.Model != "b/two" {
			t.Errorf("%s: %q by %s", name, task.Message, task.Usage.Model)
		}
	}
	_, err := s.Submit(t.Context(), TaskRequest{User: user, Model: "three", Text: pii.NewRaw("Do it.")})
	if !errors.Is(err, ErrModel) || !strings.Contains(err.Error(), "a/one, b/two") {
		t.Errorf("an unknown model: %v", err)
	}
	s = newTestService(t, llmtest.NewScript(), nil)
	if _, err := s.Submit(t.Context(), TaskRequest{User: user, Model: "two", Text: pii.NewRaw("Do it.")}); !errors.Is(err, ErrModel) {
		t.Errorf("a model where none is listed: %v", err)
	}
}

func TestAmbiguousNamesAreRefused(t *testing.T) {
	t.Parallel()
	o := Options{Models: []Model{{ID: "a/m"}, {ID: "b/m"}}}
	if _, err := o.modelNamed("m"); !errors.Is(err, ErrModel) || !strings.Contains(err.Error(), "a/m, b/m") {
		t.Errorf("got %v", err)
	}
	if id, err := o.modelNamed(""); err != nil || id != "a/m" {
		t.Errorf("no name is %q, %v", id, err)
	}
}

func TestModelsThatCannotWorkAreRefused(t *testing.T) {
	t.Parallel()
	bounded := Limits{CostUSD: 1}
	for name, o := range map[string]Options{
		"no name":             {Models: []Model{{}}},
		"twice":               {Models: []Model{{ID: "a"}, {ID: "a"}}},
		"negative price":      {Models: []Model{{ID: "a", Price: &Price{Output: -1}}}},
		"foreign fallback":    {Models: []Model{{ID: "a"}}, Fallback: "b"},
		"bound without price": {Models: []Model{{ID: "a"}}, Limits: bounded},
		"bound without model": {Limits: bounded},
	} {
		if o.checkModels() == nil {
			t.Errorf("%s was taken", name)
		}
	}
	if err := (Options{Models: []Model{{ID: "a", Price: &Price{}}}, Fallback: "a", Limits: bounded}).checkModels(); err != nil {
		t.Error(err)
	}
}
