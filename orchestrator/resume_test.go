package orchestrator

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// process is one process in the life of a data folder: a service that goes on with
// what the one before left.
func process(t *testing.T, dir string, provider llm.Provider, run scriptFunc) *Service {
	t.Helper()
	s := newTestServiceIn(t, dir, noServers{}, time.Minute, provider, run)
	if err := s.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// die ends a process without any farewell but closing its store, which another one
// could not open otherwise: what it does after that is lost.
func die(t *testing.T, s *Service) {
	t.Helper()
	if err := s.opts.State.Eraser.(interface{ Close() error }).Close(); err != nil {
		t.Fatal(err)
	}
}

func allEvents(t *testing.T, s *Service, id ident.Task) []Event {
	t.Helper()
	events, _, err := s.Events(user, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range events {
		if e.Seq != i+1 {
			t.Fatalf("event %d has number %d", i+1, e.Seq)
		}
	}
	return events
}

func typesOf(events []Event) (types []string) {
	for _, e := range events {
		types = append(types, string(e.Type))
	}
	return types
}

func TestTaskOfADeadProcessIsGoneOnWith(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begun := make(chan struct{}, 1)
	first := process(t, dir, llmtest.NewScript(llmtest.Turn{Text: "I look.", Calls: []llm.Call{executeCall("one()"), executeCall("two()")}}), func(ctx context.Context, x sandbox.Execution) sandbox.Result {
		if !strings.Contains(x.Code, "two") {
			return sandbox.Result{Reason: sandbox.ReasonOK, Value: pii.NewRaw(`"ann@example.org"`), Stdout: pii.NewRaw("said bob@example.org\n")}
		}
		return waits(begun)(ctx, x)
	})
	id, err := first.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("Write to ann@example.org."), Repeat: Repeat{Key: "k"}})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	before := allEvents(t, first, id)
	for strings.Count(strings.Join(typesOf(before), " "), "execution.started") < 2 {
		_, more, err := first.Events(user, id, len(before))
		if err != nil {
			t.Fatal(err)
		}
		<-more
		before = allEvents(t, first, id)
	}
	die(t, first)

	model := llmtest.NewScript(llmtest.Turn{Text: "Done."})
	second := process(t, dir, model, throws("nothing is to be run again"))
	if again, err := second.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("Write to ann@example.org."), Repeat: Repeat{Key: "k"}}); err != nil || again != id {
		t.Errorf("the request sent again became %s, %v; want %s", again, err, id)
	}
	task, err := second.Wait(t.Context(), user, id)
	if err != nil || task.Status != StatusCompleted || task.Message.String() != "Done." {
		t.Fatalf("ended %s: %q, %+v, %v", task.Status, task.Message, task.Problem, err)
	}
	if task.Usage.Executions != 1 || len(task.Logs) != 1 || !strings.HasPrefix(task.Output.String(), `"[EMAIL_1_`) {
		t.Errorf("it keeps %d executions, %d lines and %s of what the first process reached", task.Usage.Executions, len(task.Logs), task.Output)
	}
	events := allEvents(t, second, id)
	if !slices.Equal(typesOf(events)[:len(before)], typesOf(before)) || events[len(before)-1].At != before[len(before)-1].At {
		t.Errorf("events were %v, became %v", typesOf(before), typesOf(events))
	}
	if rest := typesOf(events)[len(before):]; !slices.Equal(rest, []string{"task.resumed", "execution.finished", "model.delta", "model.delta", "task.completed"}) {
		t.Errorf("then came %v", rest)
	}
	requests := model.Requests()
	said := requests[0].Messages
	results := said[len(said)-1].Parts
	if len(requests) != 1 || len(said) != 3 || len(results) != 2 {
		t.Fatalf("the model was asked %d times, with %d messages, %d results", len(requests), len(said), len(results))
	}
	one, two := results[0].(llm.ToolResult), results[1].(llm.ToolResult)
	if one.IsError || !strings.Contains(one.Content.String(), "[EMAIL_1_") || !two.IsError || two.Content != interruptedNote {
		t.Errorf("the model was told %q and %q", one.Content, two.Content)
	}

	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	die(t, second)
	model = llmtest.NewScript(llmtest.Turn{Text: "Again."})
	third := process(t, dir, model, returns("1"))
	if later, err := third.Task(user, id); err != nil || later.Message.String() != "Done." || later.Text != task.Text || later.Output != task.Output {
		t.Errorf("a later process reads %+v, %v", later, err)
	}
	if later := allEvents(t, third, id); !slices.Equal(typesOf(later), typesOf(events)) {
		t.Errorf("a later process reads the events %v", typesOf(later))
	}
	if _, err := third.Task("somebody", id); !errors.Is(err, ErrNotFound) {
		t.Errorf("another user reads it: %v", err)
	}
	if list := tasksOf(t, third, user); len(list) != 1 || list[0].Text != task.Text || list[0].Status != StatusCompleted {
		t.Errorf("a later process lists %+v", list)
	}
	next := runTask(t, third, TaskRequest{User: user, Session: task.Session, Text: pii.NewRaw("And ann@example.org?")})
	if next.Status != StatusCompleted || !strings.Contains(next.Text.String(), "[EMAIL_1_") {
		t.Errorf("the session goes on with %s: %q", next.Status, next.Text)
	}
	if said := model.Requests()[0].Messages; len(said) != 5 {
		t.Errorf("the model is told %d messages of the conversation, want 5", len(said))
	}
}

