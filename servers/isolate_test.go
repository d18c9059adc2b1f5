package servers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// isolatedPeer is a manager of one isolated peer, whose data lies in data.
func isolatedPeer(t *testing.T, data, mode, sandbox string, hidden ...string) *Manager {
	t.Helper()
	needBubblewrap(t)
	return managerWith(t, Options{
		Catalog: catalogOf(t, peerEntry(t, "peer", mode, `,"cwd":"${instance:folder}","sandbox":`+sandbox+`,"lifecycle":{"initTimeoutMs":60000,"restart":{"backoffMs":1}}`)),
		Environ: os.LookupEnv, Keeper: keeping(), DataDir: data, Hidden: hidden,
	})
}

// needBubblewrap skips on a developer's machine without it, but never in CI.
func needBubblewrap(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("bwrap"); err == nil {
		return
	}
	if os.Getenv("AIRLOCK_REQUIRE_BWRAP") != "" {
		t.Fatal("bwrap is missing; install bubblewrap")
	}
	t.Skip("bwrap is missing; install bubblewrap to test isolation")
}

func try(t *testing.T, m *Manager, what, arg string) string {
	t.Helper()
	return say(t, m, anyone, json.RawMessage(fmt.Sprintf(`{"act":%q,"text":%q}`, what, arg)))
}

func TestIsolatedServerWritesToItsFoldersOnly(t *testing.T) {
	t.Parallel()
	data, given, outside := t.TempDir(), t.TempDir(), t.TempDir()
	m := isolatedPeer(t, data, "plain", fmt.Sprintf(`{"write":[%q]}`, given))
	own := ""
	for line := range strings.Lines(say(t, m, anyone, act("environment"))) {
		if home, ok := strings.CutPrefix(strings.TrimSpace(line), "HOME="); ok {
			own = home
		}
	}
	if !strings.HasPrefix(own, data+"/peer/user-") {
		t.Fatalf("its home is %q", own)
	}
	for _, dir := range []string{own, given} {
		path := filepath.Join(dir, "x")
		if got := try(t, m, "write", path); got != "done" {
			t.Errorf("write to %s: %s", dir, got)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "written" {
			t.Errorf("%s holds %q, %v", path, text, err)
		}
	}
	for _, path := range []string{"/etc/x", "/usr/x", "/x", filepath.Join(m.options.Catalog.dir, "catalog.json"), filepath.Join(outside, "x")} {
		if got := try(t, m, "write", path); !strings.HasPrefix(got, "failed") {
			t.Errorf("write to %s: %s", path, got)
		}
	}
	if got := try(t, m, "read", "/etc/passwd"); !strings.Contains(got, "root:") {
		t.Errorf("the system cannot be read: %s", got)
	}
	if got := try(t, m, "read", "/proc/self/status"); !strings.Contains(got, "CapEff:\t0000000000000000") {
		t.Errorf("it has capabilities: %s", got)
	}
}

func TestIsolatedServerSeesNoTemporaryFilesAndNoProcesses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := os.WriteFile(secret, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := t.TempDir()
	m := isolatedPeer(t, filepath.Join(data, "servers"), "plain", `{"network":"host"}`, data, "/usr/share", "/etc/passwd", "/nowhere")
	for path, want := range map[string]string{
		secret: "no such file", "/usr/share/dict": "no such file", filepath.Join(data, "store.key"): "no such file",
	} {
		if got := try(t, m, "read", path); !strings.Contains(got, want) {
			t.Errorf("%s can be read: %s", path, got)
		}
	}
	if got := try(t, m, "read", "/etc/passwd"); strings.Contains(got, "root:") {
		t.Errorf("a hidden file can be read: %s", got)
	}
	if got := try(t, m, "read", "/etc/group"); !strings.Contains(got, "root:") {
		t.Errorf("more is hidden than was asked for: %s", got)
	}
	if got := try(t, m, "write", "/tmp/isolated-test"); got != "done" {
		t.Errorf("its own /tmp: %s", got)
	}
	if _, err := os.Stat("/tmp/isolated-test"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its /tmp is the host's: %v", err)
	}
	if got := try(t, m, "read", fmt.Sprintf("/proc/%d/environ", os.Getpid())); !strings.HasPrefix(got, "failed") {
		t.Error("it reads the environment of a process outside")
	}
}

func TestIsolatedServersNetwork(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	for network, reaches := range map[string]bool{"host": true, "none": false} {
		m := isolatedPeer(t, t.TempDir(), "plain", fmt.Sprintf(`{"network":%q}`, network))
		if got := try(t, m, "dial", listener.Addr().String()); (got == "done") != reaches {
			t.Errorf("network %s: %s", network, got)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestIsolatedServersMemory(t *testing.T) {
	t.Parallel()
	m := isolatedPeer(t, t.TempDir(), "plain", `{"memoryMB":256}`)
	if got := try(t, m, "allocate", "32"); got != "done" {
		t.Errorf("32 of 256 MB: %s", got)
	}
	_, err := m.Call(t.Context(), anyone, "peer__do", json.RawMessage(`{"act":"hold","text":"512"}`))
	if !errors.Is(err, ErrUpstream) || !strings.Contains(err.Error(), "more memory than its limit") || !strings.Contains(err.Error(), "sandbox.memoryMB") {
		t.Errorf("512 of 256 MB: %v", err)
	}
	if got := try(t, m, "allocate", "32"); got != "done" {
		t.Errorf("the next call: %s", got)
	}
}

func TestIsolatedServerLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"makes a daemon", "stubborn"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			m := isolatedPeer(t, t.TempDir(), mode, `{"network":"none"}`) // whose cleaning up looks
			if got := say(t, m, anyone, act("pid")); len(got) > 3 {
				t.Errorf("it sees itself as process %s, not in a namespace of its own", got)
			}
			if _, err := m.Call(t.Context(), anyone, "peer__do", act("die")); !errors.Is(err, ErrUpstream) {
				t.Errorf("die: %v", err)
			}
			say(t, m, anyone, nil)
		})
	}
}

