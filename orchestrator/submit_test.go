package orchestrator

import (
	"context"
	"errors"
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

func TestSubmitRefuses(t *testing.T) {
	t.Parallel()
	s := newTestService(t, llmtest.NewScript(), nil)
	for name, tc := range map[string]struct {
		request TaskRequest
		want    error
	}{
		"an empty task":        {TaskRequest{User: user}, ErrInvalid},
		"a task of two MB":     {TaskRequest{User: user, Text: pii.NewRaw(strings.Repeat("a", 2<<20))}, ErrTooLarge},
		"too many turns":       {TaskRequest{User: user, Text: pii.NewRaw("x"), MaxTurns: 1000}, ErrInvalid},
		"a negative timeout":   {TaskRequest{User: user, Text: pii.NewRaw("x"), Timeout: -time.Second}, ErrInvalid},
		"an unknown session":   {TaskRequest{User: user, Text: pii.NewRaw("x"), Session: ident.NewSession()}, ErrNotFound},
		"a session of no form": {TaskRequest{User: user, Text: pii.NewRaw("x"), Session: "../../etc"}, ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := s.Submit(t.Context(), tc.request); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestCancelStopsTheScript(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	model := llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("for(;;);")}})
	s := newTestService(t, model, waits(begun))
	id, err := s.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("Run for ever.")})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := s.Cancel("somebody", id); !errors.Is(err, ErrNotFound) {
		t.Errorf("another user's cancel gave %v, want ErrNotFound", err)
	}
	if err := s.Cancel(user, id); err != nil {
		t.Fatal(err)
	}
	task, err := s.Wait(t.Context(), user, id)
	if err != nil || task.Status != StatusCancelled {
		t.Errorf("ended %s (%v), want cancelled", task.Status, err)
	}
}

func TestTasksWaitForAPlaceAndForTheirSession(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	model := llmtest.NewScriptFunc(func(llm.Request) llmtest.Turn { return llmtest.Turn{Text: "ok", Hold: hold} })
	s := newTestService(t, model, nil, func(l *Limits) { l.Running, l.Waiting = 1, 1 })
	var ids []ident.Task
	for range 2 {
		id, err := s.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("x")})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if _, err := s.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("x")}); !errors.Is(err, ErrFull) {
		t.Errorf("a third task gave %v, want ErrFull", err)
	}
	close(hold)
	for _, id := range ids {
		if task, err := s.Wait(t.Context(), user, id); err != nil || task.Status != StatusCompleted {
			t.Errorf("%s ended %s (%v)", id, task.Status, err)
		}
	}
	if got := tasksOf(t, s, user); len(got) != 2 {
		t.Errorf("%d tasks listed, want 2", len(got))
	}
}

func TestCloseEndsWhatRuns(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	model := llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("for(;;);")}})
	s := newTestService(t, model, waits(begun))
	id, err := s.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("Run for ever.")})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if task, err := s.Task(user, id); err != nil || task.Status != StatusCancelled {
		t.Errorf("ended %s (%v), want cancelled", task.Status, err)
	}
	if _, err := s.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("x")}); !errors.Is(err, ErrClosed) {
		t.Errorf("a task after Close gave %v, want ErrClosed", err)
	}
}

func TestEventsTellTheStoryInOrder(t *testing.T) {
	t.Parallel()
	model := llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("return 1")}}, llmtest.Turn{Text: "One."})
	s := newTestService(t, model, returns("1"))
	task := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("x")})
	events, _, err := s.Events(user, task.ID, 0)
	if err != nil {
		t.Fatal(err)
	}
	var story []string
	for i, e := range events {
		if e.Seq != i+1 || e.Task != task.ID || e.At.IsZero() {
			t.Errorf("event %d is %+v", i, e)
		}
		if len(story) == 0 || story[len(story)-1] != string(e.Type) {
			story = append(story, string(e.Type))
		}
	}
	want := "task.started execution.started execution.finished model.delta task.completed"
	if got := strings.Join(story, " "); got != want {
		t.Errorf("the story is %q, want %q", got, want)
	}
	if rest, _, _ := s.Events(user, task.ID, len(events)-1); len(rest) != 1 {
		t.Errorf("%d events after the last but one, want 1", len(rest))
	}
}

func TestExecuteRefuses(t *testing.T) {
	t.Parallel()
	s := newTestService(t, llmtest.NewScript(), returns("1"))
	for name, tc := range map[string]struct {
		request ExecuteRequest
		want    error
	}{
		"an empty script":     {ExecuteRequest{User: user, Language: sandbox.JavaScript}, ErrInvalid},
		"an unknown language": {ExecuteRequest{User: user, Language: "cobol", Code: "x"}, ErrLanguage},
		"too long a time":     {ExecuteRequest{User: user, Language: sandbox.JavaScript, Code: "x", Timeout: time.Hour}, ErrInvalid},
		"a foreign session":   {ExecuteRequest{User: user, Language: sandbox.JavaScript, Code: "x", Session: "ses_other"}, ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := s.Execute(t.Context(), tc.request); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

// heldQueue is a queue whose disk does not write before it is let go, and then fails if
// it is to.
type heldQueue struct {
	KV

	let  chan struct{}
	fail error
}

func (q heldQueue) Sync() error {
	<-q.let
	return q.fail
}

func TestNothingIsDoneForATaskBeforeItIsSafe(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]error{"safe": nil, "lost": errors.New("the disk is full")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var runs atomic.Int32
			asked := make(chan struct{}, 2)
			model := llmtest.NewScriptFunc(func(r llm.Request) llmtest.Turn {
				asked <- struct{}{}
				if len(r.Messages) > 1 {
					return llmtest.Turn{Text: "Done."}
				}
				return llmtest.Turn{Calls: []llm.Call{executeCall("return 1")}}
			})
			s := newTestService(t, model, func(context.Context, sandbox.Execution) sandbox.Result {
				runs.Add(1)
				return sandbox.Result{Reason: sandbox.ReasonOK}
			})
			q := heldQueue{s.opts.State.Queue, make(chan struct{}), fail}
			s.opts.State.Queue = q
			submitted := make(chan error)
			go func() {
				_, err := s.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("Go on.")})
				submitted <- err
			}()
			<-asked
			tasks, err := s.Tasks(user)
			if err != nil || len(tasks) != 1 {
				t.Fatalf("%d tasks, %v, want the one", len(tasks), err)
			}
			id := tasks[0].ID
			if events := allEvents(t, s, id); len(events) > 0 || runs.Load() > 0 {
				t.Errorf("before it was safe it showed %v and ran %d scripts", typesOf(events), runs.Load())
			}
			close(q.let)
			if err := <-submitted; !errors.Is(err, fail) {
				t.Errorf("submitting gave %v, want %v", err, fail)
			}
			task, err := s.Wait(t.Context(), user, id)
			if err != nil {
				t.Fatal(err)
			}
			if want := map[bool]Status{true: StatusCompleted, false: StatusFailed}[fail == nil]; task.Status != want {
				t.Errorf("it ended %s, want %s", task.Status, want)
			}
			if want := map[bool]int32{true: 1}[fail == nil]; runs.Load() != want {
				t.Errorf("%d scripts ran, want %d", runs.Load(), want)
			}
			if left, err := q.All(t.Context(), taskFolder); fail != nil && (err != nil || len(left) > 0) {
				t.Errorf("left in the queue: %v, %v", left, err)
			}
		})
	}
}