// TestTaskThatWaitedIsDone lets a process die before it could begin.
func TestTaskThatWaitedIsDone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begun := make(chan struct{}, 1)
	first := process(t, dir, llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("x")}}), waits(begun))
	busy, err := first.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("one")})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	session, err := first.Task(user, busy)
	if err != nil {
		t.Fatal(err)
	}
	id, err := first.Submit(t.Context(), TaskRequest{User: user, Session: session.Session, Text: pii.NewRaw("two"), Files: []Upload{{Name: "a.txt", Data: []byte("ann@example.org")}}})
	if err != nil {
		t.Fatal(err)
	}
	die(t, first)
	var turns []llmtest.Turn
	for range 2 {
		turns = append(turns, llmtest.Turn{Text: "Done."})
	}
	second := process(t, dir, llmtest.NewScript(turns...), returns("1"))
	for _, id := range []ident.Task{busy, id} {
		if task, err := second.Wait(t.Context(), user, id); err != nil || task.Status != StatusCompleted {
			t.Errorf("%s ended %s %+v (%v)", id, task.Status, task.Problem, err)
		}
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if places, err := second.opts.State.Queue.All(t.Context(), taskFolder); err != nil || len(places) != 0 {
		t.Errorf("in the queue are %v, %v", places, err)
	}
}

func TestTaskThatEndsItsProcessAgainAndAgainIsReported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var id ident.Task
	for run := range maxRuns {
		begun := make(chan struct{}, 1)
		s := process(t, dir, llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("x")}}, llmtest.Turn{Calls: []llm.Call{executeCall("x")}}), waits(begun))
		if run == 0 {
			var err error
			if id, err = s.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("crash")}); err != nil {
				t.Fatal(err)
			}
		}
		<-begun
		die(t, s)
	}
	s := process(t, dir, llmtest.NewScript(), returns("1"))
	task, err := s.Wait(t.Context(), user, id)
	if err != nil || task.Status != StatusFailed || task.Problem.Code != "interrupted" {
		t.Errorf("ended %s %+v, %v", task.Status, task.Problem, err)
	}
}

func TestClosedProcessLeavesItsTasksToTheNext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begun := make(chan struct{}, 1)
	first := process(t, dir, llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("x")}}), waits(begun))
	id, err := first.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("long")})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := first.Wait(t.Context(), user, id); !errors.Is(err, ErrClosed) {
		t.Errorf("who waits gets %v, want ErrClosed", err)
	}
	die(t, first)
	second := process(t, dir, llmtest.NewScript(llmtest.Turn{Text: "Done."}), returns("1"))
	if task, err := second.Wait(t.Context(), user, id); err != nil || task.Status != StatusCompleted {
		t.Errorf("ended %s, %v", task.Status, err)
	}
}

// TestStoreThatFailsEndsTheTask lets the store go while a script runs.
func TestStoreThatFailsEndsTheTask(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	var ended atomic.Bool
	s := process(t, t.TempDir(), llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("x")}}), func(ctx context.Context, x sandbox.Execution) sandbox.Result {
		begun <- struct{}{}
		<-ctx.Done()
		ended.Store(true)
		return sandbox.Result{Reason: sandbox.ReasonCancelled}
	})
	id, err := s.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("x")})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	die(t, s)
	state, err := s.tasks.get(user, id)
	if err != nil {
		t.Fatal(err)
	}
	state.emit(EventExecutionOutput, EventData{})
	task, err := s.Wait(t.Context(), user, id)
	if err != nil || task.Status != StatusFailed || task.Problem.Code != "store_failed" || !ended.Load() {
		t.Errorf("ended %s %+v, %v; the script ended: %v", task.Status, task.Problem, err, ended.Load())
	}
	if _, err := s.Submit(t.Context(), TaskRequest{User: user, Session: task.Session, Text: pii.NewRaw("x")}); err == nil {
		t.Error("a task was accepted that cannot be kept")
	}
}
