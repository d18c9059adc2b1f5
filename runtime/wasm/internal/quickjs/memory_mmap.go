//go:build linux || darwin

package quickjs

import "golang.org/x/sys/unix"

// reserve takes address space that costs no memory.
func reserve(size uint64) ([]byte, error) {
	return unix.Mmap(-1, 0, int(size), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
}

// commit makes reserved pages usable; they are zero.
func commit(b []byte) error { return unix.Mprotect(b, unix.PROT_READ|unix.PROT_WRITE) }

func release(b []byte) { _ = unix.Munmap(b) }
