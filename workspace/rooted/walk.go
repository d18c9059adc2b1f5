package rooted

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// Entry is one file or folder found by Walk.
type Entry struct {
	// Name is the path below the Dir.
	Name string
	Info fs.FileInfo
}

// Walk returns everything below name, folders before what is in them, sorted
// within each, without following symbolic links. More than max entries, or folders
// more than 64 deep, are an error that wraps ErrTooLarge, so its cost is bounded
// whatever is there. What is in a folder that may not be listed is left out.
func (d *Dir) Walk(name string, max int) ([]Entry, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	var found []Entry
	for todo := []string{name}; len(todo) > 0; {
		folder := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if depth(folder) > maxDepth {
			return nil, refuse(ErrTooLarge, "the folder is more than 64 folders deep; remove some")
		}
		names, err := d.names(folder, max-len(found))
		if err != nil {
			gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
			if folder != name && gone {
				continue
			}
			return nil, fmt.Errorf("walk: %w", err)
		}
		var below []string
		for _, n := range names {
			full := path.Join(folder, n)
			info, err := d.root.Lstat(full)
			if err != nil {
				continue
			}
			found = append(found, Entry{Name: full, Info: info})
			if info.IsDir() {
				below = append(below, full)
			}
		}
		for i := range below {
			todo = append(todo, below[len(below)-1-i])
		}
	}
	return found, nil
}
