// Package workspace is the file system that a script sees, and where its folders
// are kept on the host.
//
// A Space joins several folders into one tree, /workspace beside /artifacts and
// /skills, some writable, some not, some from the program itself. It is what the
// sandbox hands to scripts, so it takes every path and every file below its
// folders for an attack: package rooted does the looking up, and quotas bound
// what may be written. A Store knows which host folders belong to which session
// and user, and lists and reads artifacts for the outside.
//
// Both are safe for concurrent use. Errors wrap fs.ErrNotExist,
// fs.ErrPermission, fs.ErrInvalid, ErrTooLarge or ErrQuota, name the folder but
// never the path, since paths come from scripts, and say what to do.
//
// What a script in a container does to a shared folder by itself is not bounded
// here, only noticed: the next write through a Space counts it.
package workspace

import (
	"errors"
	"fmt"
	"io/fs"

	"airlock/workspace/rooted"
)

var (
	// ErrTooLarge is wrapped when a file or a list is larger than the caller
	// takes. It also matches syscall.EFBIG.
	ErrTooLarge = rooted.ErrTooLarge
	// ErrQuota is wrapped when a folder may not hold more. It also matches
	// syscall.ENOSPC.
	ErrQuota = rooted.ErrFull
)

// What a folder may hold if its Folder does not say.
const (
	DefaultQuotaBytes = 64 << 20
	DefaultMaxFiles   = 10_000
)

// Folder is one folder of a Space.
type Folder struct {
	// Guest is its name in the sandbox: "/workspace", "/skills/library".
	Guest string
	// Root is the host folder behind it, which must exist.
	Root string
	// FS stands in place of Root for what is part of the program; read-only.
	FS fs.FS
	// ReadOnly refuses changes.
	ReadOnly bool
	// QuotaBytes bounds the sizes of all files together; 0 takes the default.
	QuotaBytes int64
	// MaxFiles bounds the number of files and folders; 0 takes the default.
	MaxFiles int
}

// Open joins folders into one tree. A path belongs to the folder with the longest
// fitting name: "/skills/library/x" to "/skills/library", not to "/skills".
func Open(folders []Folder) (*Space, error) {
	s := &Space{mounts: map[string]*mount{}}
	for _, f := range folders {
		m, err := newMount(f)
		if err == nil && s.mounts[f.Guest] != nil {
			err = errors.Join(errors.New("the folder is named twice; name it once"), m.close())
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open %s: %w", f.Guest, err), s.Close())
		}
		s.mounts[f.Guest] = m
	}
	s.listMounts()
	return s, nil
}

// newMount checks a Folder and opens what is behind it.
func newMount(f Folder) (*mount, error) {
	if err := checkGuest(f.Guest); err != nil {
		return nil, err
	}
	if f.QuotaBytes < 0 || f.MaxFiles < 0 {
		return nil, errors.New("the quota is negative; leave it out for the default")
	}
	m := &mount{guest: f.Guest, readOnly: f.ReadOnly || f.FS != nil, quota: quota{
		maxBytes: orDefault(f.QuotaBytes, DefaultQuotaBytes),
		maxFiles: orDefault(int64(f.MaxFiles), DefaultMaxFiles),
	}}
	switch {
	case (f.Root == "") == (f.FS == nil):
		return nil, errors.New("a folder needs either a host folder or a file system")
	case f.FS != nil:
		m.files = embedded{f.FS}
		return m, nil
	}
	dir, err := rooted.Open(f.Root)
	if err != nil {
		return nil, err
	}
	m.files, m.dir, m.host = dir, dir, f.Root
	return m, dir.Sweep()
}

func orDefault(n, byDefault int64) int64 {
	if n == 0 {
		return byDefault
	}
	return n
}
