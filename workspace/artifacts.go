package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"airlock/workspace/rooted"
)

// Artifact is a file that a script left for its user.
type Artifact struct {
	// Name is its path below /artifacts, with slashes. Scripts choose it, so it is
	// to be tokenized before a model reads it.
	Name     string
	Size     int64
	Modified time.Time
	// MIME is what its extension says it holds, from a fixed table. Text says
	// whether it is text, whose tokens are to be replaced on the way to the user.
	MIME string
	Text bool
}

// List lists a user's artifacts, newest first. Links, pipes and the like are not
// artifacts.
func (s *Store) List(userKey string) ([]Artifact, error) {
	files, err := s.artifacts(userKey)
	if err != nil {
		return nil, fmt.Errorf("list artifacts: %w", err)
	}
	listed := make([]Artifact, len(files))
	for i, f := range files {
		listed[i] = artifact(f.Name, f.Info)
	}
	return listed, nil
}

func (s *Store) artifacts(userKey string) ([]rooted.Entry, error) {
	dir, err := s.openArtifacts(userKey)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer dir.Close()
	found, err := dir.Walk(".", s.maxFiles)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(e rooted.Entry) bool { return !e.Info.Mode().IsRegular() })
	slices.SortFunc(found, func(a, b rooted.Entry) int {
		if c := b.Info.ModTime().Compare(a.Info.ModTime()); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return found, nil
}

// ReadArtifact returns an artifact of at most max bytes. The name comes from
// outside; it may lead into subfolders.
func (s *Store) ReadArtifact(userKey, name string, max int64) ([]byte, Artifact, error) {
	dir, err := s.openArtifacts(userKey)
	if err != nil {
		return nil, Artifact{}, fmt.Errorf("read artifact: %w", err)
	}
	defer dir.Close()
	data, info, err := dir.ReadFile(name, max)
	if err != nil {
		return nil, Artifact{}, fmt.Errorf("read artifact: %w", err)
	}
	return data, artifact(name, info), nil
}

// RemoveArtifact deletes one artifact, and the folders that it leaves empty.
func (s *Store) RemoveArtifact(userKey, name string) error {
	dir, err := s.openArtifacts(userKey)
	if err != nil {
		return fmt.Errorf("remove artifact: %w", err)
	}
	defer dir.Close()
	info, err := dir.Lstat(name)
	switch {
	case err != nil:
		return fmt.Errorf("remove artifact: %w", err)
	case !info.Mode().IsRegular():
		return fmt.Errorf("remove artifact: %w: it is not a file", fs.ErrInvalid)
	}
	return removeFile(dir, name)
}

// removeFile deletes a file, and the folders above it that are empty then.
func removeFile(dir *rooted.Dir, name string) error {
	if err := dir.Remove(name); err != nil {
		return fmt.Errorf("remove artifact: %w", err)
	}
	for above := path.Dir(name); above != "." && dir.Remove(above) == nil; above = path.Dir(above) {
	}
	return nil
}

// Expire deletes the artifacts of all users that were last changed before a time, and
// returns their names by the users' pseudonyms, with those that it deleted before an
// error too. A file from the future, as a script may have dated it, ages from now on.
func (s *Store) Expire(ctx context.Context, before, now time.Time) (map[string][]string, error) {
	errs := []error{s.fetchOld(ctx, before)}
	users, err := s.dir.ReadDir("artifacts", maxFolders)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(errs...)
	} else if err != nil {
		return nil, fmt.Errorf("expire artifacts: %w", errors.Join(append(errs, err)...))
	}
	expired := map[string][]string{}
	for _, u := range users {
		names, err := s.expireOf(u.Name(), before, now)
		if len(names) > 0 {
			expired[u.Name()] = names
			errs = append(errs, s.KeepArtifacts(ctx, u.Name()))
		}
		errs = append(errs, err)
	}
	return expired, errors.Join(errs...)
}

func (s *Store) expireOf(userKey string, before, now time.Time) (expired []string, err error) {
	files, err := s.artifacts(userKey)
	if err != nil {
		return nil, fmt.Errorf("expire artifacts: %w", err)
	}
	dir, err := s.openArtifacts(userKey)
	if err != nil {
		return nil, fmt.Errorf("expire artifacts: %w", err)
	}
	defer dir.Close()
	var errs []error
	for _, f := range files {
		switch at := f.Info.ModTime(); {
		case at.After(now):
			errs = append(errs, dir.Date(f.Name, now))
		case at.Before(before):
			if err := removeFile(dir, f.Name); err != nil {
				errs = append(errs, err)
				continue
			}
			expired = append(expired, f.Name)
		}
	}
	return expired, errors.Join(errs...)
}

// openArtifacts makes a user's folder a root of its own, so that no name leads
// from it to another user's.
func (s *Store) openArtifacts(userKey string) (*rooted.Dir, error) {
	name, err := join([]string{"artifacts", userKey})
	if err != nil {
		return nil, err
	}
	return s.dir.Sub(name)
}

func artifact(name string, info fs.FileInfo) Artifact {
	mime, text := contentType(name)
	return Artifact{Name: name, Size: info.Size(), Modified: info.ModTime(), MIME: mime, Text: text}
}
