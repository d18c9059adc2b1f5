package workspace

import (
	"errors"
	"io/fs"
	"path"
	"sync"

	"airlock/workspace/rooted"
)

// files is what both kinds of folders can do.
type files interface {
	ReadFile(name string, max int64) ([]byte, fs.FileInfo, error)
	ReadDir(name string, max int) ([]fs.FileInfo, error)
	Stat(name string) (fs.FileInfo, error)
}

// mount is one folder of a Space.
type mount struct {
	guest    string
	readOnly bool
	files    files
	// dir and host are set for folders on the host only; dir is files then.
	dir  *rooted.Dir
	host string

	// mu lets one change at a time happen, so that the quota holds and its count
	// stays right. It guards quota.
	mu    sync.Mutex
	quota quota
}

func (m *mount) close() error {
	if m.dir == nil {
		return nil
	}
	return m.dir.Close()
}

// write makes room in the quota, then writes.
func (m *mount) write(name string, data []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, err := m.sizeOf(name)
	if err != nil {
		return err
	}
	need := amount{bytes: int64(len(data)) - before}
	if before < 0 {
		need = amount{bytes: int64(len(data)), files: 1}
	}
	if err := m.quota.allow(m.dir, need); err != nil {
		return err
	}
	if err := m.makeDirs(path.Dir(name)); err != nil {
		return err
	}
	if err := m.dir.WriteFile(name, data); err != nil {
		return err
	}
	m.quota.add(need)
	return nil
}

func (m *mount) makeDirs(name string) error {
	_, err := m.dir.MakeDirs(name, func() error {
		one := amount{files: 1}
		// The file that follows needs its place too.
		if err := m.quota.allow(m.dir, amount{files: 2}); err != nil {
			return err
		}
		m.quota.add(one)
		return nil
	})
	return err
}

func (m *mount) remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, err := m.sizeOf(name)
	if err != nil {
		return err
	}
	if err := m.dir.Remove(name); err != nil {
		return err
	}
	m.quota.add(amount{bytes: -max(before, 0), files: -1})
	return nil
}

// sizeOf is what a name counts for in the quota; -1 if there is nothing.
func (m *mount) sizeOf(name string) (int64, error) {
	info, err := m.dir.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return -1, nil
	case err != nil:
		return 0, err
	}
	return weight(info), nil
}
