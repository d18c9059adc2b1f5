package sandboxtest

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"airlock/runtime/sandbox"
)

// folders is a plain sandbox.Files over temporary folders, for the suite only: it
// has neither quotas nor the care that package workspace takes.
type folders struct{ roots map[string]*os.Root }

func newFolders(t *testing.T) *folders {
	t.Helper()
	f := &folders{roots: map[string]*os.Root{}}
	for _, guest := range []string{"/workspace", "/artifacts", "/skills"} {
		root, err := os.OpenRoot(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = root.Close() })
		f.roots[guest] = root
	}
	return f
}

func (f *folders) locate(name string) (*os.Root, string, error) {
	clean := path.Clean(name)
	if !strings.HasPrefix(name, "/") {
		return nil, "", fmt.Errorf("a path that is not absolute: %w", fs.ErrInvalid)
	}
	for guest, root := range f.roots {
		if clean == guest {
			return root, ".", nil
		}
		if rest, ok := strings.CutPrefix(clean, guest+"/"); ok {
			return root, rest, nil
		}
	}
	return nil, "", fmt.Errorf("a path outside: %w", fs.ErrPermission)
}

// ReadFile implements sandbox.Files.
func (f *folders) ReadFile(name string, _ int64) ([]byte, error) {
	root, rest, err := f.locate(name)
	if err != nil {
		return nil, err
	}
	return root.ReadFile(rest)
}

// WriteFile implements sandbox.Files.
func (f *folders) WriteFile(name string, data []byte) error {
	root, rest, err := f.locate(name)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(path.Dir(rest), 0o755); err != nil {
		return err
	}
	return root.WriteFile(rest, data, 0o644)
}

// ReadDir implements sandbox.Files.
func (f *folders) ReadDir(name string) ([]fs.FileInfo, error) {
	root, rest, err := f.locate(name)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(root.FS(), rest)
	if err != nil {
		return nil, err
	}
	infos := make([]fs.FileInfo, 0, len(entries))
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

// Stat implements sandbox.Files.
func (f *folders) Stat(name string) (fs.FileInfo, error) {
	root, rest, err := f.locate(name)
	if err != nil {
		return nil, err
	}
	return root.Stat(rest)
}

// Remove implements sandbox.Files.
func (f *folders) Remove(name string) error {
	root, rest, err := f.locate(name)
	if err != nil {
		return err
	}
	return root.Remove(rest)
}

// Mounts implements sandbox.Mounter.
func (f *folders) Mounts() []sandbox.Mount {
	var mounts []sandbox.Mount
	for guest, root := range f.roots {
		mounts = append(mounts, sandbox.Mount{Guest: guest, Host: root.Name()})
	}
	slices.SortFunc(mounts, func(a, b sandbox.Mount) int { return strings.Compare(a.Guest, b.Guest) })
	return mounts
}
