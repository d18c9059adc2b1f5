package rooted

import (
	"io/fs"
	"time"
)

// Stamp tells whether a file is still the one that was seen. It changes with what is in
// the file, and where the system says when a file was last touched, scripts cannot set
// it back.
type Stamp struct {
	size     int64
	modified int64
	touched  int64 // the inode's own time, in nanoseconds
	inode    uint64
}

// tick is more than the coarsest clock that file systems take their times from: within
// it two changes may look like one.
const tick = 50 * time.Millisecond

// StampOf is the stamp of a file that was looked at now. It is false for one that was
// changed so lately that the next change may have the same stamp.
func StampOf(info fs.FileInfo) (Stamp, bool) {
	touched, inode := touchedAt(info)
	s := Stamp{info.Size(), info.ModTime().UnixNano(), touched.UnixNano(), inode}
	return s, time.Since(touched) > tick
}
