package servers

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// peerEntry is a catalog entry that starts this test binary as a peer.
func peerEntry(t testing.TB, name, mode, more string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	entry, err := json.Marshal(map[string]any{"transport": "stdio", "command": program, "args": []string{"peer", mode, mark(t)}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(more, `"lifecycle"`) {
		more += "," + patient // other tests may take the machine
	}
	return fmt.Sprintf("%q:%s%s}", name, strings.TrimSuffix(string(entry), "}"), more)
}

func act(what string) json.RawMessage { return json.RawMessage(fmt.Sprintf(`{"act":%q}`, what)) }

// say calls the peer and returns the text it answers with.
func say(t *testing.T, m *Manager, c Caller, arguments json.RawMessage) string {
	t.Helper()
	result, err := m.Call(t.Context(), c, "peer__do", arguments)
	if err != nil {
		var failed *Error
		if errors.As(err, &failed) {
			t.Logf("the server said %s", told(t, failed.Detail))
		}
		t.Fatalf("call %s: %v", arguments, err)
	}
	var content struct{ Content []struct{ Text string } }
	if err := json.Unmarshal([]byte(told(t, result.JSON)), &content); err != nil || len(content.Content) != 1 {
		t.Fatalf("call %s: unexpected result: %v", arguments, err)
	}
	return content.Content[0].Text
}

const quick = `,"lifecycle":{"callTimeoutMs":400,"initTimeoutMs":60000,"restart":{"backoffMs":1}}`

func TestStdioFaultsEndInAKindAndTheNextCallWorks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		act  string
		want error
		says string
	}{
		"killed in mid call":        {"die", ErrUpstream, "signal: killed"},
		"tool that never ends":      {"hang", ErrTimeout, "callTimeoutMs"},
		"stopped process":           {"freeze", ErrTimeout, "callTimeoutMs"},
		"result of 100 MB":          {"big", ErrResultTooLarge, "limits.maxMessageBytes"},
		"long message without id":   {"big without id", ErrTimeout, "callTimeoutMs"},
		"error of the protocol":     {"refuse", ErrUpstream, "JSON-RPC error -32602"},
		"result that is no object":  {"nonsense", ErrUpstream, "form of the protocol"},
		"garbage around the answer": {"garbage", nil, ""},
		"flood of notifications":    {"flood", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limit := quick
			if !errors.Is(c.want, ErrTimeout) {
				limit = strings.Replace(quick, "400", "20000", 1)
			}
			m := managerOf(t, peerEntry(t, "peer", "plain", limit), nil)
			say(t, m, anyone, nil)
			began := time.Now()
			_, err := m.Call(t.Context(), anyone, "peer__do", act(c.act))
			if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("call: %v, want %v with %q", err, c.want, c.says)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error quotes the server: %v", err)
			}
			if spent := time.Since(began); spent > 20*time.Second {
				t.Errorf("took %s", spent)
			}
			if got := say(t, m, anyone, json.RawMessage(`{"text":"again"}`)); got != "again" {
				t.Errorf("the next call answered %q", got)
			}
		})
	}
}

func TestServerThatStopsReadingHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	m := managerOf(t, peerEntry(t, "peer", "plain", quick+`,"limits":{"concurrency":64}`), nil)
	say(t, m, anyone, act("stop reading"))
	large := json.RawMessage(`{"text":"` + strings.Repeat("z", 100<<10) + `"}`) // more than a pipe holds
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
			defer cancel()
			began := time.Now()
			_, err := m.Call(ctx, anyone, "peer__do", large)
			if !errors.Is(err, ErrTimeout) && !errors.Is(err, ErrUpstream) {
				t.Errorf("call of a deaf server: %v", err)
			}
			if spent := time.Since(began); spent > 2*time.Second {
				t.Errorf("a caller waited %s for its deadline of 400ms", spent)
			}
		})
	}
	all.Wait()
	if got := say(t, m, anyone, json.RawMessage(`{"text":"again"}`)); got != "again" {
		t.Errorf("the next call answered %q", got)
	}
}

