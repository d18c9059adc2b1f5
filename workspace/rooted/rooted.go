// Package rooted reads and writes below one host folder whose content is made by
// somebody we do not trust, such as a script in a container that shares it.
//
// Start with Open. A Dir resolves every name beneath its folder with os.Root, so
// that neither "..", nor an absolute name, nor a symbolic link, nor one swapped in
// while we look, leads out of it. What it opens it opens without waiting and reads
// only if it is a regular file with one name: a FIFO does not hang the caller, a
// device is not read, a hard link to somebody else's file is refused. Whoever
// reads says how much they will take, and a bigger file is refused by its size
// before anything of it is read.
//
// Names are relative, with slashes: "reports/may.csv"; "." is the folder itself.
// Errors wrap fs.ErrNotExist, fs.ErrPermission, fs.ErrInvalid, fs.ErrExist,
// ErrTooLarge or ErrFull, and say what to do. They never hold the name: names come
// from scripts and can hold personal data. A Dir is safe for concurrent use.
package rooted

import (
	"fmt"
	"io/fs"
	"os"
)

// Dir is a folder that nothing leads out of.
type Dir struct{ root *os.Root }

// Open opens an existing host folder.
func Open(host string) (*Dir, error) {
	root, err := os.OpenRoot(host)
	if err != nil {
		return nil, fmt.Errorf("open folder: %w", cause(err))
	}
	return &Dir{root: root}, nil
}

// Sub opens a folder below as a Dir of its own.
func (d *Dir) Sub(name string) (*Dir, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	root, err := d.root.OpenRoot(name)
	if err != nil {
		return nil, cause(err)
	}
	return &Dir{root: root}, nil
}

// Close releases the folder.
func (d *Dir) Close() error { return d.root.Close() }

// FS is the folder as a file system, for trees whose content is trusted: it reads
// whatever is in them.
func (d *Dir) FS() fs.FS { return d.root.FS() }

// Stat describes what name leads to. Symbolic links that stay inside are
// followed; what one that leaves points to is refused.
func (d *Dir) Stat(name string) (fs.FileInfo, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	info, err := d.root.Stat(name)
	return info, cause(err)
}

// Lstat describes name itself, a symbolic link as such.
func (d *Dir) Lstat(name string) (fs.FileInfo, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	info, err := d.root.Lstat(name)
	return info, cause(err)
}
