package rooted

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// OpenFile opens a regular file that has no other name, for reading. Its content may be
// changed by others while it is read.
func (d *Dir) OpenFile(name string) (*os.File, fs.FileInfo, error) {
	if err := CheckName(name); err != nil {
		return nil, nil, err
	}
	return d.openRegular(name)
}

// Readlink returns what a symbolic link names, wherever that is.
func (d *Dir) Readlink(name string) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	target, err := d.root.Readlink(name)
	return target, cause(err)
}

// ReadFile returns a whole regular file of at most max bytes.
func (d *Dir) ReadFile(name string, max int64) ([]byte, fs.FileInfo, error) {
	if err := CheckName(name); err != nil {
		return nil, nil, err
	}
	f, info, err := d.openRegular(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info.Size() > max {
		return nil, nil, tooLarge(max)
	}
	// One byte more than fits, so that a file that grows meanwhile is noticed.
	data, err := io.ReadAll(io.LimitReader(f, max+1))
	if err != nil {
		return nil, nil, cause(err)
	}
	if int64(len(data)) > max {
		return nil, nil, tooLarge(max)
	}
	return data, info, nil
}

func tooLarge(max int64) error {
	return refuse(ErrTooLarge, fmt.Sprintf("the file has more than %d bytes; read it in parts by a script", max))
}

// openRegular opens a file and makes sure, by what is open and not by its name,
// that it is a regular one with no other name.
func (d *Dir) openRegular(name string) (*os.File, fs.FileInfo, error) {
	// Opening a device can already do something, so most of them are turned away
	// before; the check that counts is the one below.
	if info, err := d.root.Stat(name); err != nil {
		return nil, nil, cause(err)
	} else if err := regular(info); err != nil {
		return nil, nil, err
	}
	f, err := d.root.OpenFile(name, os.O_RDONLY|openWithoutWaiting, 0)
	if err != nil {
		return nil, nil, cause(err)
	}
	info, err := f.Stat()
	if err == nil {
		err = regular(info)
	}
	if err != nil {
		return nil, nil, errors.Join(cause(err), f.Close())
	}
	return f, info, nil
}

func regular(info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return refuse(errDirectory, "it is a folder; name a file in it")
	case !info.Mode().IsRegular():
		return refuse(fs.ErrInvalid, "it is a pipe, socket or device; only regular files can be read")
	case links(info) > 1:
		return refuse(fs.ErrPermission, "the file has more than one name (hard links); make a copy of it")
	}
	return nil
}

// ReadDir lists a folder of at most max entries, sorted by name. Symbolic links
// that stay inside are shown as what they lead to, others as themselves.
func (d *Dir) ReadDir(name string, max int) ([]fs.FileInfo, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	names, err := d.names(name, max)
	if err != nil {
		return nil, err
	}
	infos := make([]fs.FileInfo, 0, len(names))
	for _, n := range names {
		// One that has gone since is left out.
		if info, err := d.look(path.Join(name, n)); err == nil {
			infos = append(infos, info)
		}
	}
	return infos, nil
}

// look describes an entry of a folder. It goes by way of the root and not by the
// open folder, whose entries know their place by name only.
func (d *Dir) look(name string) (fs.FileInfo, error) {
	info, err := d.root.Lstat(name)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return info, err
	}
	if target, err := d.root.Stat(name); err == nil {
		return target, nil
	}
	return info, nil
}

func (d *Dir) names(name string, max int) ([]string, error) {
	f, err := d.root.OpenFile(name, os.O_RDONLY|openDirectory|openWithoutWaiting, 0)
	if err != nil {
		return nil, cause(err)
	}
	defer f.Close()
	var names []string
	for {
		some, err := f.Readdirnames(256)
		for _, n := range some {
			if !strings.HasPrefix(n, tempPrefix) {
				names = append(names, n)
			}
		}
		switch {
		case len(names) > max:
			return nil, refuse(ErrTooLarge, fmt.Sprintf("the folder has more than %d entries; remove some, or use subfolders", max))
		case errors.Is(err, io.EOF):
			slices.Sort(names)
			return names, nil
		case err != nil:
			return nil, cause(err)
		}
	}
}
