package mirror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"airlock/orchestrator/state"
	"airlock/workspace/rooted"
)

var testKey = bytes.Repeat([]byte{7}, state.KeySize)

func openStore(t testing.TB) *state.KV {
	t.Helper()
	s, err := state.Open(t.Context(), state.Options{Dir: t.TempDir(), Key: testKey})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.Kept()
}

// side is a process with a folder of its own.
type side struct {
	t      testing.TB
	mirror *Mirror
	notes  string
	folder Folder
}

func newSide(t testing.TB, store Store, sole bool) *side {
	t.Helper()
	s := &side{t: t, notes: t.TempDir(), folder: Folder{Owner: "ann", Name: "work/s1", Host: t.TempDir(), Sole: sole, MaxBytes: 80 << 20, MaxFiles: 2000}}
	s.open(store)
	return s
}

func (s *side) open(store Store) {
	s.t.Helper()
	m, err := New(store, s.notes)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = m.Close() })
	s.mirror = m
}

// again is the same machine after its process ended.
func (s *side) again() *side {
	s.t.Helper()
	next := *s
	next.open(s.mirror.store)
	return &next
}

func (s *side) path(name string) string {
	return filepath.Join(s.folder.Host, filepath.FromSlash(name))
}

func (s *side) write(name, text string) {
	s.t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(s.path(name)), 0o700), os.WriteFile(s.path(name), []byte(text), 0o600)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *side) remove(names ...string) {
	s.t.Helper()
	for _, name := range names {
		if err := os.RemoveAll(s.path(name)); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *side) push() {
	s.t.Helper()
	if err := s.mirror.Push(s.t.Context(), s.folder); err != nil {
		s.t.Fatal(err)
	}
}

func (s *side) pull() {
	s.t.Helper()
	if err := s.mirror.Pull(s.t.Context(), s.folder); err != nil {
		s.t.Fatal(err)
	}
}

// tree tells all that is in the folder.
func (s *side) tree() string {
	s.t.Helper()
	var all []string
	err := filepath.WalkDir(s.folder.Host, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(s.folder.Host, path)
		info, err2 := d.Info()
		if err := errors.Join(err, err2); err != nil || name == "." {
			return err
		}
		line := filepath.ToSlash(name)
		switch {
		case d.IsDir():
			line += "/"
		case d.Type() == fs.ModeSymlink:
			target, _ := os.Readlink(path)
			line += " -> " + target
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %o %d %.20q of %d", info.Mode().Perm()&0o100, info.ModTime().UnixMilli(), data, len(data))
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.Join(all, "\n")
}

// names are the names in the folder, without what they hold.
func (s *side) names() string {
	var names []string
	for line := range strings.SplitSeq(s.tree(), "\n") {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestAFolderIsFoundAsItWas(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	a, b := newSide(t, store, true), newSide(t, store, true)
	steps := []struct {
		name string
		do   func()
	}{
		{"files, empty ones and folders too", func() {
			a.write("data/sales.csv", "a,b\n1,2\n")
			a.write("empty", "")
			a.write("deep/er/and/deeper/file", "x")
			must(t, os.Mkdir(a.path("nothing in it"), 0o700))
		}},
		{"odd names", func() {
			for _, name := range []string{"-rf", " ", "ü 😀.txt", ".hidden", "a'b\"c", "100%", "...", "folder/" + strings.Repeat("n", 255)} {
				a.write(name, name)
			}
		}},
		{"modes and dates", func() {
			a.write("run.sh", "#!/bin/sh")
			must(t, os.Chmod(a.path("run.sh"), 0o755), os.Chtimes(a.path("data/sales.csv"), time.Time{}, time.UnixMilli(1_000_000_000_123)))
		}},
		{"links, whatever they name", func() {
			must(t, os.Symlink("data/sales.csv", a.path("link")), os.Symlink("/etc/passwd", a.path("out")), os.Symlink("none", a.path("dangling")))
		}},
		{"deletions", func() { a.remove("empty", "deep", "out") }},
		{"a folder in place of a file, and the other way round", func() {
			a.remove("link", "nothing in it", "data")
			a.write("link/is now", "a folder")
			a.write("nothing in it", "a file")
			a.write("data", "a file")
		}},
		{"a link in place of a folder", func() {
			a.remove("link")
			must(t, os.Symlink("data", a.path("link")))
		}},
		{"a file of several packs", func() { a.write("large", strings.Repeat("0123456789abcdef", 100_000)) }},
		{"a file that has moved", func() { must(t, os.Rename(a.path("large"), a.path("larger"))) }},
		{"the same size and date, with something else in it", func() {
			info, err := os.Stat(a.path("run.sh"))
			must(t, err, os.WriteFile(a.path("run.sh"), []byte("#!/bin/ax"), 0), os.Chtimes(a.path("run.sh"), time.Time{}, info.ModTime()))
		}},
		{"nothing", func() { must(t, os.RemoveAll(a.folder.Host), os.Mkdir(a.folder.Host, 0o700)) }},
	}
	for _, step := range steps {
		step.do()
		a.push()
		b.pull()
		if want, got := a.tree(), b.tree(); got != want {
			t.Fatalf("%s: there is\n%s\nwant\n%s", step.name, got, want)
		}
		fresh := newSide(t, store, true)
		fresh.pull()
		if want, got := a.tree(), fresh.tree(); got != want {
			t.Fatalf("%s, at another process: there is\n%s\nwant\n%s", step.name, got, want)
		}
	}
	if packs, err := store.List(t.Context(), "ann", packsName("work/s1")); err != nil || len(packs) != 0 {
		t.Errorf("of an empty folder %v are kept, %v", packs, err)
	}
}

func TestALargeFileIsKeptOnce(t *testing.T) {
	t.Parallel()
	store := &counting{KV: openStore(t)}
	a, b := newSide(t, store, true), newSide(t, store, true)
	a.write("large", strings.Repeat("0123456789abcdef", 4<<20))
	a.push()
	store.reset()
	must(t, os.Rename(a.path("large"), a.path("moved")), os.Chtimes(a.path("moved"), time.Time{}, time.UnixMilli(1)))
	a.push()
	if store.puts != 0 || store.replaces != 1 {
		t.Errorf("moving a file took %d packs and %d lists", store.puts, store.replaces)
	}
	b.pull()
	if a.tree() != b.tree() {
		t.Errorf("there is\n%s\nwant\n%s", b.tree(), a.tree())
	}
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// counting counts what is asked of a store, and can refuse it.
type counting struct {
	*state.KV
	mu                            sync.Mutex
	puts, bytes, replaces, others int
	refuse                        func(call, name string) error
}

func (c *counting) allow(call, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch call {
	case "put":
		c.puts++
	case "replace":
		c.replaces++
	case "load":
	default:
		c.others++
	}
	if c.refuse != nil {
		return c.refuse(call, name)
	}
	return nil
}

func (c *counting) Put(ctx context.Context, owner, name string, value []byte) error {
	if err := c.allow("put", name); err != nil {
		return err
	}
	c.bytes += len(value)
	return c.KV.Put(ctx, owner, name, value)
}

func (c *counting) Get(ctx context.Context, owner, name string) ([]byte, error) {
	if err := c.allow("get", name); err != nil {
		return nil, err
	}
	return c.KV.Get(ctx, owner, name)
}

func (c *counting) Delete(ctx context.Context, owner, name string) error {
	if err := c.allow("delete", name); err != nil {
		return err
	}
	return c.KV.Delete(ctx, owner, name)
}

func (c *counting) Load(ctx context.Context, owner, name string) ([]byte, uint64, error) {
	if err := c.allow("load", name); err != nil {
		return nil, 0, err
	}
	return c.KV.Load(ctx, owner, name)
}

func (c *counting) Replace(ctx context.Context, owner, name string, value []byte, last uint64) (uint64, error) {
	if err := c.allow("replace", name); err != nil {
		return 0, err
	}
	return c.KV.Replace(ctx, owner, name, value, last)
}

func (c *counting) reset() { c.puts, c.bytes, c.replaces, c.others = 0, 0, 0, 0 }

func TestManySmallFilesAreFewValues(t *testing.T) {
	t.Parallel()
	store := &counting{KV: openStore(t)}
	a, b := newSide(t, store, true), newSide(t, store, true)
	for i := range 500 {
		a.write(fmt.Sprintf("%d/file%d", i%7, i), strings.Repeat("x", i))
	}
	a.push()
	if store.puts != 1 || store.replaces != 1 {
		t.Errorf("500 files took %d packs and %d lists", store.puts, store.replaces)
	}
	b.pull()
	store.reset()
	a.push()
	b.pull()
	if store.puts+store.replaces+store.others != 0 {
		t.Errorf("where nothing has changed there are %+v", store)
	}
	for i := range 50 {
		a.write("result.json", fmt.Sprint(i))
		store.reset()
		a.push()
		if store.puts != 1 || store.replaces != 1 || store.bytes > 1000 {
			t.Fatalf("one small file took %d packs of %d bytes and %d lists", store.puts, store.bytes, store.replaces)
		}
	}
	if packs, err := store.List(t.Context(), "ann", packsName("work/s1")); err != nil || len(packs) != 2 {
		t.Errorf("there are the packs %v, %v", packs, err)
	}
}

// TestPacksAreKeptFewAndFull guards that what is not used any more is not kept for ever
// because of what it was kept with.
func TestPacksAreKeptFewAndFull(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	a, b := newSide(t, store, true), newSide(t, store, true)
	for i := range 10 {
		a.write(fmt.Sprint("together", i), strings.Repeat("x", 60_000))
	}
	a.push()
	for i := range 100 {
		a.write(fmt.Sprint("alone", i), fmt.Sprint(i))
		if i < 9 {
			a.remove(fmt.Sprint("together", i))
		}
		a.push()
	}
	var kept int64
	packs, err := store.List(t.Context(), "ann", packsName("work/s1"))
	must(t, err)
	for _, id := range packs {
		data, err := store.Get(t.Context(), "ann", packsName("work/s1")+"/"+id)
		must(t, err)
		kept += int64(len(data))
	}
	if len(packs) > 2*smallPacks || kept > 130_000 {
		t.Errorf("%d packs hold %d bytes", len(packs), kept)
	}
	b.pull()
	if a.tree() != b.tree() {
		t.Errorf("there is\n%s\nwant\n%s", b.tree(), a.tree())
	}
}

func TestALongListIsKeptInParts(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	a, b := newSide(t, store, true), newSide(t, store, true)
	deep := strings.Repeat(strings.Repeat("long", 60)+"/", 14)
	for i := range 300 {
		a.write(fmt.Sprint(deep, i), fmt.Sprint(i))
	}
	a.push()
	b.pull()
	if a.tree() != b.tree() {
		t.Error("the folders differ")
	}
	a.write("one more", "x")
	a.push()
	again := a.again()
	again.push()
	b.pull()
	if a.tree() != b.tree() {
		t.Error("the folders differ after a change")
	}
	packs, err := store.List(t.Context(), "ann", packsName("work/s1"))
	v, err2 := a.mirror.load(t.Context(), a.folder, &known{})
	must(t, err, err2)
	if len(v.parts) < 2 || len(packs) != len(v.parts)+len(v.Packs) {
		t.Errorf("%d packs are kept, of which the list is in %d and files in %d", len(packs), len(v.parts), len(v.Packs))
	}
}

func TestBounds(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	for name, tc := range map[string]struct {
		do   func(*side)
		want error
	}{
		"a file that is too large": {func(s *side) { s.write("a", strings.Repeat("x", 1001)) }, rooted.ErrFull},
		"files that are too large": {func(s *side) { s.write("a", strings.Repeat("x", 500)); s.write("b", strings.Repeat("y", 501)) }, rooted.ErrFull},
		"a sparse one":             {func(s *side) { s.write("a", ""); must(t, os.Truncate(s.path("a"), 1<<40)) }, rooted.ErrFull},
		"too many":                 {func(s *side) { s.write("1/2/3/4/5", "") }, rooted.ErrTooLarge},
		"as much as may be":        {func(s *side) { s.write("1/2/3/4", strings.Repeat("x", 1000)) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSide(t, store, true)
			s.folder.Name, s.folder.MaxBytes, s.folder.MaxFiles = "x"+strings.ReplaceAll(name, " ", "_"), 1000, 4
			tc.do(s)
			if err := s.mirror.Push(t.Context(), s.folder); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

func TestOneProcessAtATimeChangesASoleFolder(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	a, b := newSide(t, store, true), newSide(t, store, true)
	a.write("both", "a")
	a.write("old", "a")
	a.push()
	b.pull()
	b.write("both", "b")
	b.remove("old")
	b.push()
	a.write("late", "a")
	if err := a.mirror.Push(t.Context(), a.folder); !errors.Is(err, ErrConflict) {
		t.Errorf("the one who came late got %v", err)
	}
	a.pull()
	if a.tree() != b.tree() {
		t.Errorf("who takes over has\n%s\nwant\n%s", a.tree(), b.tree())
	}
	a.write("late", "a")
	a.push()
}

func TestChangesOfSeveralAreJoined(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	a, b := newSide(t, store, false), newSide(t, store, false)
	for _, name := range []string{"changed by a", "changed by b", "changed by both", "deleted by a", "deleted by b", "deleted by a, changed by b", "in/folder"} {
		a.write(name, "old")
	}
	a.push()
	b.pull()
	a.write("changed by a", "a")
	a.write("changed by both", "a")
	a.write("new of a", "a")
	a.remove("deleted by a", "deleted by a, changed by b", "in")
	b.write("changed by b", "b")
	b.write("changed by both", "b")
	b.write("deleted by a, changed by b", "b")
	b.write("new of b", "b")
	b.write("in/folder of b", "b")
	b.remove("deleted by b")
	a.push()
	b.push()
	a.pull()
	if a.tree() != b.tree() {
		t.Fatalf("a has\n%s\nb has\n%s", a.tree(), b.tree())
	}
	for name, want := range map[string]string{
		"changed by a": "a", "changed by b": "b", "changed by both": "b", "deleted by a, changed by b": "b",
		"new of a": "a", "new of b": "b", "in/folder of b": "b",
	} {
		if data, err := os.ReadFile(a.path(name)); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v, want %q", name, data, err, want)
		}
		a.remove(name)
	}
	if got := a.names(); got != "in/" {
		t.Errorf("there is %q beside", got)
	}
}

func TestManyPushAtOnce(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	sides := []*side{newSide(t, store, false), newSide(t, store, false), newSide(t, store, false)}
	var work sync.WaitGroup
	for n, s := range sides {
		work.Go(func() {
			for i := range 10 {
				s.write(fmt.Sprintf("%d of %d", i, n), strings.Repeat("x", 1000*i))
				err := ErrConflict
				for errors.Is(err, ErrConflict) { // others were quicker each time
					err = s.mirror.Push(t.Context(), s.folder)
				}
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	work.Wait()
	for _, s := range sides {
		s.pull()
		if s.tree() != sides[0].tree() || strings.Count(s.tree(), "\n") != 29 {
			t.Fatalf("there is\n%s", s.tree())
		}
	}
}

func TestWhatIsLeftOfAPushThatDiedHarmsNothing(t *testing.T) {
	t.Parallel()
	store := &counting{KV: openStore(t)}
	a := newSide(t, store, true)
	a.write("a", "old")
	a.push()
	died := errors.New("died")
	store.refuse = func(call, _ string) error {
		if call == "replace" || call == "delete" {
			return died
		}
		return nil
	}
	a.write("a", "new")
	if err := a.mirror.Push(t.Context(), a.folder); !errors.Is(err, died) {
		t.Fatalf("got %v", err)
	}
	store.refuse = nil
	b := newSide(t, store, true)
	b.pull()
	if data, _ := os.ReadFile(b.path("a")); string(data) != "old" {
		t.Errorf("there is %q", data)
	}
	old := fmt.Sprintf("%08x-%s", time.Now().Add(-2*garbageAge).Unix(), strings.Repeat("a", 16))
	must(t, store.Put(t.Context(), "ann", packsName("work/s1")+"/"+old, []byte("left")))
	packs := func() []string {
		all, err := store.List(t.Context(), "ann", packsName("work/s1"))
		must(t, err)
		return all
	}
	if len(packs()) != 3 {
		t.Fatalf("there are %v", packs())
	}
	again := a.again()
	again.push()
	if all := packs(); slices.Contains(all, old) || len(all) != 2 {
		t.Errorf("after the next push there are %v", all)
	}
	b.pull()
	if data, _ := os.ReadFile(b.path("a")); string(data) != "new" {
		t.Errorf("there is %q", data)
	}
}

// lossy keeps what it is given, and does not tell.
type lossy struct {
	*counting
	lose bool
}

func (l *lossy) Replace(ctx context.Context, owner, name string, value []byte, last uint64) (uint64, error) {
	number, err := l.counting.Replace(ctx, owner, name, value, last)
	if l.lose {
		return 0, errors.New("no answer came")
	}
	return number, err
}

func TestAPushWhoseAnswerIsLostIsNotTakenForAnothers(t *testing.T) {
	t.Parallel()
	store := &lossy{counting: &counting{KV: openStore(t)}}
	a := newSide(t, store, true)
	for _, text := range []string{"first", "second"} {
		a.write("a", text)
		store.lose = true
		if err := a.mirror.Push(t.Context(), a.folder); err == nil {
			t.Fatal("no error")
		}
		store.lose = false
		a.write("a", text+" and more")
		a.push()
	}
	b := newSide(t, store, true)
	b.pull()
	if data, _ := os.ReadFile(b.path("a")); string(data) != "second and more" {
		t.Errorf("there is %q", data)
	}
}

func TestAfterARestartNothingIsLostOrComesBack(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	a, b := newSide(t, store, false), newSide(t, store, false)
	a.write("deleted by b", "x")
	a.write("kept", "x")
	a.push()
	b.pull()
	a.write("unpushed", "x")
	a = a.again()
	b.remove("deleted by b")
	b.push()
	a.push()
	b.pull()
	if got := b.names(); got != "kept unpushed" {
		t.Errorf("there is %q", got)
	}
	if a.tree() != b.tree() {
		t.Errorf("a has\n%s\nb has\n%s", a.tree(), b.tree())
	}
}

// TestAFolderThatWasLostIsFetched guards against taking a folder that was removed from
// the disk for one whose files were deleted.
func TestAFolderThatWasLostIsFetched(t *testing.T) {
	t.Parallel()
	for _, sole := range []bool{true, false} {
		store := openStore(t)
		a, b := newSide(t, store, sole), newSide(t, store, sole)
		a.write("a", "x")
		a.push()
		must(t, os.RemoveAll(a.folder.Host), os.Mkdir(a.folder.Host, 0o700))
		a = a.again()
		must(t, a.mirror.Claim(t.Context(), a.folder))
		a.push()
		b.pull()
		if a.names() != "a" || b.names() != "a" {
			t.Errorf("a has %q, b has %q", a.names(), b.names())
		}
	}
}

func TestTidyEmptiesWhatOthersHaveRemoved(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	a, b, lost := newSide(t, store, false), newSide(t, store, false), newSide(t, store, false)
	a.write("a", "x")
	a.push()
	b.pull()
	lost.pull()
	must(t, b.mirror.Tidy(t.Context()))
	if b.names() != "a" {
		t.Errorf("while it is kept there is %q", b.names())
	}
	must(t, a.mirror.Remove(t.Context(), "ann", "work/s1"), os.RemoveAll(lost.folder.Host))
	for _, s := range []*side{b.again(), lost} {
		must(t, s.mirror.Tidy(t.Context()))
		if left, _ := filepath.Glob(filepath.Join(s.notes, "*", "*", "*")); len(left) != 0 {
			t.Errorf("it is remembered %v", left)
		}
	}
	if b.names() != "" {
		t.Errorf("there is left %q", b.names())
	}
}

func TestWhatIsRemovedIsGoneEverywhere(t *testing.T) {
	t.Parallel()
	for _, sole := range []bool{true, false} {
		store := openStore(t)
		a, b := newSide(t, store, sole), newSide(t, store, sole)
		a.write("a/b", "x")
		a.push()
		b.pull()
		must(t, a.mirror.Remove(t.Context(), "ann", "work/s1"))
		for _, folder := range []string{"folders/work", packsName("work/s1")} {
			if left, err := store.List(t.Context(), "ann", folder); err != nil || len(left) != 0 {
				t.Errorf("there is left %v, %v", left, err)
			}
		}
		b = b.again()
		b.pull()
		if got := b.tree(); got != "" {
			t.Errorf("the other one has %q", got)
		}
		b.write("new", "x")
		b.push()
	}
}

func TestAChangedPackIsNoticed(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	a, b := newSide(t, store, true), newSide(t, store, true)
	a.write("a", "the content")
	a.push()
	packs, err := store.List(t.Context(), "ann", packsName("work/s1"))
	must(t, err, store.Put(t.Context(), "ann", packsName("work/s1")+"/"+packs[0], []byte("the comment")))
	if err := b.mirror.Pull(t.Context(), b.folder); !errors.Is(err, errManifest) {
		t.Errorf("got %v", err)
	}
	if got := b.tree(); got != "" {
		t.Errorf("there is %q", got)
	}
	must(t, store.Delete(t.Context(), "ann", packsName("work/s1")+"/"+packs[0]))
	if err := b.mirror.Pull(t.Context(), b.folder); !errors.Is(err, errGone) {
		t.Errorf("without it: %v", err)
	}
}

func TestOnlyWhatIsNamedIsMirrored(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	a, b := newSide(t, store, true), newSide(t, store, true)
	a.folder.Within, b.folder.Within = []string{"index.json", "versions"}, []string{"index.json", "versions"}
	a.write("index.json", "{}")
	a.write("versions/x/1/x.js", "1")
	a.write("checkouts/s/x.js", "a")
	b.write("checkouts/t/x.js", "b")
	b.write("versions/gone", "b")
	a.push()
	b.pull()
	if got, want := b.names(), "checkouts/ checkouts/t/ checkouts/t/x.js index.json versions/ versions/x/ versions/x/1/ versions/x/1/x.js"; got != want {
		t.Errorf("there is %q, want %q", got, want)
	}
}