func TestHundredMegabytesAreNotKept(t *testing.T) {
	m := managerOf(t, peerEntry(t, "peer", "plain", ""), nil)
	say(t, m, anyone, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := m.Call(t.Context(), anyone, "peer__do", act("big")); !errors.Is(err, ErrResultTooLarge) {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
		t.Errorf("refusing 100 MB allocated %d MB", grown>>20)
	}
}

func TestStartFailuresSayWhatToDo(t *testing.T) {
	t.Parallel()
	for mode, says := range map[string]string{
		"dies at start": "the process ended (exit status 3)",
		"babbles":       "lines to its standard output that are no messages",
		"never answers": "initTimeoutMs",
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			m := managerOf(t, peerEntry(t, "peer", mode, `,"lifecycle":{"initTimeoutMs":1500,"restart":{"max":1,"backoffMs":1}}`), nil)
			_, err := m.Call(t.Context(), anyone, "peer__do", nil)
			var failed *Error
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), says) || !strings.HasPrefix(err.Error(), `start server "peer": `) {
				t.Fatalf("%v, want %q", err, says)
			}
			if mode == "dies at start" {
				if got := told(t, failed.Detail); !strings.Contains(got, "canary@example.com") {
					t.Errorf("standard error was not kept: %q", got)
				}
				if strings.Contains(err.Error(), "canary") {
					t.Errorf("the error quotes the server: %v", err)
				}
			}
			_, faults := m.Tools(t.Context(), anyone)
			if len(faults) != 1 || faults[0].Server != "peer" {
				t.Errorf("faults: %v", faults)
			}
		})
	}
}

func TestCircuitOpensAfterFailuresInARow(t *testing.T) {
	t.Parallel()
	m := managerOf(t, peerEntry(t, "peer", "dies at start", `,"lifecycle":{"initTimeoutMs":60000,"restart":{"max":2,"backoffMs":1}}`), nil)
	var err error
	for range 4 {
		_, err = m.Call(t.Context(), anyone, "peer__do", nil)
	}
	if !errors.Is(err, ErrUpstream) || !strings.Contains(err.Error(), "failed 3 times in a row") || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("fourth call: %v", err)
	}
	if s := m.Status(); s[0].Failing != 1 || s[0].Last == nil {
		t.Errorf("Status: %+v", s)
	}
}

func TestMissingCommandSaysWhatToInstall(t *testing.T) {
	t.Parallel()
	m, err := New(Options{
		Catalog: catalogOf(t, `"git":{"package":{"type":"pypi","name":"mcp-server-git","version":"2026.8.31"}}`),
		Environ: func(string) (string, bool) { return t.TempDir(), true },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	_, err = m.Call(t.Context(), anyone, "git__status", nil)
	const want = `start server "git": exec "uvx": not found in PATH; install uv with: pip install uv, or set "command" in catalog.json`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestLogLinesBeforeTheFirstMessageAreForgiven(t *testing.T) {
	t.Parallel()
	m := managerOf(t, peerEntry(t, "peer", "greets with log lines", ""), nil)
	if got := say(t, m, anyone, json.RawMessage(`{"text":"hi"}`)); got != "hi" {
		t.Errorf("answered %q", got)
	}
}

func TestSchemasAreKeptByteForByte(t *testing.T) {
	t.Parallel()
	m := managerOf(t, peerEntry(t, "peer", "plain", ""), nil)
	tools, faults := m.Tools(t.Context(), anyone)
	if len(faults) > 0 || len(tools) != 1 { // the bad name and the second "do" are left out
		t.Fatalf("%d tools, faults %v", len(tools), faults)
	}
	if got := told(t, tools[0].InputSchema); got != oddSchema {
		t.Errorf("schema\n%s\nwant\n%s", got, oddSchema)
	}
}

func TestNoProcessSurvivesClose(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"plain", "makes an orphan", "makes a daemon", "stubborn"} {
		for name, keeping := range map[string][]string{"kept": keeping(), "not kept": nil} {
			if mode == "makes a daemon" && keeping == nil {
				continue // what the keeper is for
			}
			t.Run(mode+", "+name, func(t *testing.T) {
				t.Parallel()
				m := managerWith(t, Options{Catalog: catalogOf(t, peerEntry(t, "peer", mode, "")), Environ: os.LookupEnv, Keeper: keeping})
				all := []watched{watch(t, say(t, m, anyone, act("pid")))}
				if strings.HasPrefix(mode, "makes a") {
					all = append(all, watch(t, say(t, m, anyone, act("recall"))))
				}
				if err := m.Close(); err != nil {
					t.Fatal(err)
				}
				for _, w := range all {
					w.assertEnds(t)
				}
				all[0].assertReaped(t)
			})
		}
	}
}

func TestOrphanDiesWithItsWrapper(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"makes an orphan", "makes a daemon"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			m := managerOf(t, peerEntry(t, "peer", mode, ""), nil)
			orphan := watch(t, say(t, m, anyone, act("recall")))
			_, err := m.Call(t.Context(), anyone, "peer__do", act("die"))
			if !errors.Is(err, ErrUpstream) || !strings.Contains(err.Error(), "signal: killed") {
				t.Errorf("call of a dying wrapper: %v", err)
			}
			orphan.assertEnds(t)
			if got := say(t, m, anyone, json.RawMessage(`{"text":"again"}`)); got != "again" {
				t.Errorf("the next call answered %q", got)
			}
		})
	}
}

