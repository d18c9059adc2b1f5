package servers

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// commandLine is what to execute: an absolute path, its arguments and the whole
// environment.
type commandLine struct {
	path string
	args []string
	env  []string
	dir  string
	// memory bounds what each process may have, in bytes; 0 is no bound.
	memory int64
}

// commandLine resolves an entry's command or package. Only what the catalog
// names is inherited from our environment: it holds the keys of models and of
// other servers.
func (u *upstream) commandLine(owner Caller) (commandLine, error) {
	l, err := u.placed(owner)
	if err != nil {
		return commandLine{}, err
	}
	name, args := l.command, l.args
	if name == "" {
		var before []string
		name, before = u.packageCommand()
		args = append(before, args...)
	}
	path, err := u.lookPath(l, name)
	if err != nil {
		return commandLine{}, err
	}
	if info, err := os.Stat(l.cwd); err != nil || !info.IsDir() {
		return commandLine{}, u.fail(doStart, ErrUpstream, "its working folder does not exist", `create it, or change "cwd" in catalog.json`)
	}
	line := commandLine{path: path, args: args, env: u.environment(l), dir: l.cwd}
	if l.isolation == nil {
		return line, nil
	}
	return u.isolate(l, line)
}

func (u *upstream) environment(l launch) []string {
	values := map[string]string{}
	for _, name := range l.inheritEnv {
		if value, ok := u.manager.options.Environ(name); ok {
			values[name] = value
		}
	}
	if l.isolation != nil {
		values["HOME"] = l.ownFolder // the only one of ours that it may write to
	}
	for name, value := range l.env {
		values[name] = value
	}
	env := make([]string, 0, len(values))
	for name, value := range values {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// packageCommand runs what is installed at the exact version, else what the
// package manager fetches.
func (u *upstream) packageCommand() (string, []string) {
	l := u.entry.launch
	switch l.packageType {
	case "npm":
		if path := u.installedNPM(); path != "" {
			return path, nil
		}
		return "npx", []string{"--yes", l.packageName + "@" + l.packageVer}
	case "pypi":
		return "uvx", []string{l.packageName + "@" + l.packageVer}
	default:
		return "go", []string{"run", l.packageName + "@" + l.packageVer}
	}
}

// installedNPM finds the program of an installed package beside the catalog or
// in the cache, if it has the right version.
func (u *upstream) installedNPM() string {
	l := u.entry.launch
	folders := []string{u.manager.options.Catalog.dir}
	if cache := u.manager.options.CacheDir; cache != "" {
		folders = append(folders, filepath.Join(cache, "npm"))
	}
	for _, folder := range folders {
		if path := npmProgram(filepath.Join(folder, "node_modules"), l.packageName, l.packageVer); path != "" {
			return path
		}
	}
	return ""
}

func npmProgram(modules, name, version string) string {
	data, err := os.ReadFile(filepath.Join(modules, filepath.FromSlash(name), "package.json"))
	if err != nil {
		return ""
	}
	var manifest struct {
		Version string          `json:"version"`
		Bin     json.RawMessage `json:"bin"`
	}
	if json.Unmarshal(data, &manifest) != nil || manifest.Version != version {
		return ""
	}
	program := binName(name, manifest.Bin)
	if program == "" || program != filepath.Base(program) {
		return ""
	}
	path := filepath.Join(modules, ".bin", program)
	if !executable(path) {
		return ""
	}
	return path
}

// binName is the program that npx would run: the one named like the package, or
// the only one.
func binName(name string, bin json.RawMessage) string {
	short := name[strings.LastIndex(name, "/")+1:]
	var single string
	if json.Unmarshal(bin, &single) == nil {
		return short
	}
	var many map[string]string
	if json.Unmarshal(bin, &many) != nil {
		return ""
	}
	if _, ok := many[short]; ok || len(many) != 1 {
		return short
	}
	for only := range many {
		return only
	}
	return ""
}

// lookPath finds a program in the PATH that the server will have.
func (u *upstream) lookPath(l launch, name string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(l.cwd, path)
		}
		if !executable(path) {
			return "", u.notFound(fmt.Sprintf("exec %q: not an executable file", name), name)
		}
		return path, nil
	}
	search, ok := l.env["PATH"]
	if !ok {
		search, _ = u.manager.options.Environ("PATH")
	}
	for _, dir := range filepath.SplitList(search) {
		if path := filepath.Join(dir, name); filepath.IsAbs(path) && executable(path) {
			return path, nil
		}
	}
	return "", u.notFound(fmt.Sprintf("exec %q: not found in PATH", name), name)
}

func (u *upstream) notFound(reason, name string) error {
	return u.fail(doStart, ErrUpstream, reason, installHint(name))
}

func installHint(name string) string {
	const other = `, or set "command" in catalog.json`
	switch name {
	case "uvx", "uv":
		return "install uv with: pip install uv" + other
	case "npx", "npm", "node":
		return "install Node.js, on Debian with: apt-get install nodejs npm" + other
	case "go":
		return "install Go, on Debian with: apt-get install golang" + other
	case "bwrap":
		return "install bubblewrap, on Debian with: apt-get install bubblewrap, or remove \"sandbox\" in catalog.json to run it with all rights of airlock"
	case "docker":
		return "install Docker, on Debian with: apt-get install docker.io" + other
	case "podman":
		return "install Podman, on Debian with: apt-get install podman" + other
	}
	return "install it" + other
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