func TestRealServerRunsIsolated(t *testing.T) {
	t.Parallel()
	needBubblewrap(t)
	dir := t.TempDir()
	m := managerWith(t, Options{
		Catalog: catalogOf(t, fmt.Sprintf(`"filesystem":{"command":%q,"args":[%q],"cwd":"${instance:folder}","sandbox":{"network":"none","memoryMB":512,"write":[%q]},%s}`,
			npmProgramPath(t, "mcp-server-filesystem"), dir, dir, patient)),
		Environ: os.LookupEnv, Keeper: keeping(), DataDir: t.TempDir(),
	})
	arguments, err := json.Marshal(map[string]string{"path": filepath.Join(dir, "note.txt"), "content": "kept"})
	if err != nil {
		t.Fatal(err)
	}
	if result, err := m.Call(t.Context(), anyone, "filesystem__write_file", arguments); err != nil || result.IsError {
		t.Fatalf("write_file: %s, %v", told(t, result.JSON), err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "note.txt")); err != nil || string(text) != "kept" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

// TestWhatCannotBeIsolatedDoesNotRun leaves no way to an isolated server without
// its isolation.
func TestWhatCannotBeIsolatedDoesNotRun(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, c := range map[string]struct {
		sandbox string
		change  func(*Options)
		want    string
	}{
		"no bubblewrap": {`{"network":"none"}`, func(o *Options) { o.Environ = func(string) (string, bool) { return "/nowhere", true } },
			`"bwrap" was not found in PATH; install bubblewrap, on Debian with: apt-get install bubblewrap`},
		"bubblewrap of the server's own": {`{},"env":{"PATH":"/usr/bin"}`, func(o *Options) { o.Environ = func(string) (string, bool) { return "", false } },
			`"bwrap" was not found in PATH`},
		"no keeper":        {`{"memoryMB":100}`, func(o *Options) { o.Keeper = nil }, "memory cannot be limited"},
		"no data folder":   {`{}`, func(o *Options) { o.DataDir = "" }, "there is no folder for data"},
		"missing folder":   {`{"write":["/nowhere/at/all"]}`, nil, "does not exist; create it"},
		"hidden cwd":       {`{}`, nil, `its working folder is hidden from isolated servers; write "cwd": "${instance:folder}"`},
		"folder of all":    {`{"write":["/"]}`, nil, `a folder of "sandbox.write" holds`},
		"catalog's folder": {`{"write":["."]}`, nil, `a folder of "sandbox.write" holds`},
		"folder of data":   {fmt.Sprintf(`{"write":[%q]}`, dir), nil, `a folder of "sandbox.write" holds`},
		"hidden folder":    {`{"write":["/usr"]}`, func(o *Options) { o.Hidden = []string{"/usr/share"} }, `a folder of "sandbox.write" holds /usr/share`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.change == nil {
				needBubblewrap(t)
			}
			number := filepath.Join(t.TempDir(), "pid")
			o := Options{
				Catalog: catalogOf(t, fmt.Sprintf(`"peer":{"command":%q,"args":["peer","leaves its number",%q,%q],"sandbox":%s}`, program, mark(t), number, c.sandbox)),
				Environ: os.LookupEnv, Keeper: keeping(), DataDir: filepath.Join(dir, "servers"),
			}
			if c.change != nil {
				c.change(&o)
			}
			_, err := managerWith(t, o).Call(t.Context(), anyone, "peer__do", nil)
			if !errors.Is(err, ErrUpstream) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if _, err := os.Stat(number); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the server ran: %v", err)
			}
		})
	}
}
