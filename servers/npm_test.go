package servers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// npmProgramPath is a server from the test peers.
func npmProgramPath(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("..", "test", "npm", "node_modules", ".bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is missing; run make deps", name)
	}
	return path
}

// patient leaves room for Node.js to start beside other tests.
const patient = `"lifecycle":{"initTimeoutMs":60000}`

func TestEverythingOverStdio(t *testing.T) {
	t.Parallel()
	m := managerOf(t, fmt.Sprintf(`"everything":{"command":%q,%s}`, npmProgramPath(t, "mcp-server-everything"), patient), nil)
	tryEverything(t, m)
}

func TestEverythingOverStreamableHTTP(t *testing.T) {
	t.Parallel()
	m := managerOf(t, fmt.Sprintf(`"everything":{"url":%q,%s}`, startEverything(t), patient), nil)
	tryEverything(t, m)
}

// startEverything runs the server in its HTTP mode and returns its address.
func startEverything(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), npmProgramPath(t, "mcp-server-everything"), "streamableHttp")
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port))
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 4096)
	for said := ""; !strings.Contains(said, "listening on port"); {
		n, err := stderr.Read(buf)
		if err != nil {
			t.Fatalf("the server ended: %s", said)
		}
		said += string(buf[:n])
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, stderr)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-drained
		_ = cmd.Wait()
	})
	return fmt.Sprintf("http://127.0.0.1:%d/mcp", port)
}

func tryEverything(t *testing.T, m *Manager) {
	t.Helper()
	tools, faults := m.Tools(t.Context(), anyone)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	names := make([]string, len(tools))
	for i, tool := range tools {
		names[i] = tool.FullName()
	}
	if !slices.Contains(names, "everything__echo") || !slices.Contains(names, "everything__get-sum") {
		t.Errorf("tools: %v", names)
	}
	result, err := m.Call(t.Context(), anyone, "everything__echo", json.RawMessage(`{"message":"hällo"}`))
	if err != nil || !strings.Contains(told(t, result.JSON), "Echo: hällo") {
		t.Errorf("echo: %s, %v", told(t, result.JSON), err)
	}
	result, err = m.Call(t.Context(), anyone, "everything__get-sum", json.RawMessage(`{"a":2,"b":40}`))
	if err != nil || !strings.Contains(told(t, result.JSON), "42") {
		t.Errorf("get-sum: %s, %v", told(t, result.JSON), err)
	}
	result, err = m.Call(t.Context(), anyone, "everything__get-sum", json.RawMessage(`{"a":"x"}`))
	if err == nil && !result.IsError || err != nil && !errors.Is(err, ErrUpstream) {
		t.Errorf("wrong arguments: %s, %v", told(t, result.JSON), err)
	}
}

func TestFilesystemOverStdio(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note.txt"), []byte("remember the milk"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := managerOf(t, fmt.Sprintf(`"filesystem":{"command":%q,"args":[%q],"tools":{"deny":["write_*","edit_*","move_*","create_*"]},%s}`,
		npmProgramPath(t, "mcp-server-filesystem"), dir, patient), nil)
	path, _ := json.Marshal(map[string]string{"path": filepath.Join(dir, "note.txt")})
	result, err := m.Call(t.Context(), anyone, "filesystem__read_text_file", path)
	if err != nil || result.IsError || !strings.Contains(told(t, result.JSON), "remember the milk") {
		t.Errorf("read_text_file: %v", err)
	}
	if _, err := m.Call(t.Context(), anyone, "filesystem__write_file", path); !errors.Is(err, ErrUnknownTool) {
		t.Errorf("a denied tool: %v", err)
	}
	outside, _ := json.Marshal(map[string]string{"path": "/etc/hostname"})
	if result, err := m.Call(t.Context(), anyone, "filesystem__read_text_file", outside); err != nil || !result.IsError {
		t.Errorf("a file outside: isError=%v, %v", result.IsError, err)
	}
}

func TestInstalledPackageIsRunWithoutNpx(t *testing.T) {
	t.Parallel()
	modules := filepath.Dir(filepath.Dir(npmProgramPath(t, "mcp-server-everything")))
	const name = "@modelcontextprotocol/server-everything"
	if got := npmProgram(modules, name, "2026.8.31"); got != filepath.Join(modules, ".bin", "mcp-server-everything") {
		t.Errorf("installed at the version: %q", got)
	}
	if got := npmProgram(modules, name, "2026.8.30"); got != "" {
		t.Errorf("installed at another version: %q", got)
	}
}
