package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/tailscale/hujson"
)

// entryName is what hosts know airlock as.
const entryName = "airlock"

// mcpHost is a program that can use airlock, and how it is told of servers.
type mcpHost struct {
	name string
	// file is where its settings are: below the home folder, or where there is none
	// of it, below the working folder.
	file func() (string, error)
	// key is the field that holds the servers.
	key string
	// stdio and http are what an entry has beside the command and the URL; http is nil
	// where the file takes no URL, and names the field for it otherwise.
	stdio map[string]any
	http  func(url string) map[string]any
	// toml marks settings that are not JSON, which are printed only.
	toml bool
}

// mcpHosts are those whose settings are known, by their documentation of 2026.
var mcpHosts = []mcpHost{
	{name: "claude-desktop", file: inConfig("Claude", "claude_desktop_config.json"), key: "mcpServers"},
	{name: "claude-code", file: inFolder(".mcp.json"), key: "mcpServers", http: func(url string) map[string]any { return map[string]any{"type": "http", "url": url} }},
	{name: "cursor", file: inHome(".cursor", "mcp.json"), key: "mcpServers", http: urlAs("url")},
	{name: "vscode", file: inFolder(".vscode", "mcp.json"), key: "servers", stdio: map[string]any{"type": "stdio"}, http: func(url string) map[string]any { return map[string]any{"type": "http", "url": url} }},
	{name: "windsurf", file: inHome(".codeium", "windsurf", "mcp_config.json"), key: "mcpServers", http: urlAs("serverUrl")},
	{name: "gemini", file: inHome(".gemini", "settings.json"), key: "mcpServers", http: urlAs("httpUrl")},
	{name: "zed", file: inZed, key: "context_servers", http: urlAs("url")},
	{name: "codex", file: inHome(".codex", "config.toml"), key: "mcp_servers", http: urlAs("url"), toml: true},
}

func urlAs(field string) func(string) map[string]any {
	return func(url string) map[string]any { return map[string]any{field: url} }
}

func inHome(path ...string) func() (string, error) {
	return func() (string, error) {
		home, err := os.UserHomeDir()
		return filepath.Join(append([]string{home}, path...)...), err
	}
}

func inConfig(path ...string) func() (string, error) {
	return func() (string, error) {
		config, err := os.UserConfigDir()
		return filepath.Join(append([]string{config}, path...)...), err
	}
}

func inFolder(path ...string) func() (string, error) {
	return func() (string, error) { return filepath.Abs(filepath.Join(path...)) }
}

// inZed is below .config on macOS too.
func inZed() (string, error) {
	if runtime.GOOS == "darwin" {
		return inHome(".config", "zed", "settings.json")()
	}
	return inConfig("zed", "settings.json")()
}

type mcpInstallCommand struct {
	Client string `required:"" help:"The host: claude-desktop, claude-code, cursor, vscode, windsurf, gemini, zed or codex."`
	HTTP   bool   `name:"http" help:"Let the host call a running airlock serve in place of starting its own."`
	Write  bool   `help:"Merge the entry into the host's settings in place of printing it."`
	File   string `type:"path" help:"The settings to merge into, in place of the host's usual ones."`
}

// Run prints what a host is to be told, or tells it.
func (m mcpInstallCommand) Run(c *Config, std streams) error {
	at := slices.IndexFunc(mcpHosts, func(h mcpHost) bool { return h.name == m.Client })
	if at < 0 {
		return usageError{fmt.Errorf("the host %q is not known; docs/HOSTS.md says what others need", m.Client)}
	}
	host := mcpHosts[at]
	entry, err := m.entry(c, host)
	if err != nil {
		return err
	}
	path := m.File
	if path == "" {
		if path, err = host.file(); err != nil {
			return fmt.Errorf("find the settings of %s: %w; name them with --file", host.name, err)
		}
	}
	if !m.Write {
		fmt.Fprintf(std.err, "# for %s\n", path)
		if host.toml {
			return printTOML(std, host.key, entry)
		}
		return printJSON(std.out, map[string]any{host.key: map[string]any{entryName: entry}})
	}
	if host.toml {
		return usageError{fmt.Errorf("the settings of %s are TOML, which is not merged; leave --write out and add what is printed to %s", host.name, path)}
	}
	if err := mergeEntry(path, host.key, entry); err != nil {
		return fmt.Errorf("merge into the settings of %s: %w", host.name, err)
	}
	fmt.Fprintf(std.out, "airlock is in %s; restart %s\n", path, host.name)
	return nil
}

