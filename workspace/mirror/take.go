package mirror

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// open reads the list that a head has or names.
func (m *Mirror) open(ctx context.Context, f Folder, text []byte, number uint64) (version, error) {
	h, err := readHead(text)
	if err != nil {
		return version{}, err
	}
	list := []byte(h.List)
	for _, id := range h.Parts {
		part, err := m.store.Get(ctx, f.Owner, packsName(f.Name)+"/"+id)
		if errors.Is(err, fs.ErrNotExist) {
			return version{}, errGone
		}
		if err != nil {
			return version{}, err
		}
		list = append(list, part...)
	}
	v := version{number: number, parts: h.Parts}
	v.manifest, err = decode(list)
	return v, err
}

// taking is a folder being made what is kept.
type taking struct {
	*local
	f     Folder
	was   manifest // what the folder was when it was last the same as what was kept
	kept  manifest
	fetch fetcher
}

// take makes the folder what is kept, apart from what was changed here if that counts.
func (m *Mirror) take(ctx context.Context, f Folder, k *known, kept version) error {
	if kept.size() > f.MaxBytes {
		return errManifest
	}
	l, err := look(f, k)
	if err != nil {
		return err
	}
	defer l.dir.Close()
	t := &taking{local: l, f: f, was: k.at.manifest, kept: kept.manifest, fetch: fetcher{store: m.store, f: f, packs: kept.Packs, held: -1}}
	if err = t.removeAll(); err == nil {
		err = t.placeAll(ctx)
	}
	if err != nil {
		clear(k.stamps) // some are of files that are as the new list has them
		return err
	}
	return m.remember(f, k, kept)
}

// removeAll removes what is not kept, folders after what is in them.
func (t *taking) removeAll() error {
	for _, name := range slices.Backward(t.paths()) {
		if _, kept := t.kept.find(name); kept {
			continue
		}
		if mine, err := t.changedHere(name); err != nil {
			return err
		} else if mine {
			continue
		}
		delete(t.inside, name)
		err := t.dir.Remove(name)
		if t.f.Sole && err != nil {
			err = t.dir.RemoveAll(name)
		}
		if err := unless(err, unfit); err != nil { // a folder in which something was left
			return err
		}
	}
	return nil
}

// changedHere reports whether a path was changed here since the folder was last the
// same as what was kept, in a folder where that counts.
func (t *taking) changedHere(name string) (bool, error) {
	if t.f.Sole {
		return false, nil
	}
	was, known := t.was.find(name)
	if !known {
		return true, nil
	}
	same, err := t.is(was)
	return !same, err
}

// placeAll makes what is kept: folders and links first, then files in the order of the
// packs that they are in.
func (t *taking) placeAll(ctx context.Context) error {
	var files []entry
	for _, e := range t.kept.Files {
		there, err := t.stays(e)
		if err != nil {
			return err
		}
		switch {
		case there:
		case e.Kind == file:
			files = append(files, e)
		default:
			if err := t.place(e, func() error { return t.make(e) }); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(files, func(a, b entry) int { return cmp.Or(cmp.Compare(a.Pack, b.Pack), cmp.Compare(a.At, b.At)) })
	for _, e := range files {
		if err := t.place(e, func() error { return t.write(ctx, e) }); err != nil {
			return err
		}
	}
	return nil
}

// stays reports whether what is at the entry's path is to be left as it is.
func (t *taking) stays(e entry) (bool, error) {
	was, known := t.was.find(e.Path)
	if _, there := t.inside[e.Path]; !there {
		return !t.f.Sole && known && was.same(e), nil // it was removed here
	}
	same, err := t.is(e)
	if same || err != nil || t.f.Sole {
		return same, err
	}
	return t.changedHere(e.Path)
}

func (t *taking) make(e entry) error {
	if e.Kind == link {
		return t.dir.Symlink(e.Target, e.Path)
	}
	_, err := t.dir.MakeDirs(e.Path, func() error { return nil })
	return err
}

// place makes room for an entry and makes it. Where something stands in its way that
// was made here and counts, it is left out.
func (t *taking) place(e entry, do func() error) error {
	above, err := t.dir.Lstat(path.Dir(e.Path))
	if err == nil && !above.IsDir() {
		err = fs.ErrInvalid // a link that would lead elsewhere
	}
	if err == nil {
		err = t.makeRoom(e)
	}
	if err == nil {
		err = do()
	}
	if !t.f.Sole && (unfit(err) || errors.Is(err, fs.ErrExist)) {
		return nil
	}
	return err
}

// makeRoom removes what is of another kind than the entry, or a link.
func (t *taking) makeRoom(e entry) error {
	info, err := t.dir.Lstat(e.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	is, _ := kindOf(info)
	switch {
	case is == e.Kind && is != link:
		return nil
	case t.f.Sole:
		return t.dir.RemoveAll(e.Path)
	}
	return t.dir.Remove(e.Path)
}

// write makes a file. What is in it is fetched unless it is there.
func (t *taking) write(ctx context.Context, e entry) error {
	here, ok, err := t.describe(e.Path)
	if err != nil {
		return err
	}
	if ok && here.Kind == file && here.Size == e.Size {
		if ok, err = t.holds(e); err != nil {
			return err
		}
	} else {
		ok = false
	}
	if ok {
		err = t.dir.SetExecutable(e.Path, e.Executable)
	} else {
		err = t.dir.WriteFrom(e.Path, e.Executable, func(w io.Writer) error { return t.fetch.copy(ctx, e, w) })
	}
	if err != nil {
		return err
	}
	return unless(t.dir.Date(e.Path, e.modified()), unfit)
}

// fetcher reads what is in files from packs, and holds on to the last one.
type fetcher struct {
	store Store
	f     Folder
	packs []pack
	held  int
	data  []byte
}

func (r *fetcher) copy(ctx context.Context, e entry, to io.Writer) error {
	hash := sha256.New()
	both := io.MultiWriter(to, hash)
	at := e.At
	for i, left := e.Pack, e.Size; left > 0; i++ {
		data, err := r.pack(ctx, i)
		if err != nil {
			return err
		}
		here := data[at:]
		here = here[:min(left, int64(len(here)))]
		if _, err := both.Write(here); err != nil {
			return err
		}
		left, at = left-int64(len(here)), 0
	}
	if !slices.Equal(hash.Sum(nil), e.Hash) {
		return errManifest
	}
	return nil
}

func (r *fetcher) pack(ctx context.Context, i int) ([]byte, error) {
	if r.held == i {
		return r.data, nil
	}
	data, err := r.store.Get(ctx, r.f.Owner, packsName(r.f.Name)+"/"+r.packs[i].ID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errGone
	case err != nil:
		return nil, fmt.Errorf("fetch what is in files: %w", err)
	case len(data) != r.packs[i].Size:
		return nil, errManifest
	}
	r.held, r.data = i, data
	return data, nil
}
