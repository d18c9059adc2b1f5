package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"airlock/workspace"
)

// Where several processes share a State, files are mirrored there too: a session's
// workspace is kept after each of its scripts, and fetched by the process that takes the
// session over; artifacts and skills are kept and fetched as they are made and asked for.
// Without a mirror all this does nothing.

// filesTime bounds how long it may take to keep or fetch files: 64 MiB take some seconds.
const filesTime = time.Minute

// fetchFiles makes the folders of a session what other processes left.
func (r *sessions) fetchFiles(s *session) error {
	ctx, cancel := context.WithTimeout(context.Background(), filesTime)
	defer cancel()
	err := errors.Join(r.opts.Workspaces.FetchArtifacts(ctx, s.key), r.opts.Skills.Fetch(s.key))
	switch {
	case err != nil || s.folders != nil:
		return err
	case s.loaded:
		return r.opts.Workspaces.TakeOver(ctx, s.key, s.id)
	}
	// A process may have died between a script's files and the session's card.
	return r.opts.Workspaces.FetchSession(ctx, s.key, s.id)
}

// keepFiles keeps what is in the workspace of a session and in its user's artifacts. It
// does so when the task was cancelled too: the session goes on.
func (s *Service) keepFiles(ctx context.Context, session *session) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), filesTime)
	defer cancel()
	if err := s.kept.holds(session); err != nil {
		return err
	}
	err := s.opts.Workspaces.KeepSession(ctx, session.key, session.id)
	if errors.Is(err, workspace.ErrMoved) {
		session.letGo(ErrMoved)
		return fmt.Errorf("%w: %w", ErrMoved, err)
	}
	if err != nil {
		return err
	}
	return s.opts.Workspaces.KeepArtifacts(ctx, session.key)
}
