package servers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"airlock/ident"
)

// placed fills the instance's folder in, and makes it.
func (u *upstream) placed(owner Caller) (launch, error) {
	l := *u.entry.launch
	if !l.folder && l.isolation == nil {
		return l, nil
	}
	folder, err := u.makeFolder(owner)
	if err != nil {
		return l, u.fail(doStart, ErrUpstream, "its folder could not be made: "+err.Error(), "check DATA_DIR")
	}
	fill := func(s string) string { return strings.ReplaceAll(s, instanceFolder, folder) }
	l.cwd = fill(l.cwd)
	args, env := make([]string, len(l.args)), make(map[string]string, len(l.env))
	for i, a := range l.args {
		args[i] = fill(a)
	}
	for name, value := range l.env {
		env[name] = fill(value)
	}
	l.args, l.env, l.ownFolder = args, env, folder
	return l, nil
}

var errNoDataDir = errors.New("there is no folder for data")

func (u *upstream) makeFolder(owner Caller) (string, error) {
	dir := u.manager.options.DataDir
	if dir == "" {
		return "", errNoDataDir
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	name := filepath.Join(u.entry.Name, u.folderName(owner))
	if err := root.MkdirAll(name, 0o700); err != nil {
		return "", err
	}
	return filepath.Join(dir, name), nil
}

const (
	// sessionPrefix marks the folders that end with their sessions.
	sessionPrefix = "session-"
	userPrefix    = "user-"
)

func (u *upstream) folderName(owner Caller) string {
	pseudonym := u.manager.options.Pseudonym
	switch u.entry.Instance {
	case instanceShared:
		return "shared"
	case instanceUser:
		return userPrefix + pseudonym.User(owner.User)
	default:
		return sessionPrefix + pseudonym.Text(u.entry.instanceKey(owner))
	}
}

// EndSession stops what runs for a session alone and removes what that kept. The
// session must not call any more. It waits for servers to end.
func (m *Manager) EndSession(c Caller) error {
	errs := make([]error, len(m.upstreams))
	var all sync.WaitGroup
	for i, u := range m.upstreams {
		if u.entry.Instance == instanceSession {
			all.Go(func() { errs[i] = u.endSession(c) })
		}
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("end a session at its servers: %w", err)
	}
	return nil
}

func (u *upstream) endSession(c Caller) error {
	err := u.stop(c)
	root, openErr := u.manager.openData()
	if root == nil {
		return errors.Join(err, openErr)
	}
	defer root.Close()
	return errors.Join(err, root.RemoveAll(filepath.Join(u.entry.Name, u.folderName(c))))
}

// stop ends the instance of a caller, if there is one, and waits for it.
func (u *upstream) stop(c Caller) error {
	key := u.entry.instanceKey(c)
	u.mu.Lock()
	i := u.instances[key]
	delete(u.instances, key)
	u.mu.Unlock()
	if i == nil {
		return nil
	}
	err := i.close()
	i.settle()
	return err
}

// openData opens the folder of servers' data, nil if there is none.
func (m *Manager) openData() (*os.Root, error) {
	if m.options.DataDir == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(m.options.DataDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the folder of servers' data: %w", err)
	}
	return root, nil
}

// EraseUser stops what runs for a user alone and removes what that kept, also what a
// server kept that is not in the catalog any more. The user's sessions must have ended.
// It waits for servers to end.
func (m *Manager) EraseUser(user ident.User) error {
	errs := make([]error, len(m.upstreams))
	var all sync.WaitGroup
	for i, u := range m.upstreams {
		if u.entry.Instance == instanceUser {
			all.Go(func() { errs[i] = u.stop(Caller{User: user}) })
		}
	}
	all.Wait()
	errs = append(errs, m.EraseFolders(m.options.Pseudonym.User(user)))
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("erase a user at the servers: %w", err)
	}
	return nil
}

// EraseFolders removes what servers kept for the user of a pseudonym alone. None of them
// may run.
func (m *Manager) EraseFolders(pseudonym string) error {
	name := userPrefix + pseudonym
	root, err := m.openData()
	if root == nil {
		return err
	}
	defer root.Close()
	dir, err := root.Open(".")
	if err != nil {
		return err
	}
	all, err := dir.ReadDir(-1)
	errs := []error{err, dir.Close()}
	for _, server := range all {
		if server.IsDir() {
			errs = append(errs, root.RemoveAll(filepath.Join(server.Name(), name)))
		}
	}
	return errors.Join(errs...)
}

// Prune removes the folders of all sessions' instances. It is for a start, when
// no session is left, by the only process that uses Options.DataDir.
func (m *Manager) Prune() error {
	root, err := m.openData()
	if root == nil {
		return err
	}
	defer root.Close()
	var errs []error
	for _, u := range m.upstreams {
		dir, err := root.Open(u.entry.Name)
		if err != nil {
			continue // it has none
		}
		names, err := dir.Readdirnames(-1)
		errs = append(errs, err, dir.Close())
		for _, name := range names {
			if strings.HasPrefix(name, sessionPrefix) {
				errs = append(errs, root.RemoveAll(filepath.Join(u.entry.Name, name)))
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("remove the folders of ended sessions: %w", err)
	}
	return nil
}
