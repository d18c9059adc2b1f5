package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/state"
	"airlock/pii"
)

const (
	// maxRuns is how often a task is begun: one that ends the process each time must
	// not do so for ever.
	maxRuns = 5
	// maxRest is how long after it was accepted a task is still resumed: nobody
	// expects it to act after that.
	maxRest = 24 * time.Hour
)

// interruptedNote stands for the result of a script that was running when its process
// ended.
var interruptedNote = pii.Static("The script was interrupted: airlock ended while it ran. It may have done none, some or all of its work, and its result is lost. Look at what is there before you run it again.")

// past is what a task's log says of it.
type past struct {
	events   []Event
	last     uint64 // record of the log
	messages []llm.Message
	began    map[int]bool // calls of the latest turn
	results  map[int]callResult
	task     *Task // as it stood last
}

// readLog reads a task's log.
func (s *Service) readLog(ctx context.Context, owner string, id ident.Task, vault *pii.Vault) (past, error) {
	p := past{began: map[int]bool{}, results: map[int]callResult{}}
	records, last, err := s.opts.State.Events.Read(ctx, owner, taskName(id), 0)
	if err != nil {
		return p, fmt.Errorf("read a task's log: %w", err)
	}
	p.last = last
	for _, r := range records {
		entries, err := decode(vault, r)
		if err != nil {
			return p, err
		}
		for _, e := range entries {
			if err := p.take(e); err != nil {
				return p, err
			}
		}
	}
	return p, nil
}

func (p *past) take(e entry) error {
	switch {
	case e.Event != nil:
		if e.Event.Seq != len(p.events)+1 {
			return fmt.Errorf("a task's log is damaged: event %d stands behind %d others", e.Event.Seq, len(p.events))
		}
		p.events = append(p.events, *e.Event)
	case e.Message != nil:
		p.messages = append(p.messages, e.Message.message())
		clear(p.began)
		clear(p.results)
	case e.Began != nil:
		p.began[*e.Began] = true
	case e.Result != nil:
		p.results[e.Result.Call] = *e.Result
	case e.Task != nil:
		p.task = &e.Task.Task
	}
	return nil
}

// runs is how often the task was begun.
func (p *past) runs() (n int) {
	for _, e := range p.events {
		if e.Type == EventTaskStarted || e.Type == EventTaskResumed {
			n++
		}
	}
	return n
}

// status is where the task stood last.
func (p *past) status() Status {
	if len(p.events) == 0 {
		return StatusQueued
	}
	asked := 0
	for _, e := range p.events {
		switch e.Type {
		case EventApprovalRequired:
			asked++
		case EventApprovalAnswered:
			asked--
		}
	}
	if asked > 0 {
		return StatusAwaitingApproval
	}
	return StatusRunning
}

// Resume goes on with the tasks that an earlier process left, and ends the sessions
// that nobody has used for long; of processes that share the state, it goes on with what
// the dead ones leave, from now on too. From then on Close leaves tasks and sessions to
// the next process. A task that cannot be resumed is reported as failed. It is called once,
// by a process that serves.
func (s *Service) Resume(ctx context.Context) error {
	s.lasting.Store(true)
	self := s.kept.self()
	if self != "" {
		if err := s.forgetErased(ctx); err != nil {
			return err
		}
	}
	if err := s.takeOver(ctx); err != nil {
		return err
	}
	if s.opts.State.Members != nil {
		s.work.Go(func() { s.watch(self) })
	}
	s.work.Go(s.keepTidy)
	return s.sessions.endForgotten(ctx, s.opts.Limits.SessionIdle)
}

// leftTask is a task that an earlier process left.
type leftTask struct {
	id    ident.Task
	owner string
	keptRequest
}

// readQueue reads the tasks that are at work in no process, in the order they were
// accepted.
func (s *Service) readQueue(ctx context.Context, places []state.Place) ([]leftTask, error) {
	var left []leftTask
	for _, p := range places {
		one := leftTask{id: ident.Task(p.Name), owner: p.Owner}
		if s.tasks.works(one.id) {
			continue
		}
		text, err := s.opts.State.Queue.Get(ctx, p.Owner, taskName(one.id))
		if errors.Is(err, fs.ErrNotExist) {
			continue // its user is being erased
		}
		if err == nil {
			err = json.Unmarshal(text, &one.keptRequest)
		}
		if err != nil {
			return nil, fmt.Errorf("read task %s: %w", one.id, err)
		}
		free, err := s.isFree(ctx, one)
		if err != nil {
			return nil, err
		}
		if free {
			left = append(left, one)
		}
	}
	slices.SortFunc(left, func(a, b leftTask) int { return a.Created.Compare(b.Created) })
	return left, nil
}

