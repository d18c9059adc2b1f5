//go:build !linux

package rooted

import (
	"io/fs"
	"time"
)

func touchedAt(info fs.FileInfo) (at time.Time, inode uint64) { return info.ModTime(), 0 }
