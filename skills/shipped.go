package skills

import (
	"embed"
	"io/fs"
)

//go:embed library
var shipped embed.FS

// Library is the tree of the skills that are part of the program.
func Library() fs.FS {
	tree, err := fs.Sub(shipped, "library")
	if err != nil {
		return shipped // not reached: the name is valid
	}
	return tree
}
