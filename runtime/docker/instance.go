package docker

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
)

// instance is this process among those that share an installation: a name on its
// containers and a folder with a lock that the system lets go when it dies. By
// the lock others know whether what carries the name still has an owner.
type instance struct {
	name, dir string
	lock      *os.File
	folders   atomic.Int64
}

const (
	instancesFolder = "instances"
	lockName        = "lock"
)

var instanceForm = regexp.MustCompile(`^[a-z0-9]{26}$`)

func newInstance(dir string) (*instance, error) {
	name := strings.ToLower(rand.Text())
	i := &instance{name: name, dir: filepath.Join(dir, instancesFolder, name)}
	var err error
	if err = os.MkdirAll(filepath.Dir(i.dir), 0o700); err == nil {
		err = exclusively(filepath.Dir(i.dir), i.make)
	}
	if err != nil {
		return nil, fmt.Errorf("make a folder for sockets: %w", err)
	}
	return i, nil
}

func (i *instance) make() error {
	if err := os.Mkdir(i.dir, 0o700); err != nil {
		return err
	}
	var err error
	i.lock, err = lockFile(filepath.Join(i.dir, lockName))
	return err
}

// folder makes a folder for a container's socket.
func (i *instance) folder() (string, error) {
	dir := filepath.Join(i.dir, strconv.FormatInt(i.folders.Add(1), 10))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("make a folder for a socket: %w", err)
	}
	return dir, os.Chmod(dir, 0o755) // whatever the umask: the container's user must see it
}

func (i *instance) close() error {
	return errors.Join(os.RemoveAll(i.dir), i.lock.Close())
}

// exclusively runs f while no other process makes or removes instances.
func exclusively(dir string, f func() error) error {
	lock, err := waitForLock(filepath.Join(dir, lockName))
	if err != nil {
		return err
	}
	defer lock.Close()
	return f()
}

// ownerless reports whether the process that had a name is gone, and removes its
// folder.
func ownerless(dir, name string) bool {
	if !instanceForm.MatchString(name) {
		return false // not a name that we gave
	}
	gone := false
	_ = exclusively(filepath.Join(dir, instancesFolder), func() error {
		folder := filepath.Join(dir, instancesFolder, name)
		lock, err := lockFile(filepath.Join(folder, lockName))
		if errors.Is(err, fs.ErrNotExist) {
			gone = true
			return nil
		}
		if err != nil {
			return err
		}
		gone = true
		return errors.Join(os.RemoveAll(folder), lock.Close())
	})
	return gone
}

// abandoned lists the instances whose folders are left.
func abandoned(dir string) []string {
	entries, err := os.ReadDir(filepath.Join(dir, instancesFolder))
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if instanceForm.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}
