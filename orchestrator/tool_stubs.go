package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"

	"airlock/bridge"
	"airlock/ident"
	"airlock/runtime/sandbox"
	"airlock/workspace"
)

// guestTools is where scripts find the stubs of their tools.
const guestTools = "/tools"

// maxStubFolders bounds the folders of stubs. Users who see the same tools share
// one; a server that changes its tools all the time makes new ones.
const maxStubFolders = 64

// toolStubs keeps the folders of stubs, one for each set of tools, below a folder
// of its own, which Close removes.
type toolStubs struct {
	guard *bridge.Bridge
	log   *zap.Logger

	mu      sync.Mutex // guards the rest; held while files are written, so that nobody writes them twice
	root    string     // made at first use
	parent  string
	folders []string // that are there, oldest first
}

// folder returns the host folder with the stubs of the tools that the viewer may
// know of, made if it is missing.
func (t *toolStubs) folder(ctx context.Context, v bridge.Viewer) (string, error) {
	stubs := t.guard.Stubs(ctx, v)
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.open(); err != nil {
		return "", err
	}
	dir := filepath.Join(t.root, stubs.ID)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := writeStubs(t.root, dir, stubs); err != nil {
		return "", err
	}
	t.folders = append(t.folders, dir)
	if len(t.folders) > maxStubFolders {
		oldest := t.folders[0]
		t.folders = t.folders[1:]
		return dir, os.RemoveAll(oldest)
	}
	return dir, nil
}

// open makes the root. It is called with mu held.
func (t *toolStubs) open() error {
	if t.root != "" {
		return nil
	}
	if err := os.MkdirAll(t.parent, 0o700); err != nil {
		return fmt.Errorf("make the folder of tool stubs: %w", err)
	}
	root, err := os.MkdirTemp(t.parent, "run-")
	if err != nil {
		return fmt.Errorf("make the folder of tool stubs: %w", err)
	}
	t.root = root
	return nil
}

// writeStubs fills a new folder and renames it, so that none is ever half full. A
// container's user must be able to read them, whatever the umask.
func writeStubs(root, dir string, stubs *bridge.Stubs) error {
	files, err := stubs.Files()
	if err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(root, "new-")
	if err != nil {
		return fmt.Errorf("write tool stubs: %w", err)
	}
	for name, text := range files {
		path := filepath.Join(fresh, name)
		if err := errors.Join(os.WriteFile(path, []byte(text.String()), 0o600), os.Chmod(path, 0o644)); err != nil { //nolint:gosec // they are documentation, read by the sandbox's own user
			return errors.Join(fmt.Errorf("write tool stubs: %w", err), os.RemoveAll(fresh))
		}
	}
	if err := errors.Join(os.Chmod(fresh, 0o755), os.Rename(fresh, dir)); err != nil { //nolint:gosec // likewise
		return errors.Join(fmt.Errorf("write tool stubs: %w", err), os.RemoveAll(fresh))
	}
	return nil
}

// close removes all stubs.
func (t *toolStubs) close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.root == "" {
		return nil
	}
	return os.RemoveAll(t.root)
}

// toolFolder is the /tools of one session: whatever is known of its tools at the
// moment. It is read-only and safe for concurrent use.
type toolFolder struct {
	stubs *toolStubs
	user  ident.User
	// viewer makes the viewer, with a vault of its own.
	viewer func(ident.User) (bridge.Viewer, error)
}

// stubsPatience bounds how long a running server may take to say that its list
// has changed.
const stubsPatience = 5 * time.Second

func (f toolFolder) dir() (string, error) {
	v, err := f.viewer(f.user)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), stubsPatience)
	defer cancel()
	return f.stubs.folder(ctx, v)
}

// Open implements fs.FS over the folder of the moment.
func (f toolFolder) Open(name string) (fs.File, error) {
	dir, err := f.dir()
	if err != nil {
		f.stubs.log.Warn("tool stubs cannot be made", zap.Error(err))
		return nil, fs.ErrNotExist
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fs.ErrNotExist
	}
	defer root.Close()
	return root.FS().Open(name)
}

// mounted is the folder for sandboxes that show real ones; false if there is none.
func (f toolFolder) mounted() (sandbox.Mount, bool) {
	dir, err := f.dir()
	if err != nil {
		f.stubs.log.Warn("tool stubs cannot be made", zap.Error(err))
		return sandbox.Mount{}, false
	}
	return sandbox.Mount{Guest: guestTools, Host: dir, ReadOnly: true}, true
}

func (f toolFolder) asFolder() workspace.Folder {
	return workspace.Folder{Guest: guestTools, FS: f, ReadOnly: true}
}
