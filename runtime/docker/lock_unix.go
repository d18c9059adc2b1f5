//go:build unix

package docker

import (
	"errors"
	"os"
	"syscall"
)

var errLocked = errors.New("another process holds the lock")

// lockFile takes a lock on a file of an existing folder, until the file is closed
// or the process ends.
func lockFile(path string) (*os.File, error) {
	return lock(path, syscall.LOCK_EX|syscall.LOCK_NB)
}

// waitForLock is lockFile that waits for whoever holds the lock.
func waitForLock(path string) (*os.File, error) { return lock(path, syscall.LOCK_EX) }

func lock(path string, how int) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errLocked
	}
	return nil, errors.Join(err, f.Close())
}
