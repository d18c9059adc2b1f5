package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"airlock/runtime/sandbox"
)

// folders are the host folders that a container shows, outer ones first.
type folders []sandbox.Mount

// guests are where folders may be shown, and no others.
var guests = []string{"/workspace", "/artifacts", "/skills", "/tools"}

// foldersOf are the folders behind an execution's files, and those that are part
// of the program.
func (b *Backend) foldersOf(files sandbox.Files) (folders, error) {
	var found folders
	if m, ok := files.(sandbox.Mounter); ok {
		found = slices.Clone(m.Mounts())
	} else if files != nil {
		return nil, errors.New("the files of the execution are no folders of the host, which a container needs")
	}
	for guest, host := range b.pool.embedded {
		if !slices.ContainsFunc(found, func(m sandbox.Mount) bool { return m.Guest == guest }) {
			found = append(found, sandbox.Mount{Guest: guest, Host: host, ReadOnly: true})
		}
	}
	slices.SortFunc(found, func(a, b sandbox.Mount) int { return strings.Compare(a.Guest, b.Guest) })
	for i := range found {
		if err := check(&found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// check makes a mount's host folder absolute and refuses what is none of ours.
func check(m *sandbox.Mount) error {
	top := "/" + strings.SplitN(strings.TrimPrefix(m.Guest, "/"), "/", 2)[0]
	if path.Clean(m.Guest) != m.Guest || !slices.Contains(guests, top) {
		return fmt.Errorf("mount %q: a folder of a sandbox is one of %s, or within", m.Guest, strings.Join(guests, ", "))
	}
	host, err := filepath.Abs(m.Host)
	if err != nil {
		return fmt.Errorf("mount %s: %w", m.Guest, err)
	}
	m.Host = host
	return nil
}

func (f folders) equal(other folders) bool { return slices.Equal(f, other) }

// hand gives the writable folders, without what is in them, to the container's
// user: interpreters that start with the container stand in one. A script may
// have taken its own rights away.
func (f folders) hand() error {
	for _, m := range f {
		if m.ReadOnly {
			continue
		}
		if err := handFolder(m.Host); err != nil {
			return fmt.Errorf("make %s ready for the sandbox: %w", m.Guest, err)
		}
	}
	return nil
}

func handFolder(host string) error {
	info, err := os.Stat(host)
	if err != nil {
		return err
	}
	uid, gid := user()
	if owner, ok := ownerOf(info); os.Getuid() == 0 && ok && owner != uid {
		if err := os.Chown(host, uid, gid); err != nil {
			return err
		}
	}
	const all = 0o700
	if info.Mode()&all == all {
		return nil
	}
	return os.Chmod(host, info.Mode().Perm()|all)
}

// open makes the writable folders writable for the container's user, and returns
// what is in each.
func (f folders) open() ([]usage, error) {
	if err := f.hand(); err != nil {
		return nil, err
	}
	var all []usage
	for _, m := range f {
		if m.ReadOnly {
			continue
		}
		u := usage{folder: m, seen: map[string]time.Time{}}
		if err := u.walk(u.give); err != nil {
			return nil, fmt.Errorf("make %s ready for the sandbox: %w", m.Guest, err)
		}
		all = append(all, u)
	}
	return all, nil
}

// give makes a file the container's user's, where airlock is root and may, and
// notes when it was changed last.
func (u *usage) give(root *os.Root, name string, info fs.FileInfo) error {
	uid, gid := user()
	if owner, ok := ownerOf(info); os.Getuid() == 0 && ok && owner != uid {
		if err := root.Lchown(name, uid, gid); err != nil {
			return err
		}
		var err error
		if info, err = root.Lstat(name); err != nil {
			return err
		}
	}
	u.seen[name] = changed(info)
	return nil
}

// usage is what a folder holds.
type usage struct {
	folder sandbox.Mount
	bytes  int64
	files  int
	// seen holds when each file was changed last, if that was asked for.
	seen map[string]time.Time
}

// walk counts everything beneath the folder, and shows it to visit if there is
// one. Links are not followed. What vanishes meanwhile does not count.
func (u *usage) walk(visit func(*os.Root, string, fs.FileInfo) error) error {
	u.bytes, u.files = 0, 0
	root, err := os.OpenRoot(u.folder.Host)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return skipped(name, err)
		}
		info, err := d.Info()
		if err != nil {
			return skipped(name, err)
		}
		u.files++
		if info.Mode().IsRegular() {
			u.bytes += info.Size()
		}
		if visit == nil {
			return nil
		}
		return skipped(name, visit(root, name, info))
	})
}

// skipped passes over what vanished or cannot be read, the folder itself apart.
func skipped(name string, err error) error {
	if name != "." && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)) {
		return nil
	}
	return err
}

// full is the error of a folder that holds more than it may.
type full struct{ usage }

// Error names the folder as scripts know it.
func (f *full) Error() string {
	return fmt.Sprintf("the folder %s holds more than it may", f.folder.Guest)
}

// quota bounds what an execution may leave in each folder: what was there before
// counts as allowed, so that a script can still make room.
type quota struct {
	bytes int64
	files int
	was   []usage
}

// exceeded looks whether a folder holds too much; the error is a *full.
func (q *quota) exceeded() error {
	for _, was := range q.was {
		now := usage{folder: was.folder}
		if err := now.walk(nil); err != nil {
			return err
		}
		if now.bytes > max(q.bytes, was.bytes) || now.files > max(q.files, was.files) {
			return &full{now}
		}
	}
	return nil
}

// trim removes what the execution wrote, largest files first, from the folders
// that hold too much, until they do not. Nothing must write to them any more.
func (q *quota) trim() error {
	var errs []error
	for _, was := range q.was {
		errs = append(errs, q.trimFolder(was))
	}
	return errors.Join(errs...)
}

type written struct {
	name string
	size int64
}

func (q *quota) trimFolder(was usage) error {
	var fresh []written
	now := usage{folder: was.folder}
	err := now.walk(func(_ *os.Root, name string, info fs.FileInfo) error {
		if at, there := was.seen[name]; !info.IsDir() && (!there || !changed(info).Equal(at)) {
			fresh = append(fresh, written{name, info.Size()})
		}
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(fresh, func(a, b written) int { return int(min(max(b.size-a.size, -1), 1)) })
	root, err := os.OpenRoot(was.folder.Host)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, f := range fresh {
		if now.bytes <= max(q.bytes, was.bytes) && now.files <= max(q.files, was.files) {
			return nil
		}
		if err := root.Remove(f.name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		now.bytes -= f.size
		now.files--
	}
	return nil
}
