package wasm

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"airlock/runtime/sandbox"
	"airlock/runtime/wasm/internal/wire"
)

// serveFile does one file operation of a script. The error's code is as in Node.js;
// its message names what the script named, and nothing of the host.
func serveFile(files sandbox.Files, operation, path string, data []byte) (code, message string, answer []byte) {
	answer, err := doFile(files, operation, path, data)
	if len(answer) > wire.MaxFile {
		err = syscall.EFBIG
	}
	if err == nil {
		return "", "", answer
	}
	code, text := fileError(err)
	return code, fmt.Sprintf("%s, %s '%s'", text, operation, clean(path, 1000)), nil
}

var errNoFiles = fmt.Errorf("this sandbox has no files: %w", fs.ErrPermission)

func doFile(files sandbox.Files, operation, path string, data []byte) ([]byte, error) {
	if files == nil {
		return nil, errNoFiles
	}
	switch operation {
	case "read":
		return readFile(files, path)
	case "write":
		return nil, files.WriteFile(path, data)
	case "list":
		return listFiles(files, path)
	case "stat":
		info, err := files.Stat(path)
		if err != nil {
			return nil, err
		}
		return json.Marshal(describeFile(info))
	case "remove":
		return nil, files.Remove(path)
	default:
		return nil, fmt.Errorf("operation %q: %w", operation, fs.ErrInvalid)
	}
}

func readFile(files sandbox.Files, path string) ([]byte, error) {
	info, err := files.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, syscall.EISDIR
	case info.Size() > wire.MaxFile:
		return nil, syscall.EFBIG
	}
	return files.ReadFile(path, wire.MaxFile)
}

// fileInfo is a file as scripts see it.
type fileInfo struct {
	Name        string  `json:"name"`
	IsDirectory bool    `json:"isDirectory"`
	Size        int64   `json:"size"`
	MtimeMs     float64 `json:"mtimeMs"`
}

func describeFile(i fs.FileInfo) fileInfo {
	return fileInfo{i.Name(), i.IsDir(), i.Size(), float64(i.ModTime().UnixMicro()) / 1000}
}

func listFiles(files sandbox.Files, path string) ([]byte, error) {
	entries, err := files.ReadDir(path)
	if err != nil {
		return nil, err
	}
	list := make([]fileInfo, 0, len(entries))
	for _, i := range entries {
		list = append(list, describeFile(i))
	}
	return json.Marshal(list)
}

// fileErrors name the errors of Files; the first that fits counts.
var fileErrors = []struct {
	is         error
	code, text string
}{
	{syscall.EFBIG, "EFBIG", "file too large"},
	{syscall.ENOSPC, "ENOSPC", "no space left: the quota is used up"},
	{syscall.EDQUOT, "ENOSPC", "no space left: the quota is used up"},
	{syscall.EISDIR, "EISDIR", "illegal operation on a directory"},
	{syscall.ENOTDIR, "ENOTDIR", "not a directory"},
	{syscall.ENOTEMPTY, "ENOTEMPTY", "directory not empty"},
	{fs.ErrNotExist, "ENOENT", "no such file or directory"},
	{fs.ErrPermission, "EACCES", "permission denied: use /workspace, /artifacts or /skills"},
	{fs.ErrExist, "EEXIST", "file already exists"},
	{fs.ErrInvalid, "EINVAL", "invalid path: use an absolute path such as /workspace/data.json"},
}

func fileError(err error) (code, text string) {
	for _, e := range fileErrors {
		if errors.Is(err, e.is) {
			return e.code, e.text
		}
	}
	return "EIO", "input/output error"
}
