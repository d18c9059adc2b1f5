package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"airlock/workspace/rooted"
)

// embedded is a folder that is part of the program. Its files are ours, so only
// the names are checked.
type embedded struct{ fs fs.FS }

func (e embedded) ReadFile(name string, max int64) ([]byte, fs.FileInfo, error) {
	info, err := e.Stat(name)
	switch {
	case err != nil:
		return nil, nil, err
	case info.IsDir():
		return nil, nil, isFolder()
	case !info.Mode().IsRegular():
		return nil, nil, fmt.Errorf("%w: only regular files can be read", fs.ErrInvalid)
	case info.Size() > max:
		return nil, nil, fmt.Errorf("%w: the file has more than %d bytes", ErrTooLarge, max)
	}
	data, err := fs.ReadFile(e.fs, name)
	return data, info, withoutName(err)
}

func (e embedded) ReadDir(name string, _ int) ([]fs.FileInfo, error) {
	if err := rooted.CheckName(name); err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(e.fs, name)
	if err != nil {
		return nil, withoutName(err)
	}
	infos := make([]fs.FileInfo, 0, len(entries))
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return nil, withoutName(err)
		}
		infos = append(infos, info)
	}
	return infos, nil
}

func (e embedded) Stat(name string) (fs.FileInfo, error) {
	if err := rooted.CheckName(name); err != nil {
		return nil, err
	}
	info, err := fs.Stat(e.fs, name)
	return info, withoutName(err)
}

// withoutName drops the path from an error.
func withoutName(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; list the folder to see what is there", fs.ErrNotExist)
	}
	return fmt.Errorf("%w: not a folder", fs.ErrInvalid)
}

// folderInfo describes a folder that is only a name leading to others.
type folderInfo string

func (f folderInfo) Name() string     { return string(f) }
func (folderInfo) Size() int64        { return 0 }
func (folderInfo) Mode() fs.FileMode  { return fs.ModeDir | 0o555 }
func (folderInfo) ModTime() time.Time { return time.Time{} }
func (folderInfo) IsDir() bool        { return true }
func (folderInfo) Sys() any           { return nil }
