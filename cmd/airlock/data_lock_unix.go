//go:build unix

package main

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lockData takes a share in the data folder until release. If no other process
// has one, it first calls alone: only then may what an earlier process left be
// cleaned up. Processes share the folder safely, since their sessions differ.
func lockData(path string, alone func() error) (release func() error, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the data folder's lock: %w", err)
	}
	switch err = flock(f, unix.LOCK_EX|unix.LOCK_NB); {
	case err == nil:
		err = alone()
	case errors.Is(err, unix.EWOULDBLOCK):
		err = nil
	}
	if err == nil {
		err = flock(f, unix.LOCK_SH)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("share the data folder: %w", err), f.Close())
	}
	return f.Close, nil
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
