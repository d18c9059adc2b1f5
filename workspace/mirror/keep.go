package mirror

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"

	"airlock/workspace/rooted"
)

const (
	// smallFile is up to which size files are packed anew when most of their pack is
	// not used any more.
	smallFile = 64 << 10
	// smallPacks is how many packs that are not half full are kept before their files
	// are packed together.
	smallPacks = 64
	// listInHead is up to which size a list is kept in the head itself.
	listInHead = 512 << 10
	// garbageAge is from when on a pack that no list names belongs to nobody who is
	// about to name it.
	garbageAge = time.Hour
)

// keeping is a folder being kept.
type keeping struct {
	*local
	ctx    context.Context //nolint:containedctx // of the one call that it is made for; Write has no argument for it
	store  Store
	f      Folder
	was    version
	next   manifest
	stamps map[string]rooted.Stamp // of what is read for next
	byHash map[string]entry        // files of was
	sizes  map[int64]bool          // of them
	sparse map[int]bool            // packs of was whose small files are packed anew
	left   int64                   // bytes that may be kept beside those that are
	buffer []byte
	made   []string // packs that were kept and that no list names yet
}

// keep keeps the folder as it is. Its error wraps fs.ErrExist if another process has
// kept it meanwhile, and nothing is changed then.
func (m *Mirror) keep(ctx context.Context, f Folder, k *known) error {
	l, err := look(f, k)
	if err != nil {
		return err
	}
	defer l.dir.Close()
	p := newKeeping(ctx, m.store, f, l)
	changed, err := p.list()
	if err == nil && changed {
		err = m.publish(p)
	}
	if err != nil && !errors.Is(err, errNoAnswer) {
		p.discard(p.made)
	}
	return err
}

func newKeeping(ctx context.Context, store Store, f Folder, l *local) *keeping {
	was := l.known.at
	p := &keeping{
		local: l, ctx: ctx, store: store, f: f, was: was, stamps: map[string]rooted.Stamp{},
		byHash: map[string]entry{}, sizes: map[int64]bool{}, sparse: map[int]bool{}, left: f.MaxBytes,
	}
	p.next.Packs = slices.Clone(was.Packs)
	for _, e := range was.Files {
		if e.Kind == file {
			p.byHash[string(e.Hash)], p.sizes[e.Size] = e, true
		}
	}
	p.findSparse()
	return p
}

// findSparse finds packs that hold little of use.
func (p *keeping) findSparse() {
	var small []int
	for i, used := range p.was.used() {
		if used < int64(p.was.Packs[i].Size)/2 {
			p.sparse[i] = true
		} else if p.was.Packs[i].Size < packBytes/2 {
			small = append(small, i)
		}
	}
	if len(small) > smallPacks {
		for _, i := range small {
			p.sparse[i] = true
		}
	}
}

// list makes the next list, keeps what is in new files, and reports whether anything
// has changed.
func (p *keeping) list() (changed bool, err error) {
	names := p.paths()
	for _, name := range names {
		e, ok, err := p.entry(name)
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		if p.left -= e.Size; p.left < 0 {
			return false, fmt.Errorf("%w: the files of the folder may have %d bytes together; remove some", rooted.ErrFull, p.f.MaxBytes)
		}
		before, known := p.was.find(name)
		changed = changed || !known || !e.same(before)
		p.next.Files = append(p.next.Files, e)
	}
	if len(p.next.Files) != len(p.was.Files) {
		changed = true
	}
	if !changed {
		return false, nil
	}
	if err := p.repack(); err != nil {
		return false, err
	}
	return true, p.flush()
}

// entry describes a path, and keeps what is in a file that is new.
func (p *keeping) entry(name string) (entry, bool, error) {
	was, known := p.was.find(name)
	if known {
		if same, err := p.is(was); err != nil || same {
			return was, same, err
		}
	}
	e, ok, err := p.describe(name)
	if err != nil || !ok || e.Kind != file {
		return e, ok, err
	}
	if p.sizes[e.Size] {
		if e, ok, err := p.moved(name); ok || err != nil {
			return e, ok, err
		}
	}
	return p.pack(name, p.left)
}

// moved finds a file that is kept under another name, or with another date.
func (p *keeping) moved(name string) (entry, bool, error) {
	got, ok, err := p.read(name, p.left, nothing{})
	if err != nil || !ok {
		return entry{}, false, err
	}
	kept, ok := p.byHash[string(got.Hash)]
	if !ok || kept.Size != got.Size {
		return entry{}, false, nil
	}
	got.Pack, got.At = kept.Pack, kept.At
	p.note(got)
	return got.entry, true, nil
}

type nothing struct{}

func (nothing) Write(b []byte) (int, error) { return len(b), nil }

// pack reads a file of at most so many bytes into packs.
func (p *keeping) pack(name string, most int64) (entry, bool, error) {
	at, offset := len(p.next.Packs), len(p.buffer)
	got, ok, err := p.read(name, most, p)
	if err != nil || !ok {
		return entry{}, false, err
	}
	if got.Size > 0 {
		got.Pack, got.At = at, offset
	}
	p.note(got)
	return got.entry, true, nil
}

