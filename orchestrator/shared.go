package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"go.uber.org/zap"

	"airlock/ident"
	"airlock/orchestrator/state"
)

// Several processes may share a State. A session then lives in one of them, whose name
// is in the session's card; a task that is in no session yet, in the one that took it in.
// Where that one is dead, another takes the session over, by putting its own name into
// the card in place of the dead one's. What the dead one may still write, if it is only
// slow, comes too late: each of a session's and a task's records is written behind the
// one that its writer has seen last, and who takes over writes one to each.

// Members are the processes that share the state.
type Members interface {
	// Self is the name of this process: another one after each time that it was cut off
	// from the state, empty while it is.
	Self() string
	// Find says whether a member lives, and where its API is reached, if it says so.
	Find(ctx context.Context, id string) (url string, lives bool, err error)
	// Changes gets one when Self, or who lives, may have changed.
	Changes() <-chan struct{}
}

// ElsewhereError says that another process works on what was asked for.
type ElsewhereError struct {
	// Member is its name among Members, URL where its API is reached, empty if it does
	// not say.
	Member, URL string
}

// Error implements error.
func (*ElsewhereError) Error() string { return "another process works on this" }

const (
	// watchAgain is how soon a takeover that failed is tried again.
	watchAgain = 5 * time.Second
	// readAtOnce is how many tasks of other processes are read at a time, for a list.
	readAtOnce = 16
)

// isCutOff reports whether this process is cut off from those that share the state.
func (k *keeper) isCutOff() bool { return k.state.Members != nil && k.self() == "" }

// self is this process's name among those that share the state; empty for one alone.
func (k *keeper) self() string {
	if k.state.Members == nil {
		return ""
	}
	return k.state.Members.Self()
}

// holds fails with ErrMoved once this process may not write for a session any more.
func (k *keeper) holds(s *session) error {
	if s.gone() || k.self() != s.holder {
		s.letGo(ErrMoved)
		return ErrMoved
	}
	return nil
}

// lose lets go of a session if an error says that another process has taken it over.
func (s *session) lose(err error) error {
	if s.holder == "" || !errors.Is(err, state.ErrConflict) {
		return err
	}
	s.letGo(ErrMoved)
	return fmt.Errorf("%w: %w", ErrMoved, err)
}

// gone reports whether this process has let go of the session.
func (s *session) gone() bool { return s.held != nil && s.held.Err() != nil }

// within makes a context that ends when this process lets go of the session, too.
func (s *session) within(parent context.Context) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	stop := context.AfterFunc(s.held, func() { cancel(context.Cause(s.held)) })
	return ctx, func(err error) {
		stop()
		cancel(err)
	}
}

// claim makes a session that is kept this process's own. It fails with an
// ElsewhereError if it is that of another one that lives.
func (k *keeper) claim(ctx context.Context, s *session, c card, number uint64) error {
	s.keeping.card = number
	if k.state.Members == nil || c.Holder == s.holder {
		return nil
	}
	if err := k.elsewhere(ctx, c.Holder); err != nil {
		return err
	}
	c.Holder = s.holder
	if err := k.putCard(ctx, s, c); err != nil {
		return s.lose(err)
	}
	return k.fence(ctx, k.state.Vaults, s.key, string(s.id), nil)
}

// elsewhere fails with an ElsewhereError if a member other than this process lives.
func (k *keeper) elsewhere(ctx context.Context, member string) error {
	if k.state.Members == nil || member == k.self() {
		return nil
	}
	url, lives, err := k.state.Members.Find(ctx, member)
	if err != nil {
		return err
	}
	if lives {
		return &ElsewhereError{Member: member, URL: url}
	}
	return nil
}

// fence adds a record that says nothing to a log, so that no other process can add one
// behind what it has seen last.
func (k *keeper) fence(ctx context.Context, log Log, owner, name string, nothing []byte) error {
	for {
		_, last, err := log.Read(ctx, owner, name, 0)
		if err != nil {
			return err
		}
		if _, err = log.Append(ctx, owner, name, nothing, last); !errors.Is(err, state.ErrConflict) {
			return err
		}
	}
}

// holderOf names who works on a task that waits: who holds its session, or took it in.
func (s *Service) holderOf(ctx context.Context, owner string, kept keptRequest) (string, error) {
	c, _, err := s.kept.card(ctx, owner, kept.Session)
	if errors.Is(err, fs.ErrNotExist) {
		return kept.Holder, nil
	}
	return c.Holder, err
}

// take is a session to work in, as sessions.take gives it. If its process died, what it
// left there is taken over first.
func (s *Service) take(ctx context.Context, user ident.User, id ident.Session) (*session, error) {
	if err := s.adopt(ctx, user, id); err != nil {
		return nil, err
	}
	return s.sessions.take(user, id)
}

// adopt takes over what dead processes left, if a session is one of theirs.
func (s *Service) adopt(ctx context.Context, user ident.User, id ident.Session) error {
	if s.opts.State.Members == nil || !s.lasting.Load() || id == "" || s.sessions.vault(id) != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, keepTime)
	defer cancel()
	c, _, err := s.kept.card(ctx, s.opts.Pseudonym.User(user), id)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, state.ErrName) {
		return nil // who needs it says so
	}
	if err == nil {
		err = s.kept.elsewhere(ctx, c.Holder)
	}
	if err != nil {
		return err
	}
	return s.takeOver(ctx)
}

