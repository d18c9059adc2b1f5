package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// served is a real `airlock serve` in a process of its own, with a folder to work in
// that has bin/airlock.
type served struct {
	dir, address string
	process      *exec.Cmd

	mu  sync.Mutex // guards log
	log bytes.Buffer
}

var servesAt = regexp.MustCompile(`"(?:url|mcp)":"http://(127\.0\.0\.1:[0-9]+)`)

func startServed(t *testing.T) *served {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := filepath.Abs("../../catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{dir: t.TempDir()}
	if err := os.Mkdir(filepath.Join(s.dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(s.dir, "bin", "airlock")); err != nil { // see TestMain
		t.Fatal(err)
	}
	s.process = s.command(context.WithoutCancel(t.Context()), catalog, "bin/airlock", "serve", "--port", "0", "--mcp-port", "0", "--log-format", "json")
	errors, err := s.process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	address, read := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(read)
		s.follow(errors, address)
	}()
	t.Cleanup(func() {
		_ = s.process.Process.Signal(syscall.SIGTERM)
		<-read
		if err := s.process.Wait(); err != nil {
			t.Errorf("serve ended with %v: %s", err, s.said())
		}
	})
	select {
	case s.address = <-address:
	case <-read:
		t.Fatalf("serve ended: %s", s.said())
	}
	return s
}

// command is one that runs where the server does, with its settings.
func (s *served) command(ctx context.Context, catalog string, line ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	if strings.Contains(line[0], "/") {
		cmd.Path = filepath.Join(s.dir, line[0])
	}
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "CATALOG="+catalog, "DATA_DIR="+filepath.Join(s.dir, "data"), "SANDBOX_BACKEND=wasm")
	return cmd
}

func (s *served) follow(log io.Reader, address chan<- string) {
	for lines := bufio.NewScanner(log); lines.Scan(); {
		if at := servesAt.FindSubmatch(lines.Bytes()); at != nil {
			select {
			case address <- string(at[1]):
			default:
			}
		}
		s.mu.Lock()
		s.log.Write(append(lines.Bytes(), '\n'))
		s.mu.Unlock()
	}
}

func (s *served) said() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestExamplesOfTheAPIWork types each example of docs/API.md that is complete: one with
// "…" stands for something that only happens.
func TestExamplesOfTheAPIWork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed; install it (apt-get install curl)")
	}
	text, err := os.ReadFile("../../docs/API.md")
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := filepath.Abs("../../catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	s := startServed(t)
	if err := os.WriteFile(filepath.Join(s.dir, "sales.csv"), []byte("region,amount\nnorth,12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, block := range shellBlock.FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(block[1], "curl") || strings.Contains(block[1], "…") {
			continue
		}
		tried++
		script := `set -eu; curl() { command curl --silent --show-error --fail-with-body "$@"; }; ` +
			strings.ReplaceAll(block[1], "localhost:3000", s.address)
		if out, err := s.command(t.Context(), catalog, "bash", "-c", script).CombinedOutput(); err != nil {
			t.Errorf("%v: %s\n%s", err, block[1], out)
		}
	}
	if tried < 5 {
		t.Errorf("only %d examples were tried", tried)
	}
}

// TestOnlyTheConfiguredAddressesListen looks at every socket of a server, its workers
// and its upstream servers while a script holds the bridge open.
func TestOnlyTheConfiguredAddressesListen(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("sockets are read from /proc, which only Linux has; run it there")
	}
	s := startServed(t)
	ctx, cancel := context.WithCancel(t.Context())
	const script = `{"userId":"u","code":"await callMCPTool(\"database__query\", {query: \"SELECT 1\"}); await utils.sleep(20000)"}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+"/execute", strings.NewReader(script))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	var asking sync.WaitGroup
	asking.Go(func() {
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_ = answer.Body.Close()
		}
	})
	defer asking.Wait()
	defer cancel()
	for !callWasAudited(filepath.Join(s.dir, "data", "audit.jsonl")) {
		if t.Context().Err() != nil {
			t.Fatal("the script called no tool")
		}
		runtime.Gosched()
	}
	configured := servesAt.FindAllStringSubmatch(s.said(), -1)
	found := listening(t, family(t, s.process.Process.Pid))
	if len(found) == 0 {
		t.Error("not even the API's own socket was found")
	}
	for _, at := range found {
		if !slices.ContainsFunc(configured, func(c []string) bool { return c[1] == at }) {
			t.Errorf("something listens on %s, which is not configured", at)
		}
	}
}

func callWasAudited(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && bytes.Contains(text, []byte(`"database__query"`))
}

// family is a process and all that it has started.
func family(t *testing.T, pid int) []int {
	t.Helper()
	all := []int{pid}
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			continue // a thread that has ended
		}
		for _, child := range strings.Fields(string(text)) {
			var n int
			if _, err := fmt.Sscan(child, &n); err == nil {
				all = append(all, family(t, n)...)
			}
		}
	}
	return all
}

// listening are the addresses of IP sockets that these processes wait on: of TCP those
// that listen, of UDP all that are bound and not connected.
func listening(t *testing.T, pids []int) (found []string) {
	t.Helper()
	inodes := map[string]bool{}
	for _, pid := range pids {
		descriptors, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range descriptors {
			if target, err := os.Readlink(d); err == nil && strings.HasPrefix(target, "socket:[") {
				inodes[strings.Trim(target, "socket:[]")] = true
			}
		}
	}
	for _, table := range []struct{ name, state string }{{"tcp", "0A"}, {"tcp6", "0A"}, {"udp", "07"}, {"udp6", "07"}} {
		text, err := os.ReadFile("/proc/net/" + table.name)
		if err != nil {
			continue // no IPv6
		}
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) > 9 && fields[3] == table.state && inodes[fields[9]] {
				found = append(found, address(t, fields[1]))
			}
		}
	}
	return found
}

// address reads an address as /proc/net writes it: words of four bytes in the machine's
// order.
func address(t *testing.T, text string) string {
	t.Helper()
	host, port, _ := strings.Cut(text, ":")
	words, err := hex.DecodeString(host)
	if err != nil {
		t.Fatal(err)
	}
	var bytes []byte
	for i := 0; i+4 <= len(words); i += 4 {
		bytes = binary.NativeEndian.AppendUint32(bytes, binary.BigEndian.Uint32(words[i:]))
	}
	ip, _ := netip.AddrFromSlice(bytes)
	number, err := hex.DecodeString(port)
	if err != nil || len(number) != 2 {
		t.Fatalf("port %q: %v", port, err)
	}
	return netip.AddrPortFrom(ip.Unmap(), binary.BigEndian.Uint16(number)).String()
}
