package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// isolate lets the command run by bubblewrap: in namespaces of its own, without
// capabilities, on a file system that is read-only but for the instance's folder
// and those that the entry names. /tmp is its own, and what may not be read is
// hidden. There is no way from here to run it without.
func (u *upstream) isolate(l launch, line commandLine) (commandLine, error) {
	if l.isolation.memoryMB > 0 && len(u.manager.options.Keeper) == 0 {
		return line, u.fail(doStart, ErrUpstream, "its memory cannot be limited on this system", `remove "memoryMB" in catalog.json`)
	}
	path, err := u.findBubblewrap()
	if err != nil {
		return line, err
	}
	writable, err := u.writable(l)
	if err != nil {
		return line, err
	}
	hidden := u.hidden()
	sees := func(dir string) bool {
		return !slices.ContainsFunc(hidden, func(h string) bool { return beneath(dir, h) })
	}
	if !sees(line.dir) && !slices.ContainsFunc(writable, func(w string) bool { return beneath(line.dir, w) }) {
		return line, u.fail(doStart, ErrUpstream, "its working folder is hidden from isolated servers", `write "cwd": "`+instanceFolder+`" in catalog.json`)
	}
	return u.bubblewrap(l, line, path, hidden, writable), nil
}

func (u *upstream) bubblewrap(l launch, line commandLine, path string, hidden, writable []string) commandLine {
	args := []string{"--unshare-user", "--unshare-all", "--cap-drop", "ALL", "--new-session", "--die-with-parent"}
	if l.isolation.network {
		args = append(args, "--share-net")
	}
	args = append(args, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
	for _, h := range hidden {
		args = append(args, l.isolation.hide(h)...)
	}
	if l.isolation.network { // where names are looked up
		args = append(args, "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve")
	}
	for _, shown := range u.shownAgain(line.path, hidden) {
		args = append(args, "--ro-bind", shown, shown)
	}
	for _, dir := range writable {
		args = append(args, "--bind", dir, dir)
	}
	args = append(append(args, "--chdir", line.dir, "--", line.path), line.args...)
	line.path, line.args, line.memory = path, args, int64(l.isolation.memoryMB)<<20
	return line
}

// findBubblewrap looks in airlock's own PATH: the entry's is the server's choice.
func (u *upstream) findBubblewrap() (string, error) {
	search, _ := u.manager.options.Environ("PATH")
	for _, dir := range filepath.SplitList(search) {
		if path := filepath.Join(dir, "bwrap"); filepath.IsAbs(path) && executable(path) {
			return path, nil
		}
	}
	return "", u.notFound(`it is to be isolated, and "bwrap" was not found in PATH`, "bwrap")
}

// hidden lists what an isolated server does not see: other programs' temporary
// files and sockets, and what airlock keeps. Sockets can be used through a
// read-only file system.
func (u *upstream) hidden() []string {
	var all []string
	for _, path := range slices.Concat([]string{"/tmp", "/var/tmp", "/run", u.manager.options.DataDir}, u.manager.options.Hidden) {
		if path == "" {
			continue
		}
		if abs, err := filepath.Abs(path); err == nil {
			path = abs
		}
		if real, err := filepath.EvalSymlinks(path); err == nil { // what is not there needs no hiding
			all = append(all, real)
		}
	}
	return all
}

// hide puts something empty in place of path. What a server writes there is
// memory, too.
func (i *isolation) hide(path string) []string {
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return []string{"--ro-bind", os.DevNull, path}
	}
	if i.memoryMB > 0 {
		return []string{"--size", strconv.Itoa(i.memoryMB << 20), "--tmpfs", path}
	}
	return []string{"--tmpfs", path}
}

// shownAgain lists what lies in a hidden folder and is needed to run.
func (u *upstream) shownAgain(program string, hidden []string) []string {
	var shown []string
	candidates := []string{program}
	if tree, _, found := strings.Cut(program, "/node_modules/"); found { // a link to what lies beside it
		candidates[0] = filepath.Join(tree, "node_modules")
	}
	if cache := u.manager.options.CacheDir; cache != "" {
		candidates = append(candidates, filepath.Join(cache, "npm"))
	}
	for _, c := range candidates {
		if abs, err := filepath.Abs(c); err == nil {
			c = abs
		}
		if _, err := os.Stat(c); err == nil && slices.ContainsFunc(hidden, func(h string) bool { return beneath(c, h) }) {
			shown = append(shown, c)
		}
	}
	return shown
}

// writable lists the folders of the entry. One that holds the catalog or what is
// hidden would undo the isolation.
func (u *upstream) writable(l launch) ([]string, error) {
	own, err := filepath.EvalSymlinks(l.ownFolder)
	if err != nil {
		return nil, u.fail(doStart, ErrUpstream, "its folder could not be found", "check DATA_DIR")
	}
	all := []string{own}
	for _, dir := range l.isolation.write {
		dir = strings.ReplaceAll(dir, instanceFolder, l.ownFolder)
		real, err := filepath.EvalSymlinks(dir)
		if info, statErr := os.Stat(dir); err != nil || statErr != nil || !info.IsDir() {
			return nil, u.fail(doStart, ErrUpstream, `a folder of "sandbox.write" does not exist`, "create it, or correct catalog.json")
		}
		for _, kept := range append(u.hidden(), u.manager.options.Catalog.dir) {
			if beneath(kept, real) {
				return nil, u.fail(doStart, ErrUpstream, fmt.Sprintf(`a folder of "sandbox.write" holds %s`, kept), "name a folder inside of it")
			}
		}
		all = append(all, real)
	}
	return all, nil
}

// beneath reports whether path is dir or lies in it.
func beneath(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
