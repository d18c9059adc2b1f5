package rooted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

var (
	// ErrTooLarge is wrapped when a file or a list is larger than the caller
	// takes. It is syscall.EFBIG for those who do not know this package.
	ErrTooLarge = fmt.Errorf("too large: %w", syscall.EFBIG)
	// ErrFull is wrapped when there is no room to write. It is syscall.ENOSPC.
	ErrFull = fmt.Errorf("no room left: %w", syscall.ENOSPC)
	// errDirectory is fs.ErrInvalid and syscall.EISDIR.
	errDirectory = fmt.Errorf("%w: %w", fs.ErrInvalid, syscall.EISDIR)
)

// refusal is an error whose text is only ours, around the kind that callers
// branch on.
type refusal struct {
	kind error
	text string
}

func refuse(kind error, text string) error { return &refusal{kind, text} }

func (r *refusal) Error() string { return r.text }
func (r *refusal) Unwrap() error { return r.kind }

// advice is what each system error means to the one who named the file. The
// first match wins.
var advice = []struct {
	is   error
	kind error
	text string
}{
	{syscall.ENOTEMPTY, fs.ErrInvalid, "the folder is not empty; remove what is in it first"},
	{fs.ErrNotExist, fs.ErrNotExist, "no such file or folder; list the folder to see what is there"},
	{fs.ErrExist, fs.ErrExist, "it exists already; use another name"},
	{syscall.EISDIR, errDirectory, "it is a folder; name a file in it"},
	{syscall.ENOTDIR, fs.ErrInvalid, "a part of the path is a file, not a folder; check the names before it"},
	{syscall.ENAMETOOLONG, fs.ErrInvalid, "the path is too long; use shorter names"},
	{syscall.ELOOP, fs.ErrInvalid, "too many symbolic links; name the file itself"},
	{syscall.ENXIO, fs.ErrInvalid, "it is a socket or a pipe; only regular files can be read"},
	{syscall.ENOSPC, ErrFull, "the disk is full; remove files that are not needed"},
	{syscall.EDQUOT, ErrFull, "the disk quota is used up; remove files that are not needed"},
	{syscall.EROFS, fs.ErrPermission, "the folder is read-only; write to another"},
	{fs.ErrPermission, fs.ErrPermission, "the system does not permit it; check the modes of the file"},
	{fs.ErrClosed, fs.ErrClosed, "the folder is closed"},
}

// cause turns a system error into one that does not hold the name and says what
// to do.
func cause(err error) error {
	if err == nil {
		return nil
	}
	var ours *refusal
	if errors.As(err, &ours) {
		return err
	}
	for _, a := range advice {
		if errors.Is(err, a.is) {
			return refuse(a.kind, a.text)
		}
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return refuse(errors.Join(fs.ErrInvalid, errno), "the system refuses: "+errno.Error())
	}
	// os.Root has no exported error for a link that leads out.
	var path *os.PathError
	var link *os.LinkError
	if errors.As(err, &path) || errors.As(err, &link) {
		return refuse(fs.ErrPermission, "the path leads out of its folder; symbolic links must stay inside")
	}
	return refuse(fs.ErrInvalid, "the file system refuses it")
}
