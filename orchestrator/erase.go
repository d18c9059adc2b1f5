package orchestrator

import (
	"context"

	"airlock/ident"
)

// EraseSession ends a session, drops its tasks and erases its values for good: files
// that it left keep their tokens. It fails with ErrNotFound, or ErrWorking while a task
// runs.
func (s *Service) EraseSession(ctx context.Context, user ident.User, id ident.Session) error {
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
