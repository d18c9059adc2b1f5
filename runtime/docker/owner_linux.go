package docker

import (
	"io/fs"
	"syscall"
	"time"
)

// ownerOf is the user that a file belongs to.
func ownerOf(info fs.FileInfo) (uid int, ok bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(s.Uid), true
}

// changed is when the system last changed a file in any way, which, unlike the
// time of its content, nobody can set.
func changed(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return info.ModTime()
}
