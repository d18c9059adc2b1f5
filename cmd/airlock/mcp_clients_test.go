package main

import (
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/zap"

	"airlock/orchestrator/mcpserver"
	"airlock/test/mcppeers"
)

// program is airlock as a command of its own, with its environment.
func program(t *testing.T) (path string, environ []string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := filepath.Abs("../../catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "airlock") // the name by which the test binary knows what it is to be
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path, append(os.Environ(), "CATALOG="+catalog, "DATA_DIR="+t.TempDir(), "SANDBOX_BACKEND=wasm", "LOG_LEVEL=error")
}

// serveMCPOnLoopback serves a system to hosts as airlock serve does, and gives the URL.
func serveMCPOnLoopback(t *testing.T, change ...func(*Config)) (string, *client) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var config *Config
	c := openSystem(t, append(change, func(c *Config) { c.MCPPort = listener.Addr().(*net.TCPAddr).Port; config = c })...)
	callers, err := config.openCallers(t.Context(), c.system, zap.NewNop())
	if err != nil {
		t.Fatal(err)
	}
	if err := config.serveMCP(c.system, callers, listener, zap.NewNop()); err != nil {
		t.Fatal(err)
	}
	return "http://" + listener.Addr().String() + mcpserver.Path, c
}

// peer runs a program of test/mcp and gives what it prints.
func peer(t *testing.T, environ []string, script string, arguments ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), mcppeers.Node(t), append([]string{script}, arguments...)...)
	command.Env = append(environ, "HOME="+t.TempDir())
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", script, err, out, stderr.Bytes())
	}
	return out
}

// overMCP runs a test with what reaches airlock over each transport: the arguments of
// a client, and its environment.
func overMCP(t *testing.T, test func(t *testing.T, environ []string, way, target string, rest ...string)) {
	t.Helper()
	t.Run("stdio", func(t *testing.T) {
		t.Parallel()
		path, environ := program(t)
		test(t, environ, "stdio", path, "mcp")
	})
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		url, _ := serveMCPOnLoopback(t)
		test(t, os.Environ(), "http", url)
	})
}

func TestTypeScriptSDK(t *testing.T) {
	t.Parallel()
	overMCP(t, func(t *testing.T, environ []string, way, target string, rest ...string) {
		var got struct {
			Progress, Logged, Tools, Resources    []string
			Called, Failed                        struct{ IsError bool }
			Changed, Templates, Prompt, Unknown   int
			Cancelled, AfterCancel, Read, Updated string
		}
		out := peer(t, environ, "../../test/mcp/clients/sdk.mjs", append([]string{way, target}, rest...)...)
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if bytes.Contains(out, []byte("@example.")) {
			t.Errorf("a personal value reached the host: %s", out)
		}
		if len(got.Tools) != 7 || got.Called.IsError || !got.Failed.IsError || got.Changed == 0 || got.Templates != 2 || got.Prompt < 1000 || got.Unknown != -32002 {
			t.Errorf("got %s", out)
		}
		all := strings.Join(got.Progress, "")
		if strings.Count(all, "step ") != 20 || !strings.Contains(all, "calling database__query") || strings.Count(strings.Join(got.Logged, ""), "step ") != 20 {
			t.Errorf("the progress is %q, the log %q", got.Progress, got.Logged)
		}
		if !strings.Contains(got.Cancelled, "enough") || got.AfterCancel != "ok" {
			t.Errorf("the cancelled call says %q, the next %q", got.Cancelled, got.AfterCancel)
		}
		if uri := "airlock://artifacts/mails.csv"; !slices.Contains(got.Resources, uri) || got.Updated != uri || strings.Count(got.Read, "[EMAIL_") != 3 {
			t.Errorf("of %v was read %q; %q was updated", got.Resources, got.Read, got.Updated)
		}
	})
}

// stdioArguments are the settings that a host must be told to pass on: most start
// servers with an environment of their own.
func stdioArguments(environ []string) []string {
	var settings []string
	for _, pair := range environ {
		if strings.HasPrefix(pair, "CATALOG=") || strings.HasPrefix(pair, "DATA_DIR=") || strings.HasPrefix(pair, "SANDBOX_BACKEND=") {
			settings = append(settings, pair)
		}
	}
	return settings
}

const leaveFile = `await fs.writeFile("/artifacts/a.txt", (await callMCPTool("database__query", {query: "SELECT email FROM customers LIMIT 1"}))[0].email); return 6*7`

