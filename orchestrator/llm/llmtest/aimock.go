package llmtest

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Aimock is a running @copilotkit/aimock, which plays the providers independently
// of what this package believes about their protocols.
type Aimock struct {
	url    string
	client *http.Client
}

// AimockRequest is one request as aimock recorded it: those of Anthropic's
// protocol translated to the form of OpenAI's.
type AimockRequest struct {
	Path string          `json:"path"`
	Body json.RawMessage `json:"body"`
}

const (
	startTime = 30 * time.Second // Node.js on a busy machine
	stopTime  = 5 * time.Second
)

// StartAimock starts the program on a free loopback port with fixtures, a JSON
// document as aimock's documentation has it, and ends it with the test. It comes
// with `make deps`.
func StartAimock(t testing.TB, fixtures string) *Aimock {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "fixtures.json"), fixtures)
	config := filepath.Join(dir, "aimock.json")
	write(t, config, `{"port":0,"llm":{"fixtures":`+marshal(filepath.Join(dir, "fixtures.json"))+`,"chunkSize":5,"logLevel":"silent"}}`)

	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, "node", aimockPath(t), "--config", config) // #nosec G204 -- a fixed program of ours
	command.Env = []string{}                                                       // its settings come from the file alone
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = stopTime
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start aimock: %v; install Node.js and run make deps", err)
	}
	lines := newLineReader(stdout)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		cancel()
		lines.wait()
		_ = command.Wait() // ended by our signal
	})
	return &Aimock{url: lines.address(t), client: &http.Client{Transport: transport}}
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// aimockPath finds the program from any package of the module.
func aimockPath(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; filepath.Dir(dir) != dir; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	path := filepath.Join(dir, "test", "npm", "node_modules", ".bin", "aimock")
	if _, err := os.Stat(path); err != nil {
		t.Fatal("aimock is not installed; run make deps")
	}
	return path
}

// lineReader reads a program's output to its end, which ends the goroutine.
type lineReader struct {
	found chan string // the address, once
	done  sync.WaitGroup
}

const announcement = "aimock server listening on "

func newLineReader(output interface{ Read([]byte) (int, error) }) *lineReader {
	r := &lineReader{found: make(chan string, 1)}
	r.done.Go(func() {
		defer close(r.found)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			if _, address, ok := strings.Cut(lines.Text(), announcement); ok {
				select {
				case r.found <- address:
				default:
				}
			}
		}
	})
	return r
}

func (r *lineReader) wait() { r.done.Wait() }

// address waits until the program listens.
func (r *lineReader) address(t testing.TB) string {
	t.Helper()
	select {
	case address, ok := <-r.found:
		if ok {
			return address
		}
		t.Fatal("aimock ended before it listened")
	case <-time.After(startTime):
		t.Fatalf("aimock did not listen within %v", startTime)
	}
	return ""
}

// Target is where drivers find it.
func (a *Aimock) Target() Target {
	return Target{AnthropicURL: a.url, OpenAIURL: a.url + "/v1", Client: a.client}
}

// Requests returns what it received so far, in order.
func (a *Aimock) Requests(t testing.TB) []AimockRequest {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.url+"/__aimock/journal", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := a.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	var requests []AimockRequest
	if err := json.NewDecoder(response.Body).Decode(&requests); err != nil {
		t.Fatalf("read aimock's journal: %v", err)
	}
	return requests
}
