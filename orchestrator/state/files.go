package state

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// maxBytes bounds one value.
const maxBytes = 256 << 20

// Files is a store of small values that several processes share, a folder of files:
// what they keep there, such as API keys, counts in all of them at once. What goes
// into it is encrypted by its owner; Files adds no encryption. Names are relative
// slash paths of letters, digits and "._-". Its methods may be called concurrently; a
// write is seen whole or not at all.
type Files struct{ root *os.Root }

// OpenFiles opens the folder, and makes it if it is missing.
func OpenFiles(dir string) (*Files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the state folder: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the state folder: %w", err)
	}
	return &Files{root: root}, nil
}

// Close releases the folder.
func (f *Files) Close() error { return f.root.Close() }

// Put keeps value under name, in place of what was there.
func (f *Files) Put(ctx context.Context, name string, value []byte) error {
	if err := check(ctx, name); err != nil {
		return err
	}
	if len(value) > maxBytes {
		return fmt.Errorf("keep %s: %d bytes are more than %d", path.Dir(name), len(value), maxBytes)
	}
	if err := f.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("keep a value: %w", err)
	}
	fresh := path.Join(path.Dir(name), ".new-"+rand.Text())
	if err := f.write(fresh, value); err != nil {
		return errors.Join(fmt.Errorf("keep a value: %w", err), f.root.Remove(fresh))
	}
	if err := f.root.Rename(fresh, name); err != nil {
		return fmt.Errorf("keep a value: %w", err)
	}
	return nil
}

func (f *Files) write(name string, value []byte) error {
	file, err := f.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(value)
	return errors.Join(err, file.Sync(), file.Close())
}

// Get returns the value under name; the error wraps fs.ErrNotExist if there is
// none.
func (f *Files) Get(ctx context.Context, name string) ([]byte, error) {
	if err := check(ctx, name); err != nil {
		return nil, err
	}
	value, err := f.root.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read a kept value: %w", err)
	}
	return value, nil
}

// List gives the names right below a folder, in order.
func (f *Files) List(ctx context.Context, folder string) ([]string, error) {
	if err := check(ctx, folder); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(f.root.FS(), folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list kept values: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") { // one that is being written
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Delete removes what is under name. Removing nothing is no error.
func (f *Files) Delete(ctx context.Context, name string) error {
	if err := check(ctx, name); err != nil {
		return err
	}
	if err := f.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a kept value: %w", err)
	}
	return nil
}

// ErrName is wrapped for a name, or an owner, outside the form that it has.
var ErrName = errors.New("not a name for a kept value")

func check(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ok := fs.ValidPath(name) && name != "." && len(name) < 512
	for part := range strings.SplitSeq(name, "/") {
		ok = ok && !strings.HasPrefix(part, ".") && strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == ""
	}
	if !ok {
		return ErrName
	}
	return nil
}
