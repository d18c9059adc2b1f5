//go:build !linux

package docker

import (
	"io/fs"
	"time"
)

func ownerOf(fs.FileInfo) (uid int, ok bool) { return 0, false }

func changed(info fs.FileInfo) time.Time { return info.ModTime() }