func (p *keeping) note(r reading) {
	delete(p.known.stamps, r.Path)
	if r.sure {
		p.stamps[r.Path] = r.stamp
	}
}

// repack packs small files anew that are in sparse packs.
func (p *keeping) repack() error {
	if len(p.sparse) == 0 {
		return nil
	}
	for i, e := range p.next.Files {
		if e.Kind != file || e.Size == 0 || e.Size > smallFile || e.Pack >= len(p.was.Packs) || !p.sparse[e.Pack] {
			continue
		}
		again, ok, err := p.pack(e.Path, e.Size)
		switch {
		case errors.Is(err, rooted.ErrFull):
		case err != nil:
			return err
		case ok && again.same(e):
			p.next.Files[i] = again
			continue
		}
		delete(p.stamps, e.Path) // it has changed since; that is kept next time
	}
	return nil
}

// Write takes what is in files, and keeps each pack that is full.
func (p *keeping) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := min(len(rest), packBytes-len(p.buffer))
		p.buffer, rest = append(p.buffer, rest[:n]...), rest[n:]
		if len(p.buffer) == packBytes {
			if err := p.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(b), nil
}

// flush keeps the pack that was begun.
func (p *keeping) flush() error {
	if len(p.buffer) == 0 {
		return nil
	}
	id, err := p.put(p.buffer)
	if err != nil {
		return err
	}
	p.next.Packs = append(p.next.Packs, pack{id, len(p.buffer)})
	p.buffer = p.buffer[:0]
	return nil
}

func (p *keeping) put(data []byte) (id string, err error) {
	id = fmt.Sprintf("%08x-%s", uint32(time.Now().Unix()), strings.ToLower(rand.Text()[:16])) //nolint:gosec // the time wraps in 2106, and then packs look old
	p.made = append(p.made, id)
	return id, p.store.Put(p.ctx, p.f.Owner, p.packName(id), data)
}

func (p *keeping) packName(id string) string { return packsName(p.f.Name) + "/" + id }

// discard deletes packs that no list names. Those that stay are swept later.
func (p *keeping) discard(ids []string) {
	for _, id := range ids {
		_ = p.store.Delete(p.ctx, p.f.Owner, p.packName(id))
	}
}

// errNoAnswer is wrapped where it is not known whether a list was kept.
var errNoAnswer = errors.New("it is not known whether the files were kept")

// publish puts the next list in the place of the one before.
func (m *Mirror) publish(p *keeping) error {
	next := version{manifest: p.next.withoutUnused()}
	var err error
	if next.head, next.parts, err = p.head(next.manifest); err != nil {
		return err
	}
	next.number, err = p.store.Replace(p.ctx, p.f.Owner, headName(p.f.Name), next.head, p.was.number)
	switch {
	case errors.Is(err, fs.ErrExist):
		return err
	case err != nil:
		p.known.tried = &next
		return fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	next.head = nil
	for name, stamp := range p.stamps {
		p.known.stamps[name] = stamp
	}
	p.discard(p.unnamed(next))
	return m.remember(p.f, p.known, next)
}

// head makes the head of a list, and keeps the parts of a long one.
func (p *keeping) head(m manifest) (text []byte, parts []string, err error) {
	list, err := json.Marshal(m)
	switch {
	case err != nil:
		return nil, nil, err
	case len(list) > maxList || len(m.Files) > maxEntries:
		return nil, nil, fmt.Errorf("%w: the names of the files are longer than %d bytes together; use shorter ones", rooted.ErrTooLarge, maxList)
	}
	h := head{Version: headVersion, At: time.Now().UTC()}
	if len(list) <= listInHead {
		h.List = list
	} else {
		for part := range slices.Chunk(list, packBytes) {
			id, err := p.put(part)
			if err != nil {
				return nil, nil, err
			}
			h.Parts = append(h.Parts, id)
		}
	}
	text, err = json.Marshal(h)
	return text, h.Parts, err
}

// unnamed are the packs that the list before named, that were made for this one, or that
// a process left which ended while it kept the folder, if the next list does not name
// them.
func (p *keeping) unnamed(next version) []string {
	named := map[string]bool{}
	for _, k := range next.Packs {
		named[k.ID] = true
	}
	for _, id := range next.parts {
		named[id] = true
	}
	all := append(slices.Clone(p.was.parts), p.made...)
	for _, k := range p.was.Packs {
		all = append(all, k.ID)
	}
	if !p.known.swept {
		all = append(all, p.stray()...)
		p.known.swept = true
	}
	slices.Sort(all)
	return slices.DeleteFunc(slices.Compact(all), func(id string) bool { return named[id] })
}

// stray lists the packs that were made long ago, whoever names them.
func (p *keeping) stray() []string {
	all, err := p.store.List(p.ctx, p.f.Owner, packsName(p.f.Name))
	if err != nil {
		return nil // another process looks for them again
	}
	return slices.DeleteFunc(all, func(id string) bool {
		made, err := strconv.ParseUint(id[:min(8, len(id))], 16, 32)
		return err != nil || time.Since(time.Unix(int64(made), 0)) < garbageAge
	})
}
