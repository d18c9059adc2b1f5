package orchestrator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"

	"airlock/ident"
)

// A process that is dead, or cut off, when a user is erased still has files of theirs,
// and would bring them back. That a user was erased is therefore kept where all processes
// find it, under the user's pseudonym, with a mark that is another one each time. Each
// process notes the marks of those erasures that it has done itself.

// Notes are what a process keeps beside its own files, and shares with no other one.
type Notes interface {
	Put(ctx context.Context, name string, value []byte) error
	Get(ctx context.Context, name string) ([]byte, error)
}

const (
	// erasedOwner is nobody; no pseudonym is as short.
	erasedOwner  = "erased"
	erasedFolder = "users"
)

func erasedName(owner string) string { return erasedFolder + "/" + owner }

// AnnounceErasure has processes that share the state, and cannot be asked now, erase what
// they have of a user before they go on. EraseUser is to follow, in all that can be asked.
func (s *Service) AnnounceErasure(ctx context.Context, user ident.User) error {
	if s.opts.State.Members == nil {
		return nil
	}
	if err := s.opts.State.Kept.Put(ctx, erasedOwner, erasedName(s.opts.Pseudonym.User(user)), []byte(rand.Text())); err != nil {
		return fmt.Errorf("keep that a user is erased: %w", err)
	}
	return nil
}

// noteErased notes that this process has done what was announced of a user.
func (s *Service) noteErased(ctx context.Context, owner string) error {
	if s.opts.State.Members == nil {
		return nil
	}
	mark, err := s.opts.State.Kept.Get(ctx, erasedOwner, erasedName(owner))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = s.opts.State.Notes.Put(ctx, owner, mark)
	}
	if err != nil {
		return fmt.Errorf("note that a user is erased: %w", err)
	}
	return nil
}

// forgetErased removes the files of users who were erased while this process could not
// be asked. One with a session here has come back since, or is being erased.
func (s *Service) forgetErased(ctx context.Context) error {
	all, err := s.opts.State.Kept.List(ctx, erasedOwner, erasedFolder)
	errs := []error{err}
	for _, owner := range all {
		mark, err := s.opts.State.Kept.Get(ctx, erasedOwner, erasedName(owner))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		known, err := s.opts.State.Notes.Get(ctx, owner)
		switch {
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			errs = append(errs, err)
		case string(known) == string(mark), s.sessions.anyOf(owner):
		default:
			if err = s.removeFiles(owner); err == nil {
				err = s.opts.State.Notes.Put(ctx, owner, mark)
			}
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove files of users who were erased: %w", err)
	}
	return nil
}

// removeFiles removes what is in this process's folders of a user who has no session.
func (s *Service) removeFiles(owner string) error {
	errs := []error{s.opts.Workspaces.RemoveUser(owner), s.opts.Skills.RemoveUser(owner)}
	if s.opts.Servers != nil {
		errs = append(errs, s.opts.Servers.EraseFolders(owner))
	}
	return errors.Join(errs...)
}

// anyOf reports whether a user has a session in memory.
func (r *sessions) anyOf(owner string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.byID {
		if s.key == owner {
			return true
		}
	}
	return false
}