// entry is what the host is told.
func (m mcpInstallCommand) entry(c *Config, host mcpHost) (map[string]any, error) {
	if m.HTTP {
		if host.http == nil {
			return nil, usageError{fmt.Errorf("the settings of %s take no URL; leave --http out", host.name)}
		}
		return host.http(fmt.Sprintf("http://127.0.0.1:%d/mcp", c.MCPPort)), nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	entry := map[string]any{"command": self, "args": []string{"--catalog", c.Catalog, "--data-dir", c.DataDir, "mcp"}}
	if env, err := filepath.Abs(envFile()); err == nil {
		if _, err := os.Stat(env); err == nil {
			entry["env"] = map[string]string{envFileVariable: env}
		}
	}
	maps.Copy(entry, host.stdio)
	return entry, nil
}

func printTOML(std streams, key string, entry map[string]any) error {
	fmt.Fprintf(std.out, "[%s.%s]\n", key, entryName)
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		text, err := json.Marshal(entry[name]) // strings and lists of them are written alike in TOML
		if err != nil {
			return fmt.Errorf("encode the entry: %w", err)
		}
		if env, ok := entry[name].(map[string]string); ok {
			text = fmt.Appendf(nil, "{ %s = %q }", envFileVariable, env[envFileVariable])
		}
		fmt.Fprintf(std.out, "%s = %s\n", name, text)
	}
	return nil
}

// maxSettings bounds a host's settings, in bytes.
const maxSettings = 4 << 20

// mergeEntry puts the entry into a file of JSON, with comments or without, whose other
// bytes stay as they are.
func mergeEntry(path, key string, entry map[string]any) error {
	text, mode, err := readSettings(path)
	if err != nil {
		return err
	}
	settings, err := hujson.Parse(text)
	if err != nil {
		return fmt.Errorf("%s is not JSON: %w; mend it first", path, err)
	}
	value, err := json.Marshal(entry)
	if err != nil {
		return fmt.Errorf("encode the entry: %w", err)
	}
	if settings.Find("/"+key) == nil {
		value = fmt.Appendf(nil, "{%q:%s}", entryName, value)
		err = settings.Patch(fmt.Appendf(nil, `[{"op":"add","path":"/%s","value":%s}]`, key, value))
	} else {
		err = settings.Patch(fmt.Appendf(nil, `[{"op":"add","path":"/%s/%s","value":%s}]`, key, entryName, value))
	}
	if err != nil {
		return fmt.Errorf("%s: %w; its field %q must be an object", path, err, key)
	}
	settings.Format()
	return replaceFile(path, settings.Pack(), mode)
}

func readSettings(path string) ([]byte, fs.FileMode, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return []byte("{}"), 0o600, nil
	}
	if err == nil && info.Size() > maxSettings {
		err = fmt.Errorf("%s has more than %d bytes", path, maxSettings)
	}
	if err != nil {
		return nil, 0, err
	}
	text, err := os.ReadFile(path)
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}")
	}
	return text, info.Mode().Perm(), err
}

// replaceFile writes a file anew, whole or not at all. A link stays one.
func replaceFile(path string, text []byte, mode fs.FileMode) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	fresh, err := os.CreateTemp(filepath.Dir(path), ".airlock-*")
	if err != nil {
		return err
	}
	_, err = fresh.Write(text)
	err = errors.Join(err, fresh.Chmod(mode), fresh.Close())
	if err == nil {
		err = os.Rename(fresh.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(fresh.Name()))
	}
	return nil
}
