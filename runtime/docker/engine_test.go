package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"airlock/ident"
	"airlock/runtime/sandbox"
	"airlock/runtime/sandbox/sandboxtest"
)

const (
	// standinImage is an image of nothing but testdata/standin.
	standinImage = "airlock-standin:test"
	// realImage is what "make sandbox-image" makes.
	realImage = "airlock-sandbox:latest"
)

// missing says why tests that need an engine cannot run; "" if they can.
var missing = sync.OnceValue(func() string {
	api, err := client.New()
	if err != nil {
		return err.Error()
	}
	defer api.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if _, err := api.Ping(ctx, client.PingOptions{}); err != nil {
		return "no Docker engine answers; start one with scripts/docker-engine.sh"
	}
	return ""
})

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == victimArgument {
		os.Exit(beVictim(os.Args[2], os.Args[3]))
	}
	if why := missing(); why != "" {
		fmt.Fprintln(os.Stderr, "skipping the tests of the docker sandbox:", why)
	}
	goleak.VerifyTestMain(m)
}

// needEngine skips a test that cannot run here, unless it has to.
func needEngine(t testing.TB) {
	t.Helper()
	why := missing()
	switch {
	case why == "":
	case os.Getenv("AIRLOCK_REQUIRE_DOCKER") == "1":
		t.Fatal(why)
	default:
		t.Skip(why)
	}
}

// needImage is needEngine that needs the sandbox's image as well.
func needImage(t testing.TB) {
	t.Helper()
	needEngine(t)
	api := must(client.New())(t)
	defer api.Close()
	if _, err := api.ImageInspect(t.Context(), realImage); err != nil {
		if os.Getenv("AIRLOCK_REQUIRE_DOCKER") == "1" {
			t.Fatal("the image is missing; run make sandbox-image")
		}
		t.Skip("the image is missing; run make sandbox-image")
	}
}

// must makes a test fail where a value could not be made.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var standin sync.Once

// needStandin builds and imports the stand-in's image, once.
func needStandin(t testing.TB) {
	t.Helper()
	needEngine(t)
	standin.Do(func() {
		program := filepath.Join(t.TempDir(), "standin")
		build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./testdata/standin")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build the stand-in: %v\n%s", err, out)
		}
		api := must(client.New())(t)
		defer api.Close()
		old, _ := api.ImageInspect(t.Context(), standinImage)
		answer, err := api.ImageImport(t.Context(), client.ImageImportSource{Source: standinTar(t, program), SourceName: "-"}, standinImage,
			client.ImageImportOptions{Changes: []string{`ENTRYPOINT ["/standin"]`}})
		if err != nil {
			t.Fatalf("import the stand-in: %v", err)
		}
		defer answer.Close()
		if _, err := io.Copy(io.Discard, answer); err != nil {
			t.Fatalf("import the stand-in: %v", err)
		}
		if old.ID != "" {
			_, _ = api.ImageRemove(t.Context(), old.ID, client.ImageRemoveOptions{}) // if nobody else uses it
		}
	})
}

func standinTar(t testing.TB, program string) io.Reader {
	t.Helper()
	data := must(os.ReadFile(program))(t)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, dir := range []string{"bridge", "workspace", "artifacts", "skills", "skills/library", "tools", "tmp", "proc", "sys", "dev", "etc"} {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "standin", Mode: 0o755, Size: int64(len(data))}); err != nil {
		t.Fatal(err)
	}
	_, err := w.Write(data)
	must(w, err)(t)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// options are for containers with the stand-in, belonging to one test alone.
func options(t testing.TB) Options {
	t.Helper()
	return Options{
		Image: standinImage, Dir: t.TempDir(), InstallationID: "test-" + strings.ToLower(string(ident.NewTask())[5:17]),
		Pool: 1, Log: zaptest.NewLogger(t), untested: true,
	}
}

func backend(t testing.TB, o Options) *Backend {
	t.Helper()
	b := must(New(o))(t)
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if n := containers(t, o); n != 0 {
			t.Errorf("%d containers are left", n)
		}
	})
	return b
}

// containers counts those of a test's installation.
func containers(t testing.TB, o Options) int {
	t.Helper()
	o = must(o.complete())(t)
	e := must(newEngine(o))(t)
	defer e.close()
	return len(must(e.list(context.Background(), nil))(t))
}

func open(t testing.TB, b *Backend) *session {
	t.Helper()
	box := must(b.Open(t.Context(), ident.NewSession()))(t)
	s, ok := box.(*session)
	if !ok {
		t.Fatalf("Open returned a %T", box)
	}
	return s
}

// order is an execution of the stand-in's orders, with its own short time.
func order(code string) sandbox.Execution {
	limits := sandbox.DefaultLimits()
	limits.Wall = 20 * time.Second
	return sandbox.Execution{ID: ident.NewExecution(), Language: sandbox.Bash, Code: code, Token: "canary-token", Limits: limits}
}

func run(t testing.TB, s *session, x sandbox.Execution) sandbox.Result {
	t.Helper()
	r, err := s.Run(t.Context(), x)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return r
}

// stdout runs orders that must end well and returns what they printed.
func stdout(t testing.TB, s *session, code string) string {
	t.Helper()
	r := run(t, s, order(code))
	if r.Reason != sandbox.ReasonOK {
		t.Fatalf("%q ended with %q (%s)", code, r.Reason, message(t, r))
	}
	return sandboxtest.Text(t, r.Stdout)
}

func message(t testing.TB, r sandbox.Result) string {
	t.Helper()
	if r.Error == nil {
		return "no error"
	}
	return r.Error.Name + ": " + sandboxtest.Text(t, r.Error.Message)
}