func TestServersDieWithAKilledAirlock(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells a process that its parent died")
	}
	for _, mode := range []string{"leaves its number", "makes a daemon"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			number, catalog := filepath.Join(dir, "pid"), filepath.Join(dir, "catalog.json")
			program, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf(`{"schemaVersion":1,"servers":{"peer":{"command":%q,"args":["peer",%q,%q,%q]}}}`, program, mode, mark(t), number)
			if err := os.WriteFile(catalog, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			manager := exec.CommandContext(t.Context(), program, "manager", catalog)
			out, err := manager.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := manager.Start(); err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
				t.Fatalf("the manager said %q, %v", line, err)
			}
			pid, err := os.ReadFile(number)
			if err != nil {
				t.Fatal(err)
			}
			server := watch(t, string(pid))
			if err := manager.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = manager.Wait()
			server.assertEnds(t)
		})
	}
}

// watched is a process that a test holds on to, so that its number cannot come
// to mean another one.
type watched struct{ pid, fd int }

func watch(t *testing.T, pid string) watched {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatalf("pid %q: %v", pid, err)
	}
	fd, err := unix.PidfdOpen(n, 0)
	if err != nil {
		t.Fatalf("process %s: %v", pid, err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return watched{n, fd}
}

// assertEnds waits until the process has ended, which makes a pidfd readable.
func (w watched) assertEnds(t *testing.T) {
	t.Helper()
	fds := []unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 20_000)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n != 1 || err != nil {
			t.Errorf("process %d is still there (%v)", w.pid, err)
		}
		return
	}
}

// assertReaped checks that a child of ours is no zombie.
func (w watched) assertReaped(t *testing.T) {
	t.Helper()
	if err := unix.Waitid(unix.P_PID, w.pid, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil); !errors.Is(err, unix.ECHILD) {
		t.Errorf("process %d was not waited for: %v", w.pid, err)
	}
}

