package rooted

import (
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// Modes of what is written: only the account that airlock runs as may look.
const (
	fileMode = 0o600
	dirMode  = 0o700
)

// staleAfter is the age from which a half-written file is taken to be left by a
// process that died. Writing takes seconds at most.
const staleAfter = time.Hour

// WriteFile creates or replaces a file: at every moment the name leads to the old
// content, whole, or to the new. The folder it is in must exist. A symbolic link
// of that name is replaced, not followed.
func (d *Dir) WriteFile(name string, data []byte) error {
	return d.WriteFrom(name, false, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteFrom is WriteFile for content that is written piece by piece. Where write fails
// there is no change. The file may be run as a program if it is to be executable.
func (d *Dir) WriteFrom(name string, executable bool, write func(io.Writer) error) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if info, err := d.root.Lstat(name); err == nil && info.IsDir() {
		return refuse(errDirectory, "it is a folder; name a file in it")
	}
	temp, err := d.writeTemp(modeOf(executable), write)
	if err != nil {
		return err
	}
	if err := d.root.Rename(temp, name); err != nil {
		_ = d.root.Remove(temp) // the error before says more
		return cause(err)
	}
	return nil
}

func modeOf(executable bool) fs.FileMode {
	if executable {
		return fileMode | 0o100
	}
	return fileMode
}

func (d *Dir) writeTemp(mode fs.FileMode, write func(io.Writer) error) (string, error) {
	temp := tempPrefix + strings.ToLower(rand.Text())
	f, err := d.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return "", cause(err)
	}
	failed := write(f)
	if err = errors.Join(failed, f.Close()); err != nil {
		_ = d.root.Remove(temp) // the error before says more
		if system := (*os.PathError)(nil); errors.As(err, &system) {
			return "", cause(err)
		}
		return "", failed
	}
	return temp, nil
}

// Symlink makes a symbolic link, which may lead anywhere: nothing here follows one that
// leads out.
func (d *Dir) Symlink(target, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return cause(d.root.Symlink(target, name))
}

// SetExecutable says whether a file may be run as a program.
func (d *Dir) SetExecutable(name string, executable bool) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return cause(d.root.Chmod(name, modeOf(executable)))
}

// MakeDirs makes a folder and those above it, asking before each one that is
// missing, and reports how many it made.
func (d *Dir) MakeDirs(name string, may func() error) (made int, err error) {
	if err := CheckName(name); err != nil {
		return 0, err
	}
	missing, err := d.missing(name)
	for i := len(missing) - 1; i >= 0 && err == nil; i-- {
		if err = may(); err != nil {
			break
		}
		err = cause(d.root.Mkdir(missing[i], dirMode))
		if errors.Is(err, fs.ErrExist) {
			err = nil // made by somebody else since
			continue
		}
		if err == nil {
			made++
		}
	}
	return made, err
}

// missing lists name and the folders above it that are not there, innermost first.
func (d *Dir) missing(name string) ([]string, error) {
	var missing []string
	for ; name != "."; name = path.Dir(name) {
		info, err := d.root.Stat(name)
		switch {
		case err == nil && info.IsDir():
			return missing, nil
		case err == nil:
			return nil, refuse(fs.ErrInvalid, "a part of the path is a file, not a folder; use another name")
		case !errors.Is(err, fs.ErrNotExist):
			return nil, cause(err)
		}
		missing = append(missing, name)
	}
	return missing, nil
}

// Remove deletes a file, a link itself, or an empty folder.
func (d *Dir) Remove(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if name == "." {
		return refuse(fs.ErrPermission, "the folder itself cannot be removed; remove what is in it")
	}
	return cause(d.root.Remove(name))
}

// Date sets when a file was last changed.
func (d *Dir) Date(name string, at time.Time) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return cause(d.root.Chtimes(name, at, at))
}

// RemoveAll deletes name and everything below it; links are not followed. Nothing
// there is no error.
func (d *Dir) RemoveAll(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return cause(d.root.RemoveAll(name))
}

// Sweep removes what a process that died was about to write.
func (d *Dir) Sweep() error {
	f, err := d.root.Open(".")
	if err != nil {
		return cause(err)
	}
	defer f.Close()
	for {
		names, err := f.Readdirnames(256)
		for _, n := range names {
			d.sweep(n)
		}
		if err != nil || len(names) == 0 {
			return nil
		}
	}
}

func (d *Dir) sweep(name string) {
	if !strings.HasPrefix(name, tempPrefix) {
		return
	}
	if info, err := d.root.Lstat(name); err == nil && time.Since(info.ModTime()) > staleAfter {
		_ = d.root.Remove(name) // tried again at the next start
	}
}
