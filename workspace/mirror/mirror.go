// Package mirror keeps folders in a store that several processes share, so that what
// one of them leaves in its folder is found by another one in its own.
//
// Start with New. Push keeps what has changed in a folder since it was last the same as
// what is kept; Pull brings in what others have pushed meanwhile. What is kept of a
// folder is a list of its files, put in place of the one before as a whole, and packs
// that hold what is in them. Contents are kept before the list that names them, so that
// whoever reads it, after a crash too, finds the folder of before or that of after.
//
// Regular files with one name, whether they may be run, when they were changed,
// symbolic links and folders are kept, and nothing else: no pipes, no files with several
// names, none that airlock may not read or whose name it would not take. What comes out
// of the store is written through package rooted, so that nothing in a list leads out
// of the folder. Names in the store are given by the caller or random, never those of
// files. Errors hold no names of files.
//
// A Mirror may be used concurrently, and by several processes in the same folder.
package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"airlock/workspace/rooted"
)

// Store keeps values of up to 850 KiB under the names of owners. Errors wrap
// fs.ErrNotExist where there is nothing of a name.
type Store interface {
	Get(ctx context.Context, owner, name string) ([]byte, error)
	Put(ctx context.Context, owner, name string, value []byte) error
	Delete(ctx context.Context, owner, name string) error
	// List gives the names right below a folder.
	List(ctx context.Context, owner, folder string) ([]string, error)
	// Load gives a value and its number, Replace puts another one in its place, where
	// the number 0 stands for none. Its error wraps fs.ErrExist if the one of that
	// number is not there any more.
	Load(ctx context.Context, owner, name string) ([]byte, uint64, error)
	Replace(ctx context.Context, owner, name string, value []byte, number uint64) (uint64, error)
	// Each tells of all names right below a folder, whoever's they are.
	Each(ctx context.Context, folder string, do func(owner, name string)) error
}

// Folder is a folder that is mirrored.
type Folder struct {
	// Owner and Name say where in the store it is kept.
	Owner, Name string
	// Host is where it is here; it must exist.
	Host string
	// Within names the files and folders that are mirrored; everything if empty.
	Within []string
	// Sole says that one process at a time changes the folder. What is kept then counts
	// before what is here, and Push fails with ErrConflict if another process has
	// pushed. Else changes of several are joined, of which the last to one file counts.
	Sole bool
	// MaxBytes and MaxFiles bound what is pushed. They must be positive.
	MaxBytes int64
	MaxFiles int
}

// ErrConflict is returned by Push for a folder that another process has pushed since.
var ErrConflict = errors.New("another process has changed the folder meanwhile")

// Mirror keeps folders in a store.
type Mirror struct {
	store Store
	notes *rooted.Dir

	mu      sync.Mutex // guards known and the folders' users
	known   map[place]*known
	maximum int
}

type place struct{ owner, name string }

// maxKnown bounds the folders of which it is remembered how they were.
const maxKnown = 2000

// New keeps folders in a store, and notes about them in a host folder, which is made if
// missing. The notes belong to the folders of this machine and must go with them.
func New(store Store, notes string) (*Mirror, error) {
	if err := os.MkdirAll(notes, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder for notes about mirrors: %w", err)
	}
	dir, err := rooted.Open(notes)
	if err != nil {
		return nil, fmt.Errorf("open the notes about mirrors: %w", err)
	}
	return &Mirror{store: store, notes: dir, known: map[place]*known{}, maximum: maxKnown}, nil
}

// Close releases the folder of notes.
func (m *Mirror) Close() error { return m.notes.Close() }

// maxTries bounds how often a change is joined with those of others.
const maxTries = 10

// Pull brings in what others have pushed. Where nobody has it costs one look into the
// store.
func (m *Mirror) Pull(ctx context.Context, f Folder) error {
	k, leave, err := m.enterFolder(ctx, f)
	if err != nil {
		return err
	}
	defer leave()
	if err := m.pull(ctx, f, k); err != nil {
		return fmt.Errorf("fetch files that are kept: %w", err)
	}
	return nil
}

