package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// forgetTyped drops what was typed at a terminal and not read yet: it cannot be the
// answer to a question that nobody has seen.
func forgetTyped(tty *os.File) error {
	err := unix.IoctlSetInt(int(tty.Fd()), unix.TCFLSH, unix.TCIFLUSH)
	if errors.Is(err, unix.ENOTTY) {
		return nil // a file, in which nothing is typed
	}
	return err
}