func TestOnlyNamedVariablesAreInherited(t *testing.T) {
	t.Parallel()
	environ := map[string]string{"PATH": "/usr/bin", "HOME": "/nowhere", "OPENAI_API_KEY": "canary", "EXTRA": "yes"}
	m, err := New(Options{
		Catalog: catalogOf(t, peerEntry(t, "peer", "plain", `,"inheritEnv":["PATH","EXTRA","UNSET"],"env":{"OWN":"1"}`)),
		Environ: func(name string) (string, bool) { v, ok := environ[name]; return v, ok },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if got, want := say(t, m, anyone, act("environment")), "EXTRA=yes\nOWN=1\nPATH=/usr/bin"; got != want {
		t.Errorf("environment %q, want %q", got, want)
	}
}

func TestUsersDoNotShareAUserInstance(t *testing.T) {
	t.Parallel()
	one, other, second := Caller{User: "one", Session: "s1"}, Caller{User: "other", Session: "s2"}, Caller{User: "one", Session: "s3"}
	for instance, shared := range map[string]struct{ users, sessions bool }{
		"user": {false, true}, "session": {false, false}, "shared": {true, true}, "": {false, true},
	} {
		t.Run("instance "+instance, func(t *testing.T) {
			t.Parallel()
			more := ""
			if instance != "" {
				more = fmt.Sprintf(`,"instance":%q`, instance)
			}
			m := managerOf(t, peerEntry(t, "peer", "remembers", more), nil)
			say(t, m, one, json.RawMessage(`{"act":"remember","text":"mine"}`))
			if got := say(t, m, one, act("recall")); got != "mine" {
				t.Errorf("the same caller recalls %q", got)
			}
			if got := say(t, m, other, act("recall")); (got == "mine") != shared.users {
				t.Errorf("another user recalls %q", got)
			}
			if got := say(t, m, second, act("recall")); (got == "mine") != shared.sessions {
				t.Errorf("another session recalls %q", got)
			}
		})
	}
}

func TestChangedToolListIsOnlyItsInstances(t *testing.T) {
	t.Parallel()
	m := managerOf(t, peerEntry(t, "peer", "remembers", ""), nil)
	say(t, m, anyone, json.RawMessage(`{"act":"remember","text":"x"}`))
	if tools, _ := m.Tools(t.Context(), anyone); len(tools) != 2 {
		t.Errorf("after list_changed: %d tools, want 2", len(tools))
	}
	if tools, _ := m.Tools(t.Context(), Caller{User: "other"}); len(tools) != 1 {
		t.Errorf("another user sees %d tools, want 1", len(tools))
	}
}

func TestSixtyFourCallersShareOneConnection(t *testing.T) {
	t.Parallel()
	m := managerOf(t, peerEntry(t, "peer", "plain", `,"instance":"shared","limits":{"concurrency":64}`), nil)
	pid := say(t, m, anyone, act("pid"))
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			c := Caller{User: anyone.User, Session: anyone.Session}
			for k := range 20 {
				want := fmt.Sprintf("%d-%d", n, k)
				if got := say(t, m, c, json.RawMessage(fmt.Sprintf(`{"text":%q}`, want))); got != want {
					t.Errorf("got the answer of another call: %q, want %q", got, want)
				}
			}
		})
	}
	all.Wait()
	if again := say(t, m, anyone, act("pid")); again != pid {
		t.Errorf("process %s became %s", pid, again)
	}
}

func TestSlowToolDoesNotEndTheCallsOfOthers(t *testing.T) {
	t.Parallel()
	m := managerOf(t, peerEntry(t, "peer", "plain", quick), nil)
	pid := say(t, m, anyone, act("pid"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := m.Call(ctx, anyone, "peer__do", act("hang")); !errors.Is(err, ErrTimeout) {
		t.Errorf("slow call: %v", err)
	}
	if again := say(t, m, anyone, act("pid")); again != pid {
		t.Errorf("a server that answers pings was replaced: process %s became %s", pid, again)
	}
}

func TestIdleServerIsStoppedAndStartedAgain(t *testing.T) {
	t.Parallel()
	m := managerOf(t, peerEntry(t, "peer", "plain", `,"lifecycle":{"idleStopSec":1,"initTimeoutMs":60000}`), nil)
	pid := say(t, m, anyone, act("pid"))
	watch(t, pid).assertEnds(t)
	if again := say(t, m, anyone, act("pid")); again == pid {
		t.Errorf("process %s was not stopped", pid)
	}
	if s := m.Status(); s[0].Failing != 0 {
		t.Errorf("an idle stop counts as a failure: %+v", s)
	}
}
