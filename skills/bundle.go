package skills

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"airlock/workspace/rooted"
)

// What one skill may hold. A skill is code to be read, not data.
const (
	maxFiles      = 32
	maxFileBytes  = 256 << 10
	maxSkillBytes = 1 << 20
	maxDepth      = 4 // of folders
	// maxEntries bounds the entries of a scope's folder that are looked at.
	maxEntries = 1000
)

// bundle is a skill as files: one of the entries at the top of a scope's folder.
type bundle struct {
	// entry is the name at the top: "sales-summary" or "sales_summary.js".
	entry string
	// folder says that entry is a folder; files are named below it then, and the
	// only file is named entry otherwise.
	folder bool
	files  map[string][]byte
}

// names lists the files, sorted.
func (b bundle) names() []string {
	names := make([]string, 0, len(b.files))
	for n := range b.files {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// tree is a folder that bundles are read from.
type tree interface {
	ReadFile(name string, max int64) ([]byte, fs.FileInfo, error)
	ReadDir(name string, max int) ([]fs.FileInfo, error)
}

// entryForm is the names that skills may have, with the ending for single files.
var entryForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}(\.js|\.py)?$`)

// fileForm is the names that files and folders within a skill may have.
var fileForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)

// readBundle reads an entry, within the limits.
func readBundle(t tree, info fs.FileInfo) (bundle, error) {
	b := bundle{entry: info.Name(), folder: info.IsDir(), files: map[string][]byte{}}
	if !entryForm.MatchString(b.entry) {
		return b, faultEntryName()
	}
	single := strings.HasSuffix(b.entry, ".js") || strings.HasSuffix(b.entry, ".py")
	switch {
	case b.folder && single:
		return b, fault("", 0, "a folder's name must not end as a file's; rename it")
	case !b.folder && !single:
		return b, fault("", 0, "a skill is a folder with SKILL.md, or a file name.js or name.py")
	case !b.folder:
		data, _, err := t.ReadFile(b.entry, maxFileBytes)
		b.files[b.entry] = data
		return b, readFault(err)
	}
	return b, b.readFolder(t, "")
}

// readFolder adds the files below a folder of the skill.
func (b bundle) readFolder(t tree, below string) error {
	if strings.Count(below, "/") >= maxDepth {
		return faultDepth()
	}
	infos, err := t.ReadDir(path.Join(b.entry, below), maxFiles)
	if err != nil {
		return readFault(err)
	}
	for _, info := range infos {
		name := path.Join(below, info.Name())
		if !fileForm.MatchString(info.Name()) {
			return faultFileName()
		}
		if err := b.readEntry(t, name, info); err != nil {
			return err
		}
	}
	return nil
}

func (b bundle) readEntry(t tree, name string, info fs.FileInfo) error {
	if info.IsDir() {
		return b.readFolder(t, name)
	}
	data, _, err := t.ReadFile(path.Join(b.entry, name), maxFileBytes)
	if err != nil {
		return readFault(err)
	}
	b.files[name] = data
	return b.checkSize()
}

func (b bundle) checkSize() error {
	if len(b.files) > maxFiles || b.size() > maxSkillBytes {
		return fault("", 0, fmt.Sprintf("a skill may hold %d files and %d bytes; keep data in /workspace", maxFiles, maxSkillBytes))
	}
	return nil
}

func faultEntryName() error {
	return fault("", 0, "a skill's name must be letters, digits, \"-\" and \"_\", at most 64; rename it")
}

func faultFileName() error {
	return fault("", 0, "names in a skill must be letters, digits, \".\", \"-\" and \"_\"; rename the file")
}

func faultDepth() error { return fault("", 0, "a skill's folders may be four deep; use fewer") }

// embedded reads skills that are part of the program.
type embedded struct{ fs fs.FS }

func (e embedded) ReadFile(name string, _ int64) ([]byte, fs.FileInfo, error) {
	info, err := fs.Stat(e.fs, name)
	if err != nil {
		return nil, nil, err
	}
	data, err := fs.ReadFile(e.fs, name)
	return data, info, err
}

func (e embedded) ReadDir(name string, _ int) ([]fs.FileInfo, error) {
	entries, err := fs.ReadDir(e.fs, name)
	if err != nil {
		return nil, err
	}
	var infos []fs.FileInfo
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
}

var _ tree = (*rooted.Dir)(nil)
