package servers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// sessionPrefix marks the folders that end with their sessions.
const sessionPrefix = "session-"

func (u *upstream) folderName(owner Caller) string {
	pseudonym := u.manager.options.Pseudonym
	switch u.entry.Instance {
	case instanceShared:
		return "shared"
	case instanceUser:
		return "user-" + pseudonym.User(owner.User)
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
	key := u.entry.instanceKey(c)
	u.mu.Lock()
	i := u.instances[key]
	delete(u.instances, key)
	u.mu.Unlock()
	var err error
	if i != nil {
		err = i.close()
		i.settle()
	}
	dir := u.manager.options.DataDir
	if dir == "" {
		return err
	}
	root, openErr := os.OpenRoot(dir)
	if errors.Is(openErr, os.ErrNotExist) {
		return err
	}
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	defer root.Close()
	return errors.Join(err, root.RemoveAll(filepath.Join(u.entry.Name, u.folderName(c))))
}

// Prune removes the folders of all sessions' instances. It is for a start, when
// no session is left, by the only process that uses Options.DataDir.
func (m *Manager) Prune() error {
	if m.options.DataDir == "" {
		return nil
	}
	root, err := os.OpenRoot(m.options.DataDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the folder of servers' data: %w", err)
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
