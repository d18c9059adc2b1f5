package workspace

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"airlock/ident"
	"airlock/workspace/mirror"
)

// The names under which folders are mirrored. A session's is followed by its id.
const (
	mirroredWork      = "workspaces"
	mirroredArtifacts = "artifacts"
)

// leeway is how much more than its quota a folder may hold and still be mirrored: what
// processes write at the same time comes together.
const leeway = 4

// ErrMoved is wrapped where another process has taken over a session's workspace.
var ErrMoved = mirror.ErrConflict

// FetchArtifacts brings in what other processes left in a user's artifacts.
func (s *Store) FetchArtifacts(ctx context.Context, userKey string) error {
	if s.mirror == nil {
		return nil
	}
	f, err := s.artifactsFolder(userKey)
	if err != nil {
		return err
	}
	return s.mirror.Pull(ctx, f)
}

// KeepArtifacts keeps a user's artifacts where other processes find them.
func (s *Store) KeepArtifacts(ctx context.Context, userKey string) error {
	if s.mirror == nil {
		return nil
	}
	f, err := s.artifactsFolder(userKey)
	if err != nil {
		return err
	}
	return s.mirror.Push(ctx, f)
}

// TakeOver makes a session's workspace what the process left that had the session
// before, which cannot keep it any more.
func (s *Store) TakeOver(ctx context.Context, userKey string, id ident.Session) error {
	if s.mirror == nil {
		return nil
	}
	f, err := s.workFolder(userKey, id)
	if err != nil {
		return err
	}
	return s.mirror.Claim(ctx, f)
}

// FetchSession makes the workspace of a session that is new to all processes what was
// kept of it nonetheless.
func (s *Store) FetchSession(ctx context.Context, userKey string, id ident.Session) error {
	if s.mirror == nil {
		return nil
	}
	f, err := s.workFolder(userKey, id)
	if err != nil {
		return err
	}
	return s.mirror.Pull(ctx, f)
}

// KeepSession keeps a session's workspace where the process finds it that has the
// session next. Its error wraps ErrMoved if there is one already.
func (s *Store) KeepSession(ctx context.Context, userKey string, id ident.Session) error {
	if s.mirror == nil {
		return nil
	}
	f, err := s.workFolder(userKey, id)
	if err != nil {
		return err
	}
	return s.mirror.Push(ctx, f)
}

func (s *Store) artifactsFolder(userKey string) (mirror.Folder, error) {
	host, err := s.Artifacts(userKey)
	return s.mirrored(userKey, mirroredArtifacts, host), err
}

func (s *Store) workFolder(userKey string, id ident.Session) (mirror.Folder, error) {
	host, err := s.Session(userKey, id)
	f := s.mirrored(userKey, path.Join(mirroredWork, string(id)), host)
	f.Sole = true
	return f, err
}

func (s *Store) mirrored(userKey, name, host string) mirror.Folder {
	return mirror.Folder{Owner: userKey, Name: name, Host: host, MaxBytes: leeway * s.quota, MaxFiles: leeway * s.maxFiles}
}

// fetchOld fetches the artifacts of users who have some of before a time.
func (s *Store) fetchOld(ctx context.Context, before time.Time) error {
	if s.mirror == nil {
		return nil
	}
	owners, err := s.mirror.Owners(ctx, mirroredArtifacts)
	errs := []error{err}
	for _, userKey := range owners {
		oldest, ok, err := s.mirror.Oldest(ctx, userKey, mirroredArtifacts)
		if err == nil && ok && oldest.Before(before) {
			err = s.FetchArtifacts(ctx, userKey)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Tidy removes what is kept of the workspaces of sessions that keep does not want, and
// empties the folders here of what other processes have removed or erased. It does
// nothing where there is no mirror.
func (s *Store) Tidy(ctx context.Context, keep func(ident.Session) bool) error {
	if s.mirror == nil {
		return nil
	}
	err := s.mirror.RemoveOld(ctx, mirroredWork, func(name string) bool { return keep(ident.Session(name)) })
	if err := errors.Join(err, s.mirror.Tidy(ctx)); err != nil {
		return fmt.Errorf("tidy up mirrored folders: %w", err)
	}
	return nil
}
