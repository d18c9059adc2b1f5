package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"airlock/ident"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// errCancelled is the cause of a task that its user ended.
var errCancelled = errors.New("cancelled by its user")

// Submit takes a task in and returns its id; the task runs on whatever happens
// to ctx. A request that was sent before, by its Repeat, gives the task it began. It
// fails with ErrInvalid, ErrTooLarge, ErrModel, ErrRepeat, ErrNotFound (the session),
// ErrFull, ErrShare or ErrClosed, and then nothing was taken in; or because the task
// cannot be kept, and then nothing is done for it.
func (s *Service) Submit(ctx context.Context, r TaskRequest) (ident.Task, error) {
	r, err := s.checked(r)
	if err != nil {
		return "", err
	}
	id, repeat, err := s.repeated(ctx, r)
	if id != "" || err != nil {
		return id, err
	}
	session, err := s.take(ctx, r.User, r.Session)
	if err != nil {
		return "", err
	}
	t, taskCtx := s.newTask(r, session, nil)
	t.repeat = repeat
	if id, err := s.tasks.add(t); id != t.task.ID || err != nil {
		s.sessions.release(session)
		t.cancel(err)
		if err == nil {
			return s.Submit(ctx, r)
		}
		return "", err
	}
	if t.refused = s.accept(ctx, t); t.refused != nil {
		s.tasks.refuse(t)
		s.sessions.release(session)
		t.cancel(t.refused)
		close(t.kept)
		if errors.Is(t.refused, errRepeated) {
			return s.Submit(ctx, r)
		}
		return "", t.refused
	}
	s.opts.Observer.TaskTaken()
	s.start(taskCtx, t) // its model may think while the disk writes; see keepEntries
	if err := s.opts.State.Queue.Sync(); err != nil {
		t.refused = fmt.Errorf("keep the task: %w", errors.Join(err, s.opts.State.Queue.Delete(ctx, session.key, taskName(t.task.ID))))
	}
	close(t.kept)
	return t.task.ID, t.refused
}

// newTask makes a task of a session, with the events that it has already.
func (s *Service) newTask(r TaskRequest, session *session, events []Event) (*taskState, context.Context) {
	ctx, cancel := session.within(s.ctx)
	t := &taskState{
		request: r, bytes: r.bytes() + r.fileBytes(), session: session, kept: make(chan struct{}), done: make(chan struct{}),
		cancel: cancel, clock: sandbox.NewClock(r.Timeout),
	}
	t.task = Task{
		ID: ident.NewTask(), Session: session.id, User: r.User, Status: StatusQueued, Title: session.named(),
		Created: time.Now().UTC(), Vault: session.vault,
	}
	t.events = newJournal(t.task.ID, func(entries []entry) error { return s.keepEntries(ctx, t, entries) }, events)
	return t, ctx
}

// start works on a task until it ends.
func (s *Service) start(ctx context.Context, t *taskState) {
	s.work.Go(func() {
		s.follow(ctx, t)
		close(t.done)
		if t.ended {
			s.unqueue(ctx, t)
		}
	})
}

// keepEntries adds entries to the task's log, after the values that their tokens stand
// for. They wait until the task is safe in the queue, and with them all that it shows
// and does.
func (s *Service) keepEntries(ctx context.Context, t *taskState, entries []entry) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	select {
	case <-t.kept:
	case <-ctx.Done():
		return errors.New("keep what happened in the task: the disk does not write the task itself")
	}
	if t.refused != nil {
		return t.refused
	}
	if err := s.kept.session(ctx, t.session); err != nil {
		return err
	}
	text, err := encode(t.session.vault, entries)
	if err != nil {
		return err
	}
	last, err := s.opts.State.Events.Append(ctx, t.session.key, taskName(t.task.ID), text, t.last)
	if err != nil {
		return fmt.Errorf("keep what happened in the task: %w", t.session.lose(err))
	}
	t.last = last
	return nil
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

// follow works on a task from its acceptance to its end.
func (s *Service) follow(ctx context.Context, t *taskState) {
	defer s.sessions.release(t.session)
	defer s.tasks.ended(t.task.ID)
	defer t.cancel(nil)
	defer t.forgetInput()
	unlock, err := s.admit(ctx, t)
	if err != nil {
		s.finish(ctx, t, StatusCancelled, noText, nil)
		return
	}
	defer unlock()
	if problem := t.lost(); problem != nil {
		s.finish(ctx, t, StatusFailed, noText, problem)
		return
	}
	t.change(func(task *Task) {
		t.before = t.session.vault.Counts()
		task.Status = StatusRunning
	})
	ctx, ended := s.traceTask(ctx, t)
	defer ended()
	kept := t.keepEvents()
	answer, err := s.workOn(ctx, t)
	kept()
	switch cause := context.Cause(ctx); {
	case err == nil:
		s.finish(ctx, t, StatusCompleted, answer, nil)
	case errors.Is(cause, errCancelled) || s.ctx.Err() != nil || t.session.gone():
		s.finish(ctx, t, StatusCancelled, answer, nil)
	default:
		if errors.Is(cause, errUnkept) {
			err = cause
		}
		problem := problemOf(err)
		s.logOf(t).Warn("task failed", zap.String("code", problem.Code), zap.Error(err))
		s.finish(ctx, t, StatusFailed, answer, problem)
	}
}

