package orchestrator

import (
	"context"
	"errors"
	"slices"

	"airlock/ident"
)

// EraseSession ends a session, drops its tasks and erases its values for good: files
// that it left keep their tokens. It fails with ErrNotFound, or ErrWorking while a task
// runs.
func (s *Service) EraseSession(ctx context.Context, user ident.User, id ident.Session) error {
	if err := s.adopt(ctx, user, id); err != nil {
		s.tasks.forgetSession(user, id) // what is read again is as it is elsewhere
		return err
	}
	lived, err := s.sessions.remove(user, id)
	if err != nil {
		return err
	}
	owner := s.opts.Pseudonym.User(user)
	tasks, err := s.forgetTasks(ctx, owner, id)
	if err != nil {
		return err
	}
	kept, err := s.kept.forget(ctx, owner, id)
	if err == nil && !s.tasks.forgetSession(user, id) && !lived && !kept && !tasks {
		return ErrNotFound
	}
	return err
}

// EraseUser ends what a user has under way and erases everything of theirs: tasks with
// their events, sessions with their values, files, artifacts and skills, and what
// servers keep that run for the user alone. The user's API keys stay, and so does what
// servers know that all share. It fails with ErrWorking while a script of the user runs
// outside of a task, and may then be called again.
func (s *Service) EraseUser(ctx context.Context, user ident.User) error {
	for _, t := range s.tasks.of(user) {
		t.cancel(errCancelled)
		select {
		case <-t.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	for _, id := range s.sessions.of(user) {
		if _, err := s.sessions.remove(user, id); err != nil {
			return err
		}
	}
	owner := s.opts.Pseudonym.User(user)
	errs := []error{s.opts.State.Eraser.Erase(ctx, owner), s.opts.Workspaces.RemoveUser(owner), s.opts.Skills.RemoveUser(owner)}
	if s.opts.Servers != nil {
		errs = append(errs, s.opts.Servers.EraseUser(user))
	}
	s.tasks.forgetUser(user)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return s.noteErased(ctx, owner)
}

// of lists the user's sessions in memory.
func (r *sessions) of(user ident.User) (ids []ident.Session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, s := range r.byID {
		if s.user == user {
			ids = append(ids, id)
		}
	}
	return ids
}

// forgetUser drops the ended tasks of a user, and erases what they could still show.
func (r *tasks) forgetUser(user ident.User) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = slices.DeleteFunc(r.finished, func(id ident.Task) bool {
		t := r.byID[id]
		if t == nil || t.request.User != user {
			return false
		}
		t.session.vault.Erase()
		r.forget(id)
		return true
	})
}