// pull makes the folder that which is kept.
func (m *Mirror) pull(ctx context.Context, f Folder, k *known) error {
	for range maxTries {
		kept, err := m.load(ctx, f, k)
		if err == nil && kept.number == k.at.number {
			return nil
		}
		if err == nil {
			err = m.take(ctx, f, k, kept)
		}
		if !errors.Is(err, errGone) {
			return err
		}
	}
	return errGone
}

// errGone is returned for contents that were deleted after the list that names them was
// read.
var errGone = errors.New("the contents of a file are not kept any more")

// Push keeps what has changed in the folder. It fails with ErrConflict, with an error
// that wraps rooted.ErrTooLarge or rooted.ErrFull for more files or bytes than may be
// kept, or where the store fails.
func (m *Mirror) Push(ctx context.Context, f Folder) error {
	k, leave, err := m.enterFolder(ctx, f)
	if err != nil {
		return err
	}
	defer leave()
	if err := m.push(ctx, f, k); err != nil {
		return fmt.Errorf("keep the files of a folder: %w", err)
	}
	return nil
}

func (m *Mirror) push(ctx context.Context, f Folder, k *known) error {
	for range maxTries {
		kept, err := m.load(ctx, f, k)
		if err != nil {
			return err
		}
		if kept.number != k.at.number {
			if f.Sole {
				return ErrConflict
			}
			if err := m.pull(ctx, f, k); err != nil {
				return err
			}
		}
		err = m.keep(ctx, f, k)
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return ErrConflict
}

// load reads what is kept of a folder; the number 0 says that nothing is.
func (m *Mirror) load(ctx context.Context, f Folder, k *known) (version, error) {
	head, number, err := m.store.Load(ctx, f.Owner, headName(f.Name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return version{}, nil
	case err != nil:
		return version{}, err
	case number == k.at.number:
		return k.at, nil
	case k.tried != nil && bytes.Equal(head, k.tried.head):
		k.at, k.tried = *k.tried, nil // it was kept, though the answer was lost
		k.at.number = number
		return k.at, nil
	}
	return m.open(ctx, f, head, number)
}

// headName and packsName are where the list of a folder and its packs are kept.
func headName(name string) string  { return "folders/" + name }
func packsName(name string) string { return "packs/" + name }

// Remove deletes what is kept of a folder, and forgets it. The folder itself stays.
func (m *Mirror) Remove(ctx context.Context, owner, name string) error {
	k, leave, err := m.enter(ctx, owner, name)
	if err != nil {
		return err
	}
	defer leave()
	k.at, k.tried, k.stamps, k.swept, k.doubt = version{}, nil, map[string]rooted.Stamp{}, false, false
	packs, err := m.store.List(ctx, owner, packsName(name))
	errs := []error{err, m.forget(owner, name)}
	for _, p := range packs {
		errs = append(errs, m.store.Delete(ctx, owner, packsName(name)+"/"+p))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("delete the files that are kept of a folder: %w", err)
	}
	return m.store.Delete(ctx, owner, headName(name)) // last, so that it can be found until the rest is gone
}

// Claim is Pull for a process that takes over a folder with Sole: whoever had it before
// and is only slow cannot push any more.
func (m *Mirror) Claim(ctx context.Context, f Folder) error {
	k, leave, err := m.enterFolder(ctx, f)
	if err != nil {
		return err
	}
	defer leave()
	err = fs.ErrExist
	for tries := 0; errors.Is(err, fs.ErrExist) && tries < maxTries; tries++ {
		if err = m.pull(ctx, f, k); err == nil {
			err = m.claim(ctx, f, k)
		}
	}
	if err != nil {
		return fmt.Errorf("take over files that are kept: %w", err)
	}
	return nil
}

// claim puts the list that is known in the place of itself.
func (m *Mirror) claim(ctx context.Context, f Folder, k *known) error {
	p := &keeping{ctx: ctx, store: m.store, f: f, was: k.at}
	next := k.at
	var err error
	if next.head, next.parts, err = p.head(next.manifest); err == nil {
		next.number, err = m.store.Replace(ctx, f.Owner, headName(f.Name), next.head, k.at.number)
	}
	if err != nil {
		p.discard(p.made)
		return err
	}
	next.head = nil
	p.discard(p.was.parts)
	return m.remember(f, k, next)
}
