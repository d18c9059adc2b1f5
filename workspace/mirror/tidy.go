package mirror

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Oldest is when the file was changed that was changed first, of those that are kept of
// a folder. It is false if there is none.
func (m *Mirror) Oldest(ctx context.Context, owner, name string) (oldest time.Time, ok bool, err error) {
	v, err := m.load(ctx, Folder{Owner: owner, Name: name}, &known{})
	if errors.Is(err, errGone) {
		err = nil // it is being changed, and looked at again
	}
	if err != nil {
		return oldest, false, fmt.Errorf("look at the files that are kept of a folder: %w", err)
	}
	for _, e := range v.Files {
		if e.Kind == file && (!ok || e.modified().Before(oldest)) {
			oldest, ok = e.modified(), true
		}
	}
	return oldest, ok, nil
}

// Owners lists who has a folder of a name that is kept.
func (m *Mirror) Owners(ctx context.Context, name string) (owners []string, err error) {
	err = m.store.Each(ctx, "folders", func(owner, n string) {
		if n == name {
			owners = append(owners, owner)
		}
	})
	return owners, err
}

// RemoveOld removes what is kept of the folders group/<name> of all owners that keep does
// not want, but not of such as were changed less than an hour ago: they may be new to
// who decides.
func (m *Mirror) RemoveOld(ctx context.Context, group string, keep func(name string) bool) error {
	var old []place
	err := m.store.Each(ctx, headName(group), func(owner, name string) {
		if !keep(name) {
			old = append(old, place{owner, group + "/" + name})
		}
	})
	errs := []error{err}
	for _, p := range old {
		text, _, err := m.store.Load(ctx, p.owner, headName(p.name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var h head
		if err == nil {
			h, err = readHead(text)
		}
		if err == nil && time.Since(h.At) > garbageAge {
			err = m.Remove(ctx, p.owner, p.name)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Tidy empties the folders here of which nothing is kept any more, since another process
// has removed them or has erased their owner.
func (m *Mirror) Tidy(ctx context.Context) error {
	notes, err := m.notes.Walk(".", maxNotes)
	errs := []error{err}
	for _, n := range notes {
		if !n.Info.Mode().IsRegular() {
			continue
		}
		note, err := m.readNote(n.Name)
		if err == nil && note.Folder.Host != "" {
			_, _, err = m.store.Load(ctx, note.Folder.Owner, headName(note.Folder.Name))
		}
		if errors.Is(err, fs.ErrNotExist) && note.Folder.Host != "" {
			err = m.empty(ctx, note.Folder)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// empty empties a folder here of which nothing is kept.
func (m *Mirror) empty(ctx context.Context, f Folder) error {
	if _, err := os.Lstat(f.Host); errors.Is(err, fs.ErrNotExist) {
		return m.Remove(ctx, f.Owner, f.Name) // which forgets it
	}
	k, leave, err := m.enter(ctx, f.Owner, f.Name)
	if err != nil {
		return err
	}
	defer leave()
	return m.pull(ctx, f, k)
}

// maxNotes bounds how many notes are looked at.
const maxNotes = 1_000_000

// Forget forgets what is known of an owner's folders, which are not kept any more.
func (m *Mirror) Forget(owner string) error {
	m.mu.Lock()
	for p, k := range m.known {
		if p.owner == owner && k.users == 0 {
			delete(m.known, p)
		}
	}
	m.mu.Unlock()
	if err := m.notes.RemoveAll(owner); err != nil {
		return fmt.Errorf("remove notes about folders: %w", err)
	}
	return nil
}
