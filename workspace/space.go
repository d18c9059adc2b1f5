package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// maxEntries bounds what one listing of a folder returns.
const maxEntries = 10_000

// Space is the file system that a script sees. Its methods take paths as the
// script writes them, "/workspace/data.csv".
type Space struct {
	mounts map[string]*mount // by guest name; fixed after Open
	// inner holds, for each folder above a mount, the names leading to mounts:
	// "/" → skills, workspace; "/skills" → library. Fixed after Open.
	inner map[string][]string
}

// Mount is one host folder of a Space. It converts to a sandbox.Mount.
type Mount struct {
	Guest, Host string
	ReadOnly    bool
}

// Mounts lists the folders that are on the host, outer ones before those within
// them. Folders that are part of the program are not among them.
func (s *Space) Mounts() []Mount {
	var found []Mount
	for _, m := range s.mounts {
		if m.host != "" {
			found = append(found, Mount{m.guest, m.host, m.readOnly})
		}
	}
	slices.SortFunc(found, func(a, b Mount) int { return strings.Compare(a.Guest, b.Guest) })
	return found
}

// Close releases the folders. What is in them stays.
func (s *Space) Close() error {
	var errs []error
	for _, m := range s.mounts {
		errs = append(errs, m.close())
	}
	return errors.Join(errs...)
}

// ReadFile returns a whole file; one of more than max bytes is an error that wraps
// ErrTooLarge. Only regular files without a second name are read.
func (s *Space) ReadFile(name string, max int64) ([]byte, error) {
	m, below, err := s.find(name)
	if err != nil {
		return nil, failed("read", m, err)
	}
	data, _, err := m.files.ReadFile(below, max)
	return data, failed("read", m, err)
}

// WriteFile creates or replaces a file, and makes the folders above it. A reader
// sees the old content or the new, never a part.
func (s *Space) WriteFile(name string, data []byte) error {
	m, below, err := s.findWritable(name)
	if err == nil {
		err = m.write(below, data)
	}
	return failed("write", m, err)
}

// Remove deletes a file or an empty folder.
func (s *Space) Remove(name string) error {
	m, below, err := s.findWritable(name)
	if err == nil {
		err = m.remove(below)
	}
	return failed("remove", m, err)
}

// Stat describes a file or folder.
func (s *Space) Stat(name string) (fs.FileInfo, error) {
	full, err := clean(name)
	if err != nil {
		return nil, failed("look up", nil, err)
	}
	if s.isFixed(full) {
		return folderInfo(path.Base(full)), nil
	}
	m, below, err := s.find(name)
	if err != nil {
		return nil, failed("look up", m, err)
	}
	info, err := m.files.Stat(below)
	return info, failed("look up", m, err)
}

// ReadDir lists a folder, sorted by name. "/" lists the folders; a folder that
// holds others, such as "/skills", lists its own content and them.
func (s *Space) ReadDir(name string) ([]fs.FileInfo, error) {
	full, err := clean(name)
	if err != nil {
		return nil, failed("list", nil, err)
	}
	m, below := s.owner(full)
	var infos []fs.FileInfo
	if m != nil {
		infos, err = m.files.ReadDir(below, maxEntries)
	} else if s.inner[full] == nil {
		err = s.notOurs()
	}
	if err != nil {
		return nil, failed("list", m, err)
	}
	return withMounts(infos, s.inner[full]), nil
}

// withMounts adds folders to a listing; what they cover is not shown.
func withMounts(infos []fs.FileInfo, names []string) []fs.FileInfo {
	infos = slices.DeleteFunc(infos, func(i fs.FileInfo) bool { return slices.Contains(names, i.Name()) })
	for _, n := range names {
		infos = append(infos, folderInfo(n))
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return infos
}

// find returns the mount a path belongs to and the path below it. The mount is
// returned with an error too, where it is known.
func (s *Space) find(name string) (*mount, string, error) {
	full, err := clean(name)
	if err != nil {
		return nil, "", err
	}
	m, below := s.owner(full)
	switch {
	case m == nil && s.isFixed(full):
		return nil, "", isFolder()
	case m == nil:
		return nil, "", s.notOurs()
	}
	return m, below, nil
}

func (s *Space) findWritable(name string) (*mount, string, error) {
	m, below, err := s.find(name)
	switch {
	case err != nil:
		return m, "", err
	case m.readOnly:
		return m, "", fmt.Errorf("%w: the folder is read-only; write to another", fs.ErrPermission)
	}
	full := path.Join(m.guest, below)
	if s.isFixed(full) {
		return m, "", fmt.Errorf("%w: it is one of the sandbox's own folders; name a file in it", isFolder())
	}
	return m, below, nil
}

// owner finds the mount with the longest fitting name; nil if there is none.
func (s *Space) owner(full string) (*mount, string) {
	for at := full; ; at = path.Dir(at) {
		if m := s.mounts[at]; m != nil {
			below := strings.TrimPrefix(strings.TrimPrefix(full, at), "/")
			if below == "" {
				below = "."
			}
			return m, below
		}
		if at == "/" {
			return nil, ""
		}
	}
}

// isFixed reports whether full is a mount or leads to one.
func (s *Space) isFixed(full string) bool {
	return s.mounts[full] != nil || s.inner[full] != nil
}

// listMounts fills inner.
func (s *Space) listMounts() {
	s.inner = map[string][]string{"/": {}}
	for guest := range s.mounts {
		for at := guest; at != "/"; at = path.Dir(at) {
			above, name := path.Dir(at), path.Base(at)
			if !slices.Contains(s.inner[above], name) {
				s.inner[above] = append(s.inner[above], name)
			}
		}
	}
}

func (s *Space) notOurs() error {
	names := slices.Sorted(slices.Values(s.inner["/"]))
	return fmt.Errorf("%w: only paths below /%s can be used", fs.ErrPermission, strings.Join(names, ", /"))
}
