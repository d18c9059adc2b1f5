package rooted

import (
	"io/fs"
	"syscall"
	"time"
)

func touchedAt(info fs.FileInfo) (at time.Time, inode uint64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix()), st.Ino
	}
	return info.ModTime(), 0
}
