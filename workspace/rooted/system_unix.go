//go:build unix

package rooted

import (
	"io/fs"
	"syscall"
)

const (
	// openWithoutWaiting keeps the opening of a FIFO from waiting for a writer.
	openWithoutWaiting = syscall.O_NONBLOCK | syscall.O_NOCTTY
	openDirectory      = syscall.O_DIRECTORY
)

// links is the number of names a file has.
func links(info fs.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink) //nolint:unconvert // it is smaller on other systems
	}
	return 1
}
