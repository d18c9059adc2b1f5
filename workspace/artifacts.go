package workspace

import (
	"errors"
	"fmt"
	"io/fs"
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
