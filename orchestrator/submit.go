package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"airlock/ident"
	"airlock/runtime/sandbox"
)

// errCancelled is the cause of a task that its user ended.
var errCancelled = errors.New("cancelled by its user")

// Submit takes a task in and returns its id; the task runs on whatever happens
// to ctx. A request that was sent before, by its Repeat, gives the task it began. It
// fails with ErrInvalid, ErrTooLarge, ErrModel, ErrRepeat, ErrNotFound (the session),
// ErrFull, ErrShare or ErrClosed, and then nothing was taken in.
func (s *Service) Submit(ctx context.Context, r TaskRequest) (ident.Task, error) {
	r, err := s.checked(r)
	if err != nil {
		return "", err
	}
	if id, err := s.tasks.repeated(r); id != "" || err != nil {
		return id, err
	}
	session, err := s.sessions.take(r.User, r.Session)
	if err != nil {
		return "", err
	}
	taskCtx, cancel := context.WithCancelCause(s.ctx)
	t := &taskState{request: r, bytes: r.bytes() + r.fileBytes(), session: session, events: newEventLog(), done: make(chan struct{}), cancel: cancel, clock: sandbox.NewClock(r.Timeout)}
	t.task = Task{
		ID: ident.NewTask(), Session: session.id, User: r.User, Status: StatusQueued, Title: session.named(),
		Created: time.Now().UTC(), Vault: session.vault,
	}
	if id, err := s.tasks.add(t); id != t.task.ID || err != nil {
		s.sessions.release(session)
		cancel(err)
		return id, err
	}
	s.opts.Observer.TaskTaken()
	s.work.Go(func() {
		s.follow(taskCtx, t)
		ended := t.snapshot()
		s.opts.Observer.TaskEnded(string(ended.Status), ended.Finished.Sub(ended.Created))
	})
	return t.task.ID, nil
}

func (s *Service) checked(r TaskRequest) (TaskRequest, error) {
	l := s.opts.Limits
	switch {
	case r.Text.IsZero():
		return r, fmt.Errorf("%w: the task is empty", ErrInvalid)
	case r.bytes() > l.TaskBytes:
		return r, fmt.Errorf("%w: the task, with what was said before, has %d bytes, the limit is %d; put data into a file or a tool", ErrTooLarge, r.bytes(), l.TaskBytes)
	case r.MaxTurns < 0 || r.MaxTurns > l.Turns:
		return r, fmt.Errorf("%w: maxTurns is %d; it must be between 1 and %d", ErrInvalid, r.MaxTurns, l.Turns)
	case r.Timeout < 0 || r.Timeout > l.Task:
		return r, fmt.Errorf("%w: timeoutMs is %d; it must be between 1 and %d", ErrInvalid, r.Timeout.Milliseconds(), l.Task.Milliseconds())
	}
	if err := checkUploads(r.Files); err != nil {
		return r, err
	}
	var err error
	if r.Model, err = s.opts.modelNamed(r.Model); err != nil {
		return r, err
	}
	r.MaxTurns = cmp.Or(r.MaxTurns, l.Turns)
	r.Timeout = cmp.Or(r.Timeout, l.Task)
	return r, nil
}

// bytes is the length of all that was said.
func (r TaskRequest) bytes() int {
	n := r.Text.Len()
	for _, said := range r.History {
		n += said.Text.Len()
	}
	return n
}

// fileBytes is the length of its files.
func (r TaskRequest) fileBytes() int {
	n := 0
	for _, f := range r.Files {
		n += len(f.Data)
	}
	return n
}

// follow owns a task from its acceptance to its end.
func (s *Service) follow(ctx context.Context, t *taskState) {
	defer s.sessions.release(t.session)
	defer s.tasks.ended(t.task.ID)
	defer t.cancel(nil)
	defer t.forgetInput()
	unlock, err := s.admit(ctx, t)
	if err != nil {
		t.finish(StatusCancelled, noText, nil)
		return
	}
	defer unlock()
	t.change(func(task *Task) {
		t.before = t.session.vault.Counts()
		task.Status = StatusRunning
	})
	t.emit(EventTaskStarted, EventData{})
	s.opts.Approvals.open(t)
	defer s.opts.Approvals.close(t)
	ctx, release := t.clock.Start(ctx)
	defer release()
	ctx, ended := s.traceTask(ctx, t)
	defer ended()
	t.session.prepare(ctx, s.opts.Backends[0])
	answer, err := s.runAgent(ctx, t)
	switch cause := context.Cause(ctx); {
	case err == nil:
		t.finish(StatusCompleted, answer, nil)
	case errors.Is(cause, errCancelled) || s.ctx.Err() != nil:
		t.finish(StatusCancelled, answer, nil)
	default:
		if errors.Is(cause, sandbox.ErrDeadline) {
			err = errTime
		}
		problem := problemOf(err)
		s.log.Warn("task failed", zap.String("task", string(t.task.ID)), zap.String("session", string(t.session.id)),
			zap.String("code", problem.Code), zap.Error(err))
		t.finish(StatusFailed, answer, problem)
	}
}

// admit waits until the task may run: first for the session's earlier task, then
// for a place among the running.
func (s *Service) admit(ctx context.Context, t *taskState) (unlock func(), err error) {
	unlockSession, err := t.session.tasks.lock(ctx)
	if err != nil {
		return nil, err
	}
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots; unlockSession() }, nil
	case <-ctx.Done():
		unlockSession()
		return nil, ctx.Err()
	}
}

// Wait returns the task once it is final, or ctx's error before.
func (s *Service) Wait(ctx context.Context, user ident.User, id ident.Task) (Task, error) {
	t, err := s.tasks.get(user, id)
	if err != nil {
		return Task{}, err
	}
	select {
	case <-t.done:
		return t.snapshot(), nil
	case <-ctx.Done():
		return Task{}, context.Cause(ctx)
	}
}

// Task returns the task as it stands.
func (s *Service) Task(user ident.User, id ident.Task) (Task, error) {
	t, err := s.tasks.get(user, id)
	if err != nil {
		return Task{}, err
	}
	return t.snapshot(), nil
}

// Tasks returns the user's tasks, the newest first.
func (s *Service) Tasks(user ident.User) []Task {
	var all []Task
	for _, t := range s.tasks.of(user) {
		all = append(all, t.snapshot())
	}
	slices.SortFunc(all, func(a, b Task) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// Cancel ends a task: the model, the script and the tools it waits for. It
// returns at once; Wait tells when all has stopped. A final task stays as it is.
func (s *Service) Cancel(user ident.User, id ident.Task) error {
	t, err := s.tasks.get(user, id)
	if err != nil {
		return err
	}
	t.cancel(errCancelled)
	return nil
}

// Events returns the events after seq, and a channel that is closed when there
// are more or, for a final task, never.
func (s *Service) Events(user ident.User, id ident.Task, seq int) ([]Event, <-chan struct{}, error) {
	t, err := s.tasks.get(user, id)
	if err != nil {
		return nil, nil, err
	}
	events, more := t.events.after(seq)
	return events, more, nil
}