// takeOver goes on with the tasks that are nobody's: those of dead processes, and its
// own that are not at work.
func (s *Service) takeOver(ctx context.Context) error {
	unlock, err := s.taking.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	places, err := s.opts.State.Queue.All(ctx, taskFolder)
	if err != nil {
		return fmt.Errorf("look for tasks that were left: %w", err)
	}
	left, err := s.readQueue(ctx, places)
	if err != nil {
		return err
	}
	resumed := 0
	var errs []error
	for _, one := range left {
		err := s.resume(ctx, one)
		switch elsewhere := (*ElsewhereError)(nil); {
		case err == nil:
			resumed++
		case errors.As(err, &elsewhere), errors.Is(err, ErrMoved): // another one was faster
		default: // the others need not wait for this one
			errs = append(errs, fmt.Errorf("resume task %s: %w", one.id, err))
		}
	}
	if resumed > 0 {
		s.log.Info("resumed the tasks that an earlier process left", zap.Int("tasks", resumed))
	}
	return errors.Join(errs...)
}

// watch lets go of all sessions when this process was cut off from the state, and takes
// over what dead processes leave, until the service ends.
func (s *Service) watch(self string) {
	again := time.NewTimer(sweepEvery)
	defer again.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-s.opts.State.Members.Changes():
		case <-again.C:
		}
		if now := s.kept.self(); now != self {
			self = now
			s.cutOff(self)
		}
		s.tasks.forgetGone()
		next := sweepEvery
		if self != "" {
			if err := errors.Join(s.forgetErased(s.ctx), s.takeOver(s.ctx)); err != nil && s.ctx.Err() == nil {
				s.log.Warn("taking over what dead processes left failed; it is tried again in some seconds", zap.Error(err))
				next = watchAgain
			}
		}
		again.Reset(next)
	}
}

// cutOff lets go of what this process holds under another name than self.
func (s *Service) cutOff(self string) {
	n := s.sessions.letGo(self)
	if self == "" {
		s.log.Error("cut off from the store that is shared: stopped the work in all sessions; other processes go on with it", zap.Int("sessions", n))
	} else {
		s.log.Info("reached the store again that is shared", zap.Int("sessions", n))
	}
}

// letGo lets go of all sessions that are held under another name than self.
func (r *sessions) letGo(self string) (n int) {
	r.mu.Lock()
	var idle []*session
	for id, s := range r.byID {
		if s.holder == self || s.gone() {
			continue
		}
		n++
		s.letGo(ErrMoved)
		if s.users == 0 {
			delete(r.byID, id)
			idle = append(idle, s)
		}
	}
	r.mu.Unlock()
	for _, s := range idle {
		r.leave(s)
	}
	return n
}

// leave ends a session here and nowhere else: another process goes on with it.
func (r *sessions) leave(s *session) {
	if err := errors.Join(s.close(), r.opts.Skills.Discard(s.key, s.id), r.endServers(s)); err != nil {
		r.opts.Log.Warn("a session that another process has was not left cleanly", zap.String("session", string(s.id)), zap.Error(err))
	}
	close(s.left)
}

// fenceTask keeps its earlier process from ending a task, or adding to its log, and
// reads what that one has done. It fails with fs.ErrExist if the task has ended.
func (s *Service) fenceTask(ctx context.Context, t leftTask, session *session) (p past, end uint64, err error) {
	if s.opts.State.Members == nil {
		p, err = s.readLog(ctx, t.owner, t.id, session.vault)
		return p, 0, err
	}
	if end, err = s.fenceEnd(ctx, t.owner, t.id, session.id); err != nil {
		return p, 0, err
	}
	nothing, err := encode(session.vault, nil)
	if err == nil {
		err = s.kept.fence(ctx, s.opts.State.Events, t.owner, taskName(t.id), nothing)
	}
	if err == nil {
		p, err = s.readLog(ctx, t.owner, t.id, session.vault)
	}
	return p, end, err
}

// fenceEnd keeps, where a task's end will be, that it has none yet, and gives the number
// of that.
func (s *Service) fenceEnd(ctx context.Context, owner string, id ident.Task, session ident.Session) (uint64, error) {
	text, number, err := s.opts.State.Tasks.Load(ctx, owner, taskName(id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	var there keptEnd
	if err == nil {
		if err := json.Unmarshal(text, &there); err != nil {
			return 0, fmt.Errorf("decode a task: %w", err)
		}
		if there.Record != nil {
			return 0, fs.ErrExist
		}
	}
	if text, err = json.Marshal(keptEnd{Session: session}); err != nil {
		return 0, err
	}
	return s.opts.State.Tasks.Replace(ctx, owner, taskName(id), text, number)
}

// waitingTasks lists the user's tasks that have not ended, but those in skip: they are
// at work in another process, or soon will be.
func (s *Service) waitingTasks(ctx context.Context, user ident.User, skip map[ident.Task]bool) ([]Task, error) {
	owner := s.opts.Pseudonym.User(user)
	names, err := s.opts.State.Queue.List(ctx, owner, taskFolder)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex // guards all and errs
	var all []Task
	var errs []error
	var work sync.WaitGroup
	places := make(chan struct{}, readAtOnce)
	for _, name := range names {
		id := ident.Task(name)
		if skip[id] {
			continue
		}
		places <- struct{}{}
		work.Go(func() {
			defer func() { <-places }()
			kept, err := s.queued(ctx, owner, id)
			var t *taskState
			if err == nil {
				t, err = s.waiting(ctx, user, id, kept)
			}
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				all = append(all, t.snapshot())
			case !errors.Is(err, fs.ErrNotExist): // else it has ended meanwhile
				errs = append(errs, err)
			}
		})
	}
	work.Wait()
	return all, errors.Join(errs...)
}
