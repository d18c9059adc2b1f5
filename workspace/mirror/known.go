package mirror

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"airlock/workspace/rooted"
)

// known is what is remembered of a folder. Whoever holds its gate may use it.
type known struct {
	gate  chan struct{}
	users int // guarded by Mirror.mu

	read   bool                    // what was noted of it has been read
	doubt  bool                    // the folder may be another one than was noted
	at     version                 // what was kept when the folder was last the same
	tried  *version                // what may have been kept since: no answer came
	stamps map[string]rooted.Stamp // files that are known to be as at has them
	swept  bool                    // packs that nothing names have been looked for
}

// version is one list of a folder's files, as it is kept.
type version struct {
	number uint64
	manifest
	parts []string // packs that hold the list itself, if it is a long one
	head  []byte
}

// enter waits until nobody else is at the folder.
func (m *Mirror) enter(ctx context.Context, owner, name string) (*known, func(), error) {
	at := place{owner, name}
	m.mu.Lock()
	k := m.known[at]
	if k == nil {
		k = &known{gate: make(chan struct{}, 1), stamps: map[string]rooted.Stamp{}}
		m.known[at] = k
	}
	k.users++
	m.mu.Unlock()
	select {
	case k.gate <- struct{}{}:
	case <-ctx.Done():
		m.leave(at, k)
		return nil, nil, context.Cause(ctx)
	}
	leave := func() {
		<-k.gate
		m.leave(at, k)
	}
	if err := m.recall(k, owner, name); err != nil {
		leave()
		return nil, nil, err
	}
	return k, leave, nil
}

// enterFolder is enter for who looks into the folder. One that is empty against what was
// noted when this process did not run was removed and made anew: that its files are not
// there does not mean that somebody deleted them.
func (m *Mirror) enterFolder(ctx context.Context, f Folder) (*known, func(), error) {
	k, leave, err := m.enter(ctx, f.Owner, f.Name)
	if err != nil || !k.doubt {
		return k, leave, err
	}
	l, err := look(f, k)
	if err != nil {
		leave()
		return nil, nil, err
	}
	if len(l.inside) == 0 {
		k.at = version{}
	}
	k.doubt = false
	return k, leave, l.dir.Close()
}

func (m *Mirror) leave(at place, k *known) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k.users--; k.users == 0 && (len(m.known) > m.maximum || k.at.number == 0 && k.tried == nil) {
		delete(m.known, at) // it is noted
	}
}

// note is what a file in the folder of notes holds.
type note struct {
	Folder Folder   `json:"folder"`
	Number uint64   `json:"number"`
	Parts  []string `json:"parts,omitempty"`
	manifest
}

// maxNote bounds a note, which is as long as the longest list.
const maxNote = maxList + 1<<20

func (m *Mirror) recall(k *known, owner, name string) error {
	if k.read {
		return nil
	}
	n, err := m.readNote(path.Join(owner, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	k.read, k.doubt = true, n.Number != 0
	k.at = version{number: n.Number, manifest: n.manifest, parts: n.Parts}
	return nil
}

// readNote reads a note. One that is none says nothing: the folder is as if it was never
// seen.
func (m *Mirror) readNote(name string) (n note, err error) {
	text, _, err := m.notes.ReadFile(name, maxNote)
	if err != nil {
		return n, fmt.Errorf("read a note about a folder: %w", err)
	}
	if json.Unmarshal(text, &n) != nil || n.validate() != nil {
		return note{}, nil
	}
	return n, nil
}

// remember notes that the folder is the same as what is kept.
func (m *Mirror) remember(f Folder, k *known, v version) error {
	k.at, k.tried = v, nil
	if v.number == 0 {
		return m.forget(f.Owner, f.Name)
	}
	text, err := json.Marshal(note{f, v.number, v.parts, v.manifest})
	if err == nil {
		_, err = m.notes.MakeDirs(path.Join(f.Owner, path.Dir(f.Name)), func() error { return nil })
	}
	if err == nil {
		err = m.notes.WriteFile(path.Join(f.Owner, f.Name), text)
	}
	if err != nil {
		return fmt.Errorf("write a note about a folder: %w", err)
	}
	return nil
}

func (m *Mirror) forget(owner, name string) error {
	err := m.notes.Remove(path.Join(owner, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a note about a folder: %w", err)
	}
	return nil
}
