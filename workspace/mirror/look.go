package mirror

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"

	"airlock/workspace/rooted"
)

// local is a folder as it is here.
type local struct {
	dir    *rooted.Dir
	known  *known
	inside map[string]fs.FileInfo // all that can be mirrored, by path
}

// look lists what is in a folder. The caller closes local.dir.
func look(f Folder, k *known) (*local, error) {
	if f.MaxBytes <= 0 || f.MaxFiles <= 0 {
		return nil, errors.New("a folder that is mirrored needs bounds")
	}
	dir, err := rooted.Open(f.Host)
	if err != nil {
		return nil, err
	}
	l := &local{dir: dir, known: k, inside: map[string]fs.FileInfo{}}
	within := f.Within
	if len(within) == 0 {
		within = []string{"."}
	}
	for _, name := range within {
		if err := l.walk(name, f.MaxFiles-len(l.inside)); err != nil {
			return nil, errors.Join(err, dir.Close())
		}
	}
	for name := range l.known.stamps {
		if _, there := l.inside[name]; !there {
			delete(l.known.stamps, name)
		}
	}
	return l, nil
}

func (l *local) walk(name string, most int) error {
	info, err := l.dir.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if name != "." {
		l.add(name, info)
	}
	if !info.IsDir() {
		return nil
	}
	found, err := l.dir.Walk(name, max(most, 0))
	for _, e := range found {
		l.add(e.Name, e.Info)
	}
	return err
}

func (l *local) add(name string, info fs.FileInfo) {
	above := path.Dir(name)
	if _, ok := l.inside[above]; above != "." && !ok || rooted.CheckName(name) != nil {
		return
	}
	if _, ok := kindOf(info); ok {
		l.inside[name] = info
	}
}

func kindOf(info fs.FileInfo) (kind, bool) {
	switch info.Mode().Type() {
	case 0:
		return file, true
	case fs.ModeDir:
		return folder, true
	case fs.ModeSymlink:
		return link, true
	}
	return "", false
}

func (l *local) paths() []string {
	all := make([]string, 0, len(l.inside))
	for name := range l.inside {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// describe is what can be said of a path without reading what is in a file. It is false
// for one that is gone, or is none of those that are mirrored.
func (l *local) describe(name string) (entry, bool, error) {
	info, ok := l.inside[name]
	if !ok {
		return entry{}, false, nil
	}
	e := entry{Path: name}
	e.Kind, _ = kindOf(info)
	var err error
	switch e.Kind {
	case file:
		e.Size, e.Modified, e.Executable = info.Size(), info.ModTime().UnixMilli(), executable(info)
	case link:
		e.Target, err = l.dir.Readlink(name)
		ok = e.Target != "" && len(e.Target) <= maxTarget
	}
	return e, ok && !unfit(err), unless(err, unfit)
}

func executable(info fs.FileInfo) bool { return info.Mode()&0o100 != 0 }

// unfit reports what a script may have made of a file so that it is not mirrored: it is
// gone, may not be read, or is something else by now.
func unfit(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrInvalid)
}

func unless(err error, is func(error) bool) error {
	if is(err) {
		return nil
	}
	return err
}

// is reports whether what is at a path is as a list has it.
func (l *local) is(was entry) (bool, error) {
	e, ok, err := l.describe(was.Path)
	if !ok || err != nil {
		return false, err
	}
	e.Hash = was.Hash
	if !e.same(was) {
		return false, nil
	}
	if e.Kind != file || l.unchanged(was) {
		return true, nil
	}
	return l.holds(was)
}

// unchanged reports whether it is known without reading a file that it holds what a list
// says.
func (l *local) unchanged(e entry) bool {
	stamp, _ := rooted.StampOf(l.inside[e.Path])
	before, ok := l.known.stamps[e.Path]
	if !ok || before != stamp {
		return false
	}
	was, ok := l.known.at.find(e.Path)
	return ok && bytes.Equal(was.Hash, e.Hash)
}

// holds reads a file and reports whether that is in it which the list has.
func (l *local) holds(was entry) (bool, error) {
	got, ok, err := l.read(was.Path, was.Size, io.Discard)
	if errors.Is(err, rooted.ErrFull) {
		return false, nil // it has grown since it was looked at
	}
	if !ok || err != nil || !bytes.Equal(got.Hash, was.Hash) {
		return false, err
	}
	if got.sure {
		l.known.stamps[was.Path] = got.stamp
	}
	return true, nil
}

// reading is what is known of a file that was read.
type reading struct {
	entry
	stamp rooted.Stamp
	sure  bool // a file of the same stamp is the one that was read
}

// read copies what is in a file, of at most so many bytes, and describes it. It is false
// for a file that cannot be read.
func (l *local) read(name string, most int64, to io.Writer) (reading, bool, error) {
	f, info, err := l.dir.OpenFile(name)
	if err != nil {
		return reading{}, false, unless(err, unfit)
	}
	defer f.Close()
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(hash, to), io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return reading{}, false, fmt.Errorf("read a file: %w", err)
	case size > most:
		return reading{}, false, fmt.Errorf("%w: a file has more than the %d bytes that are left; remove some", rooted.ErrFull, most)
	}
	r := reading{entry: entry{Path: name, Size: size, Modified: info.ModTime().UnixMilli(), Executable: executable(info), Hash: hash.Sum(nil)}}
	r.stamp, r.sure = rooted.StampOf(info)
	r.sure = r.sure && info.Size() == size
	return r, true, nil
}
