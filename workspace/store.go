package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"airlock/ident"
	"airlock/workspace/mirror"
	"airlock/workspace/rooted"
)

// ErrName is wrapped when a user's pseudonym or a session's id is not of the form
// that those have, and so must not become a folder's name.
var ErrName = errors.New("not a pseudonym or id; take it from package ident")

// Options configure a Store.
type Options struct {
	// Dir is the host folder that all others go into. It is made if missing.
	Dir string
	// QuotaBytes and MaxFiles bound each workspace and each user's artifacts; 0
	// takes the default.
	QuotaBytes int64
	MaxFiles   int
	// Mirror keeps folders where other processes find them; nil where there are none.
	Mirror *mirror.Mirror
}

// Store keeps a workspace per session and a folder of artifacts per user. Users
// appear by pseudonym only, as ident.Pseudonym makes them. Layout below Dir:
//
//	workspaces/<user>/<session>/
//	artifacts/<user>/
type Store struct {
	dir      *rooted.Dir
	host     string
	quota    int64
	maxFiles int
	mirror   *mirror.Mirror // nil where no other process needs the folders
}

// New opens a store.
func New(o Options) (*Store, error) {
	if o.Dir == "" || o.QuotaBytes < 0 || o.MaxFiles < 0 {
		return nil, errors.New("open workspace store: it needs a folder and quotas that are not negative")
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make workspace store: %w", err)
	}
	dir, err := rooted.Open(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace store: %w", err)
	}
	return &Store{
		dir: dir, host: o.Dir,
		quota:    orDefault(o.QuotaBytes, DefaultQuotaBytes),
		maxFiles: int(orDefault(int64(o.MaxFiles), DefaultMaxFiles)),
		mirror:   o.Mirror,
	}, nil
}

// Close releases the store's folder.
func (s *Store) Close() error { return s.dir.Close() }

// Session returns the host folder of a session's workspace, made if missing.
func (s *Store) Session(userKey string, id ident.Session) (dir string, err error) {
	return s.folder("workspaces", userKey, string(id))
}

// Artifacts returns the host folder of a user's artifacts, made if missing.
func (s *Store) Artifacts(userKey string) (dir string, err error) {
	return s.folder("artifacts", userKey)
}

// Folder describes a writable host folder with the store's quotas.
func (s *Store) Folder(guest, root string) Folder {
	return Folder{Guest: guest, Root: root, QuotaBytes: s.quota, MaxFiles: s.maxFiles}
}

// RemoveSession deletes a session's workspace, also where it is mirrored. None there is
// no error.
func (s *Store) RemoveSession(ctx context.Context, userKey string, id ident.Session) error {
	if err := s.remove("workspaces", userKey, string(id)); err != nil || s.mirror == nil {
		return err
	}
	return s.mirror.Remove(ctx, userKey, path.Join(mirroredWork, string(id)))
}

// RemoveUser deletes everything of a user that is here. Nothing there is no error. What
// is mirrored goes with whatever else is kept of the user.
func (s *Store) RemoveUser(userKey string) error {
	err := errors.Join(s.remove("workspaces", userKey), s.remove("artifacts", userKey))
	if err != nil || s.mirror == nil {
		return err
	}
	return s.mirror.Forget(userKey)
}

// Prune deletes the workspaces of all sessions that keep does not want, such as
// those that an earlier process left. It is for the start, before sessions are
// opened.
func (s *Store) Prune(keep func(ident.Session) bool) error {
	users, err := s.dir.ReadDir("workspaces", maxFolders)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("prune workspaces: %w", err)
	}
	var errs []error
	for _, u := range users {
		sessions, err := s.dir.ReadDir(path.Join("workspaces", u.Name()), maxFolders)
		errs = append(errs, err)
		for _, id := range sessions {
			if !keep(ident.Session(id.Name())) {
				errs = append(errs, s.dir.RemoveAll(path.Join("workspaces", u.Name(), id.Name())))
			}
		}
	}
	return errors.Join(errs...)
}

// maxFolders bounds how many folders of users, and of sessions of one, are looked
// at; 1 M names take some 100 MB for a moment.
const maxFolders = 1_000_000

func (s *Store) folder(names ...string) (string, error) {
	name, err := join(names)
	if err == nil {
		_, err = s.dir.MakeDirs(name, func() error { return nil })
	}
	if err != nil {
		return "", fmt.Errorf("make folder in %s: %w", names[0], err)
	}
	return filepath.Join(s.host, filepath.FromSlash(name)), nil
}

func (s *Store) remove(names ...string) error {
	name, err := join(names)
	if err == nil {
		err = s.dir.RemoveAll(name)
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", names[0], err)
	}
	return nil
}

// nameForm is what pseudonyms and ids look like; no dot, so no "..", no user id.
var nameForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// join makes a path of names that must not lead anywhere else.
func join(names []string) (string, error) {
	for _, n := range names {
		if !nameForm.MatchString(n) {
			return "", ErrName
		}
	}
	return path.Join(names...), nil
}
