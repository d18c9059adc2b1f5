package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"airlock/workspace/rooted"
)

// clean checks a path as a script wrote it and returns its only spelling:
// absolute, without empty or "." elements. ".." is refused, not resolved, since
// what it means depends on links.
func clean(name string) (string, error) {
	if !strings.HasPrefix(name, "/") {
		return "", fmt.Errorf("%w: the path must be absolute, such as /workspace/data.csv", fs.ErrInvalid)
	}
	var kept []string
	for element := range strings.SplitSeq(name, "/") {
		if element != "" && element != "." {
			kept = append(kept, element)
		}
	}
	if len(kept) == 0 {
		return "/", nil
	}
	below := strings.Join(kept, "/")
	if err := rooted.CheckName(below); err != nil {
		return "", err
	}
	return "/" + below, nil
}

// checkGuest reports what keeps a name from being a folder of a Space.
func checkGuest(guest string) error {
	if full, err := clean(guest); err != nil || full != guest || guest == "/" {
		return errors.New(`a folder's name in the sandbox must be an absolute path such as "/workspace"`)
	}
	return nil
}

func isFolder() error {
	return fmt.Errorf("%w: %w: it is a folder; list it, or name a file in it", fs.ErrInvalid, syscall.EISDIR)
}

// failed says what was attempted, and in which folder.
func failed(what string, m *mount, err error) error {
	switch {
	case err == nil:
		return nil
	case m == nil:
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s in %s: %w", what, path.Clean(m.guest), err)
}
