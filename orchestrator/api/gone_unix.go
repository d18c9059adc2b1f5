//go:build unix

package api

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// gone reports whether the client has closed its side of the connection. Nothing is
// read: what it may have sent stays for who reads next.
func gone(c net.Conn) bool {
	s, ok := c.(syscall.Conn)
	if !ok {
		return false // a connection in memory tells by failing writes
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return true
	}
	closed := false
	err = raw.Control(func(fd uintptr) {
		var b [1]byte
		n, _, err := unix.Recvfrom(int(fd), b[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		closed = n == 0 && err == nil || err != nil && err != unix.EAGAIN && err != unix.EINTR
	})
	return closed || err != nil
}
