package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// unpack writes the folders that are part of the program to the host, once for
// each content, and returns where they are by guest name.
func unpack(dir string, embedded map[string]fs.FS) (map[string]string, error) {
	found := map[string]string{}
	for guest, files := range embedded {
		host, err := unpackOne(filepath.Join(dir, "embedded"), files)
		if err != nil {
			return nil, fmt.Errorf("unpack %s: %w", guest, err)
		}
		found[guest] = host
	}
	return found, nil
}

// unpackOne writes to a new folder and renames it, so that none is ever half full.
func unpackOne(dir string, files fs.FS) (string, error) {
	name, err := digest(files)
	if err != nil {
		return "", err
	}
	host := filepath.Join(dir, name)
	if _, err := os.Stat(host); err == nil {
		return host, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return "", err
	}
	if err := writeTree(fresh, files); err != nil {
		return "", errors.Join(err, os.RemoveAll(fresh))
	}
	if err := os.Rename(fresh, host); err != nil {
		_ = os.RemoveAll(fresh)
		if _, there := os.Stat(host); there != nil { // another process was faster
			return "", err
		}
	}
	return host, nil
}

// digest names a tree by its content.
func digest(files fs.FS) (string, error) {
	var lines []string
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		lines = append(lines, fmt.Sprintf("%x %q", sha256.Sum256(data), name))
		return err
	})
	sort.Strings(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:16]), err
}

// writeTree writes files that the container's user can read, whatever the umask.
func writeTree(host string, files fs.FS) error {
	return fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to, mode := filepath.Join(host, filepath.FromSlash(name)), fs.FileMode(0o644)
		if d.IsDir() {
			mode = 0o755
			if err := os.MkdirAll(to, mode); err != nil {
				return err
			}
			return os.Chmod(to, mode)
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(to, data, mode); err != nil {
			return err
		}
		return os.Chmod(to, mode)
	})
}