// isFree reports whether no other process works on a task.
func (s *Service) isFree(ctx context.Context, t leftTask) (bool, error) {
	if s.opts.State.Members == nil {
		return true, nil
	}
	holder, err := s.holderOf(ctx, t.owner, t.keptRequest)
	if err == nil {
		err = s.kept.elsewhere(ctx, holder)
	}
	if elsewhere := (*ElsewhereError)(nil); errors.As(err, &elsewhere) {
		return false, nil
	}
	return err == nil, err
}

// resume takes up one task.
func (s *Service) resume(ctx context.Context, left leftTask) error {
	if _, err := s.ended(ctx, left.User, left.id); err == nil {
		return s.opts.State.Queue.Delete(ctx, left.owner, taskName(left.id)) // only that was left to do
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	request, err := left.request(s.opts.StateKey, left.id)
	if err != nil {
		return err
	}
	session, err := s.again(ctx, left.User, left.Session)
	if err != nil {
		return err
	}
	past, end, err := s.fenceTask(ctx, left, session)
	if err != nil {
		s.sessions.release(session)
		return err
	}
	t, taskCtx := s.newTask(request, session, past.events)
	close(t.kept)
	t.past, t.last, t.end = &past, past.last, end
	t.task.ID, t.task.Created, t.events.task = left.id, left.Created, left.id
	if past.task != nil {
		created := t.task
		t.task = *past.task
		t.task.Status, t.task.Vault, t.task.Title = created.Status, created.Vault, created.Title
	}
	if err := s.tasks.addAgain(t); err != nil {
		s.sessions.release(session)
		t.cancel(err)
		return err
	}
	s.start(taskCtx, t)
	return nil
}

// again takes a session that an earlier process had, or makes it anew where that one
// ended before it kept anything.
func (s *Service) again(ctx context.Context, user ident.User, id ident.Session) (*session, error) {
	session, err := s.sessions.enter(user, id)
	if !errors.Is(err, ErrNotFound) {
		return session, err
	}
	if session, err = s.sessions.make(user, id); err != nil || s.opts.State.Members == nil {
		return session, err
	}
	if err := s.kept.session(ctx, session); err != nil { // at once, since others may make it too
		s.sessions.release(session)
		return nil, err
	}
	return session, nil
}

// lost says why a task that an earlier process left is not to be gone on with; nil if
// it is.
func (t *taskState) lost() *Problem {
	switch {
	case t.past == nil:
		return nil
	case t.past.runs() >= maxRuns:
		return &Problem{"interrupted", fmt.Sprintf("airlock ended %d times while it worked on the task", maxRuns), "look at the server's log for the reason; send less data at once"}
	case time.Since(t.task.Created) > maxRest:
		return &Problem{"interrupted", "airlock was not running for so long that the task may not be wanted any more", "send it again if it is"}
	}
	return nil
}

// pickUp closes in the task's events what its earlier process left open.
func (t *taskState) pickUp() {
	if len(t.past.events) == 0 {
		t.emit(EventTaskStarted, EventData{})
		return
	}
	t.emit(EventTaskResumed, EventData{})
	speaks := false
	scripts := map[ident.Execution]bool{}
	asked := map[ident.Approval]EventData{}
	for _, e := range t.past.events {
		switch e.Type {
		case EventModelDelta:
			speaks = e.Data.Part == ""
		case EventExecutionStarted:
			scripts[e.Data.Execution] = true
		case EventExecutionFinished:
			delete(scripts, e.Data.Execution)
		case EventApprovalRequired:
			asked[e.Data.Approval.ID] = e.Data
		case EventApprovalAnswered:
			delete(asked, e.Data.Approval.ID)
		}
	}
	if speaks {
		t.emit(EventModelDelta, EventData{Part: PartDiscarded})
	}
	for _, data := range asked {
		data.Outcome = "cancelled"
		t.emit(EventApprovalAnswered, data)
	}
	for id := range scripts {
		t.emit(EventExecutionFinished, EventData{Execution: id, Outcome: "interrupted"})
	}
}

// conversation is what was said in the task so far, nil if nothing was.
func (t *taskState) conversation() []llm.Message {
	if t.past == nil {
		return nil
	}
	return t.past.messages
}

// sweepKept ends sessions that no process has in memory any more.
func (s *Service) sweepKept() error {
	if !s.lasting.Load() {
		return nil
	}
	return s.sessions.endForgotten(s.ctx, s.opts.Limits.SessionIdle)
}
