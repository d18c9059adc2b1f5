package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"airlock/workspace/rooted"
)

// amount is a number of bytes in a number of files and folders.
type amount struct{ bytes, files int64 }

// quota bounds a folder. It counts along as the Space writes and counts anew when
// the count may be wrong, since others write there too: containers, and other
// sessions of the same user.
type quota struct {
	maxBytes, maxFiles int64
	used               amount
	changed            amount    // what was written since the last count
	counted            time.Time // when everything was last counted; zero: never
}

// recountPause is the least time between two counts that a refusal makes, so that
// a script that keeps writing to a full folder does not keep the host counting.
const recountPause = 200 * time.Millisecond

// allow reports whether more may be written.
func (q *quota) allow(dir *rooted.Dir, more amount) error {
	if q.stale() {
		if err := q.count(dir); err != nil {
			return err
		}
	}
	if err := q.check(more); err == nil || time.Since(q.counted) < recountPause {
		return err
	}
	// Others may have removed something.
	if err := q.count(dir); err != nil {
		return err
	}
	return q.check(more)
}

// stale reports whether an eighth of the quota was written since the last count:
// as far as several writers may pass it together.
func (q *quota) stale() bool {
	return q.counted.IsZero() || q.changed.bytes > q.maxBytes/8 || q.changed.files > max(q.maxFiles/8, 1)
}

func (q *quota) check(more amount) error {
	switch {
	case more.bytes > 0 && q.used.bytes+more.bytes > q.maxBytes:
		return fmt.Errorf("%w: the folder may hold %d bytes and has %d; remove files that are not needed",
			ErrQuota, q.maxBytes, q.used.bytes)
	case more.files > 0 && q.used.files+more.files > q.maxFiles:
		return fmt.Errorf("%w: the folder may hold %d files and folders and has %d; remove some, or put more into one file",
			ErrQuota, q.maxFiles, q.used.files)
	}
	return nil
}

func (q *quota) add(more amount) {
	q.used.bytes += more.bytes
	q.used.files += more.files
	q.changed.bytes += max(more.bytes, 0)
	q.changed.files += max(more.files, 0)
}

// count looks at everything, as far as the quota allows files.
func (q *quota) count(dir *rooted.Dir) error {
	entries, err := dir.Walk(".", int(q.maxFiles))
	q.used, q.changed, q.counted = amount{files: int64(len(entries))}, amount{}, time.Now()
	if errors.Is(err, ErrTooLarge) {
		q.used.files = q.maxFiles + 1
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		q.used.bytes += weight(e.Info)
	}
	return nil
}

// weight is what a file counts for: its size as it reads, so that a sparse one
// counts in full.
func weight(info fs.FileInfo) int64 {
	if !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}
