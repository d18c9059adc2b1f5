package canary

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"airlock/orchestrator/llm/llmtest"
)

// airlock is the program, running.
type airlock struct {
	t       *testing.T
	base    string
	dir     string
	cmd     *exec.Cmd
	log     bytes.Buffer // whole once stopped is closed
	stopped chan struct{}
	answers map[string][]byte // for a model's side, by what they answer
}

// build makes the program.
func build(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "airlock")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, "airlock/cmd/airlock").CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	return path
}

// start runs the program with the shop as its upstream server and a model played
// from a script.
func start(t *testing.T, program, mode, shop string, model *llmtest.Server) *airlock {
	t.Helper()
	a := &airlock{t: t, dir: t.TempDir(), stopped: make(chan struct{}), answers: map[string][]byte{}}
	catalog := filepath.Join(t.TempDir(), "catalog.json")
	text := fmt.Sprintf(`{"schemaVersion":1,"servers":{"crm":{"transport":"streamable-http","url":%q,"instance":"shared","lifecycle":{"initTimeoutMs":120000,"callTimeoutMs":300000}},"database":{"transport":"builtin"}}}`, shop)
	if err := os.WriteFile(catalog, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a.cmd = exec.CommandContext(t.Context(), program, "serve")
	a.cmd.Env = append(a.cmd.Environ(),
		"PORT=0", "MCP_PORT=0", "DATA_DIR="+a.dir, "CATALOG="+catalog, "PII_MODE="+mode, "LOG_LEVEL=debug", "LOG_FORMAT=json", "SANDBOX_BACKEND=wasm", "SANDBOX_TIMEOUT_MS=600000",
		"LLM_PROVIDER=openai", "LLM_API_KEY=k", "LLM_MODEL=m", "LLM_BASE_URL="+model.OpenAIURL())
	stderr, err := a.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		a.stop()
		a.explain()
	})
	url := make(chan string, 1)
	go a.readLog(stderr, url) // ends with the process
	select {
	case a.base = <-url:
	case <-a.stopped:
		t.Fatalf("the program ended at once: %s", a.log.Bytes())
	}
	return a
}

// readLog keeps the log and tells the address in it.
func (a *airlock) readLog(r io.Reader, url chan<- string) {
	defer close(a.stopped)
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadBytes('\n')
		a.log.Write(line)
		var entry struct{ URL string }
		if json.Unmarshal(line, &entry) == nil && entry.URL != "" {
			url <- entry.URL
		}
		if err != nil {
			return
		}
	}
}

// explain tells what the program complained of, if the test failed.
func (a *airlock) explain() {
	for line := range bytes.Lines(a.log.Bytes()) {
		var entry struct{ Level string }
		if a.t.Failed() && json.Unmarshal(line, &entry) == nil && entry.Level != "debug" && entry.Level != "info" {
			a.t.Logf("it said: %s", line)
		}
	}
}

// stop ends the program and waits for it. It may be called again.
func (a *airlock) stop() {
	select {
	case <-a.stopped:
		return
	default:
	}
	if err := a.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		a.t.Errorf("stop the program: %v", err)
	}
	<-a.stopped
	if err := a.cmd.Wait(); err != nil && !strings.Contains(err.Error(), "signal") {
		a.t.Errorf("the program ended: %v", err)
	}
}

func (a *airlock) post(path string, body any) []byte {
	a.t.Helper()
	return a.ask(http.MethodPost, path, strings.NewReader(encode(body)))
}

func (a *airlock) get(path string) []byte {
	a.t.Helper()
	return a.ask(http.MethodGet, path, nil)
}

func (a *airlock) ask(method, path string, body io.Reader) []byte {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), method, a.base+path, body)
	if err != nil {
		a.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	if answer.StatusCode >= http.StatusInternalServerError {
		a.t.Errorf("%s %s: %d %s", method, path, answer.StatusCode, text)
	}
	return text
}

// searchDisk looks into all that the program left. In open mode scripts write real
// values into the user's own files, which are left out.
func (a *airlock) searchDisk(plant *planting, mode string) {
	a.t.Helper()
	files := 0
	err := filepath.WalkDir(a.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(a.dir, path)
		if err != nil {
			return err
		}
		top, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		own := top == "artifacts" || top == "workspaces"
		if mode == "open" && own {
			return nil
		}
		plant.search(a.t, place{what: "a file's name", names: own}, []byte(name))
		if !entry.Type().IsRegular() {
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		plant.search(a.t, place{what: "the file " + name}, text)
		return err
	})
	if err != nil || files == 0 {
		a.t.Errorf("read %d files of DATA_DIR: %v", files, err)
	}
}