// workOn lets the agent work on a task that may run.
func (s *Service) workOn(ctx context.Context, t *taskState) (pii.Tokenized, error) {
	if t.past == nil {
		t.emit(EventTaskStarted, EventData{})
	} else {
		t.pickUp()
	}
	done, err := s.sessions.work(t.session)
	if err != nil {
		return noText, err
	}
	defer done()
	s.opts.Approvals.open(t)
	defer s.opts.Approvals.close(t)
	ctx, release := t.clock.Start(ctx)
	defer release()
	t.session.prepare(ctx, s.opts.Backends[0])
	answer, err := s.runAgent(ctx, t)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, sandbox.ErrDeadline) {
		err = errTime
	}
	return answer, err
}

// keepEvents keeps what happens in a task as it comes, until done is called. A task
// whose events cannot be kept is ended.
func (t *taskState) keepEvents() (done func()) {
	stop := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		t.events.flushUntil(stop, func(err error) { t.cancel(fmt.Errorf("%w: %w", errUnkept, err)) })
	})
	return func() {
		close(stop)
		work.Wait()
	}
}

// finish gives the task its final status, once. It is kept before anybody sees it. A
// task that another process is to go on with stays as it is.
func (s *Service) finish(ctx context.Context, t *taskState, status Status, message pii.Tokenized, problem *Problem) {
	if t.session.gone() || s.lasting.Load() && s.ctx.Err() != nil && !errors.Is(context.Cause(ctx), errCancelled) {
		t.events.leave()
		return
	}
	err := t.events.flush()
	final := t.final(status, message, problem)
	last := t.events.add(map[Status]EventType{
		StatusCompleted: EventTaskCompleted, StatusFailed: EventTaskFailed, StatusCancelled: EventTaskCancelled,
	}[status], EventData{Text: message, Problem: problem})
	t.events.close()
	if err == nil {
		err = s.keepEnd(ctx, t, final, *last)
	}
	if err != nil && t.session.gone() {
		t.events.leave()
		return
	}
	if err != nil {
		s.logOf(t).Error("what a task did cannot be kept", zap.Error(err))
		t.conclude(final)
		t.events.giveUp()
	}
	s.opts.Observer.TaskEnded(string(final.Status), final.Finished.Sub(final.Created))
}

// admit waits until the task may run: first for the session's earlier task, then
// for a place among the running.
func (s *Service) admit(ctx context.Context, t *taskState) (unlock func(), err error) {
	unlockSession, err := t.session.tasks.lock(ctx)
	if err != nil {
		return nil, err
	}
	leave, err := s.slots.enter(ctx, t.request.User, t.task.Created)
	if err != nil {
		unlockSession()
		return nil, err
	}
	return func() { leave(); unlockSession() }, nil
}

// Wait returns the task once it is final, or ctx's error before; ErrClosed if the task
// goes on in the next process, ErrMoved if it does in another.
func (s *Service) Wait(ctx context.Context, user ident.User, id ident.Task) (Task, error) {
	t, err := s.find(user, id)
	if err != nil {
		return Task{}, err
	}
	select {
	case <-t.done:
		task := t.snapshot()
		if !task.Status.Final() && t.session.gone() {
			return Task{}, ErrMoved
		}
		if !task.Status.Final() {
			return Task{}, ErrClosed
		}
		return task, nil
	case <-ctx.Done():
		return Task{}, context.Cause(ctx)
	}
}

// Task returns the task as it stands.
func (s *Service) Task(user ident.User, id ident.Task) (Task, error) {
	t, err := s.find(user, id)
	if err != nil {
		return Task{}, err
	}
	return t.snapshot(), nil
}

// Tasks returns the user's tasks, the newest first. Of one that has ended in an earlier
// process it tells what a list needs, and not the answer.
func (s *Service) Tasks(user ident.User) ([]Task, error) {
	ctx, cancel := keepingTime()
	defer cancel()
	var all []Task
	here := map[ident.Task]bool{}
	for _, t := range s.tasks.of(user) {
		task := t.snapshot()
		all = append(all, task)
		here[task.ID] = true
	}
	ended, err := s.endedTasks(ctx, user, here)
	if err != nil {
		return nil, err
	}
	all = append(all, ended...)
	for _, task := range ended {
		here[task.ID] = true
	}
	waiting, err := s.waitingTasks(ctx, user, here)
	if err != nil {
		return nil, err
	}
	all = append(all, waiting...)
	slices.SortFunc(all, func(a, b Task) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// Cancel ends a task: the model, the script and the tools it waits for. It
// returns at once; Wait tells when all has stopped. A final task stays as it is.
func (s *Service) Cancel(user ident.User, id ident.Task) error {
	t, err := s.find(user, id)
	if err != nil {
		return err
	}
	t.cancel(errCancelled)
	return nil
}

// Events returns the events after seq, and a channel that is closed when there
// are more or, for a final task, never.
func (s *Service) Events(user ident.User, id ident.Task, seq int) ([]Event, <-chan struct{}, error) {
	t, err := s.find(user, id)
	if err != nil {
		return nil, nil, err
	}
	events, more := t.events.after(seq)
	return events, more, nil
}
