package image

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"airlock/runtime/docker/internal/wire"
)

const realImage = "airlock-sandbox:latest"

// supervisor is a running supervisor and what it offers.
type supervisor struct {
	in        io.Writer
	out       io.Reader
	socket    string // of the bridge, as scripts see it
	artifacts string
	languages []string
	last      atomic.Int64
}

// here starts the supervisor as an ordinary process: enough for its protocol, for
// Python and for bash.
func here(t *testing.T) *supervisor {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed; the supervisor is tested in the image only")
	}
	folder := shared(t)
	source, err := filepath.Abs("../../helpers/python")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(python, "-I", "-B", "supervisor")
	command.Env = append(os.Environ(), "AIRLOCK_HELPERS="+source, "AIRLOCK_FOLDER="+folder)
	return start(t, command, &supervisor{socket: bridge(t, folder), artifacts: folder})
}

// contained starts it in the image, as hardened as the engine's command line allows.
func contained(t *testing.T) *supervisor {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "docker", "image", "inspect", "--format", "{{.Id}}", realImage).CombinedOutput(); err != nil {
		if os.Getenv("AIRLOCK_REQUIRE_DOCKER") == "1" {
			t.Fatalf("there is no image %s: %v\n%s", realImage, err, out)
		}
		t.Skipf("no Docker engine with the image %s; run make sandbox-image", realImage)
	}
	folder := shared(t)
	bridge(t, folder)
	name := "airlock-image-test-" + strconv.Itoa(os.Getpid()) + "-" + filepath.Base(folder)
	t.Cleanup(func() { _ = exec.Command("docker", "rm", "--force", name).Run() })
	return start(t, exec.Command("docker", "run", "--interactive", "--rm", "--name", name,
		"--network=none", "--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--pids-limit=64",
		"--memory=512m", "--memory-swap=512m", "--tmpfs=/tmp:rw,noexec,nosuid,nodev,size=64m,mode=1777",
		"--volume="+folder+":/bridge:ro", "--volume="+folder+":/artifacts", "--tmpfs=/workspace:rw,size=64m,uid=1000,gid=1000", realImage,
	), &supervisor{socket: "/bridge/bridge.sock", artifacts: folder})
}

// shared is a folder that another user can write to.
func shared(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "image") // t.TempDir is not for other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	return folder
}

// readSources lets the go command know what the tests depend on, so that it does not
// repeat an old outcome after a change.
func readSources(t *testing.T) {
	t.Helper()
	for _, root := range []string{"supervisor", "node", "../../helpers"} {
		err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(path, ".pyc") {
				return err
			}
			_, err = os.ReadFile(path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func start(t *testing.T, command *exec.Cmd, s *supervisor) *supervisor {
	t.Helper()
	readSources(t)
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stderr = t.Output()
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // the host is gone: it ends by itself
		if err := command.Wait(); err != nil {
			t.Errorf("the supervisor ended with %v", err)
		}
	})
	s.in, s.out = in, out
	var greeting wire.Greeting
	if f, err := wire.Read(out); err != nil || f.Kind != wire.Hello || json.Unmarshal(f.Payload, &greeting) != nil || greeting.Version != wire.Version {
		t.Fatalf("it says %c %q, %v", f.Kind, f.Payload, err)
	}
	s.languages = greeting.Languages
	return s
}

// bridge serves a bridge that answers calls with what they were.
func bridge(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "bridge.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(answer)}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return path
}

func answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	switch {
	case r.Header.Get("Authorization") != "Bearer "+canary:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"code":"token","message":"no token","hint":""}}`)
	case strings.Contains(r.URL.Path, "big__"): // chunked, as it is too long to be counted first
		fmt.Fprintf(w, `{"structuredContent":{"text":%q},"content":[]}`, strings.Repeat("x", 3<<20))
	case strings.Contains(r.URL.Path, "fails__"):
		fmt.Fprint(w, `{"isError":true,"content":[{"type":"text","text":"no such table"}]}`)
	case r.Method == http.MethodGet:
		fmt.Fprint(w, `{"tools":["a__b"],"name":"a__b"}`)
	default:
		fmt.Fprintf(w, `{"structuredContent":%s,"content":[]}`, body)
	}
}

// canary is the token, which no script may print by looking around.
const canary = "canary-7d31-session-token"

// outcome is what an execution came to.
type outcome struct {
	wire.Outcome
	value, stdout, stderr string
}

func (s *supervisor) run(t *testing.T, language, code string, change ...func(*wire.Job)) outcome {
	t.Helper()
	id := strconv.FormatInt(s.last.Add(1), 10)
	job := wire.Job{
		ID: id, Nonce: "nonce-" + id, Language: language, Code: code, Name: "script", Token: canary, Socket: s.socket,
		Limits: wire.Limits{WallMs: 30_000, OutputBytes: 1 << 20, OutputKillBytes: 4 << 20, ResultBytes: 8 << 20, MemoryBytes: 256 << 20},
	}
	for _, c := range change {
		c(&job)
	}
	payload, err := json.Marshal(job)
	if err != nil {
		t.Fatal(err)
	}
	if err := wire.Write(s.in, wire.Run, payload); err != nil {
		t.Fatal(err)
	}
	return s.outcome(t, job)
}

func (s *supervisor) outcome(t *testing.T, job wire.Job) (o outcome) {
	t.Helper()
	var value, stdout, stderr bytes.Buffer
	for {
		f, err := wire.Read(s.out)
		if err != nil {
			t.Fatalf("the supervisor is gone: %v", err)
		}
		switch f.Kind {
		case wire.Stdout:
			stdout.Write(f.Payload)
		case wire.Stderr:
			stderr.Write(f.Payload)
		case wire.Value:
			value.Write(f.Payload)
		case wire.Started:
		case wire.Done:
			if err := json.Unmarshal(f.Payload, &o.Outcome); err != nil {
				t.Fatalf("the outcome cannot be read: %v", err)
			}
			if o.ID != job.ID || o.Nonce != job.Nonce {
				t.Errorf("it is the outcome of %q, %q", o.ID, o.Nonce)
			}
			o.value, o.stdout, o.stderr = value.String(), stdout.String(), stderr.String()
			for _, text := range []string{o.value, o.stdout, o.stderr} {
				if strings.Contains(text, canary) {
					t.Error("the token shows")
				}
			}
			return o
		default:
			t.Fatalf("it says %c", f.Kind)
		}
	}
}

func (o outcome) want(t *testing.T, reason, value string) {
	t.Helper()
	if o.Reason != reason || value != "?" && o.value != value {
		t.Errorf("it ended with %q and %.200q, want %q and %.200q; error %+v; stdout %.200q; stderr %.300q", o.Reason, o.value, reason, value, o.Error, o.stdout, o.stderr)
	}
	if o.Leftovers {
		t.Error("something is left of it")
	}
}

func needs(t *testing.T, s *supervisor, language string) {
	t.Helper()
	if !slices.Contains(s.languages, language) {
		t.Skipf("the supervisor here does not run %s", language)
	}
}
