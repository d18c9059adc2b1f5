package skills

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"airlock/workspace/mirror"
)

// The names under which an owner's skills with their histories, and the folder of shared
// ones, are mirrored.
const (
	mirroredSkills = "skills"
	mirroredShared = "shared-skills"
)

// maxMirrored bounds the files of all versions of an owner's skills.
const maxMirrored = 100_000

// mirrorTime bounds how long it may take to keep or fetch skills.
const mirrorTime = time.Minute

// Fetch brings in what other processes have changed of a user's and of the shared
// skills.
func (s *Store) Fetch(userKey string) error {
	if s.mirror == nil {
		return nil
	}
	for _, owner := range []string{sharedOwner, userKey} {
		if err := s.fetch(owner); err != nil {
			return fmt.Errorf("fetch skills: %w", err)
		}
	}
	return nil
}

func (s *Store) fetch(owner string) error {
	unlock, err := s.shelf.lock(owner)
	if err != nil {
		return err
	}
	defer unlock()
	return s.pull(owner)
}

// KeepShared keeps what the operator has put among the shared skills by hand where other
// processes find it.
func (s *Store) KeepShared() error {
	if s.mirror == nil || s.shared == nil {
		return nil
	}
	unlock, err := s.shelf.lock(sharedOwner)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.pull(sharedOwner); err != nil {
		return fmt.Errorf("fetch the shared skills: %w", err)
	}
	if err := s.push(sharedOwner); err != nil {
		return fmt.Errorf("keep the shared skills: %w", err)
	}
	return nil
}

// pull makes what is here of an owner's skills that which is kept. The caller holds the
// owner's lock.
func (s *Store) pull(owner string) error {
	return s.eachFolder(owner, (*mirror.Mirror).Pull)
}

// push keeps an owner's skills as they are here, unless another process has changed
// them: then it fails with mirror.ErrConflict. The caller holds the owner's lock.
func (s *Store) push(owner string) error {
	return s.eachFolder(owner, (*mirror.Mirror).Push)
}

func (s *Store) eachFolder(owner string, do func(*mirror.Mirror, context.Context, mirror.Folder) error) error {
	if s.mirror == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), mirrorTime)
	defer cancel()
	most := int64(s.maxBytes)*(keepVersions+1) + maxIndexBytes
	if owner == sharedOwner && s.shared != nil {
		f := mirror.Folder{Owner: owner, Name: mirroredShared, Host: s.sharedDir, MaxBytes: most, MaxFiles: maxMirrored}
		if err := do(s.mirror, ctx, f); err != nil {
			return err
		}
	}
	return do(s.mirror, ctx, mirror.Folder{
		Owner: owner, Name: mirroredSkills, Host: filepath.Join(s.shelf.host, owner), Within: []string{"index.json", "versions"},
		Sole: true, MaxBytes: most, MaxFiles: maxMirrored,
	})
}