func TestInspector(t *testing.T) {
	t.Parallel()
	script := mcppeers.Script(t, "@modelcontextprotocol/inspector/clients/launcher/build/index.js")
	overMCP(t, func(t *testing.T, environ []string, way, target string, rest ...string) {
		base := append([]string{"--cli", target}, rest...)
		if way == "http" {
			base = append(base, "--transport", "http")
		} else {
			for _, pair := range stdioArguments(environ) {
				base = append(base, "-e", pair)
			}
		}
		ask := func(arguments ...string) string {
			return string(peer(t, environ, script, append(slices.Clone(base), arguments...)...))
		}
		if got := ask("--method", "tools/list", "--strict"); strings.Count(got, `"outputSchema"`) != 7 {
			t.Errorf("the tools are %s", got)
		}
		if got := ask("--method", "tools/call", "--tool-name", "execute_code", "--tool-arg", "code="+leaveFile); !strings.Contains(got, `"result": 42`) {
			t.Errorf("the call gives %s", got)
		}
		if got := ask("--method", "resources/read", "--uri", "airlock://artifacts/a.txt"); !strings.Contains(got, "[EMAIL_1_") || strings.Contains(got, "@example.") {
			t.Errorf("the artifact reads %s", got)
		}
	})
}

func TestMcporter(t *testing.T) {
	t.Parallel()
	script := mcppeers.Script(t, "mcporter/dist/cli.js")
	overMCP(t, func(t *testing.T, environ []string, way, target string, rest ...string) {
		entry := map[string]any{"url": target}
		if way == "stdio" {
			settings := map[string]string{}
			for _, pair := range stdioArguments(environ) {
				name, value, _ := strings.Cut(pair, "=")
				settings[name] = value
			}
			entry = map[string]any{"command": target, "args": rest, "env": settings}
		}
		text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"airlock": entry}})
		if err != nil {
			t.Fatal(err)
		}
		config := filepath.Join(t.TempDir(), "mcporter.json")
		if err := os.WriteFile(config, text, 0o600); err != nil {
			t.Fatal(err)
		}
		ask := func(arguments ...string) string {
			return string(peer(t, environ, script, append([]string{"--config", config}, arguments...)...))
		}
		if got := ask("list", "airlock", "--json"); strings.Count(got, `"inputSchema"`) != 7 {
			t.Errorf("the tools are %s", got)
		}
		if got := ask("call", "airlock.execute_code", "code="+leaveFile); !strings.Contains(got, `"result": 42`) {
			t.Errorf("the call gives %s", got)
		}
		if got := ask("resource", "airlock", "airlock://artifacts/a.txt"); !strings.Contains(got, "[EMAIL_1_") || strings.Contains(got, "@example.") {
			t.Errorf("the artifact reads %s", got)
		}
	})
}

// TestHostsShareTheServersStore starts airlock mcp twice beside a serving process: what
// one leaves the other finds, and its user gets real values for it from the server.
func TestHostsShareTheServersStore(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "air") // a short path, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	_, c := serveMCPOnLoopback(t, func(c *Config) { c.DataDir = dir })
	if info, err := os.Stat(filepath.Join(dir, "control.sock")); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the socket is %v, %v", info, err)
	}
	path, environ := program(t)
	host := func(request string) string {
		command := exec.CommandContext(t.Context(), path, "mcp", "--user", "ann")
		command.Env = append(environ, "DATA_DIR="+dir)
		command.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n" + request + "\n")
		var stderr bytes.Buffer
		command.Stderr = &stderr
		out, err := command.Output()
		if err != nil || stderr.Len() > 0 {
			t.Fatalf("%v: %s", err, stderr.Bytes())
		}
		return string(out)
	}
	arguments, err := json.Marshal(map[string]string{"code": leaveFile})
	if err != nil {
		t.Fatal(err)
	}
	if got := host(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"execute_code","arguments":` + string(arguments) + `}}`); !strings.Contains(got, `"result":42`) {
		t.Errorf("the first host got %s", got)
	}
	if got := host(`{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"airlock://artifacts/a.txt"}}`); !strings.Contains(got, "[EMAIL_1_") {
		t.Errorf("the second host got %s", got)
	}
	if file := c.download(t, "ann", "a.txt"); !strings.Contains(file, "@example.") {
		t.Errorf("the user gets %q", file)
	}
	conn, err := net.Dial("unix", filepath.Join(dir, "control.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte(`{"mcp":true,"as":"../ann"}` + "\n")); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 1)); err == nil {
		t.Errorf("a user id of no form is answered with %d bytes", n)
	}
}
