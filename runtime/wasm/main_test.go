package wasm

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
	"go.uber.org/zap/zaptest"

	"airlock/ident"
	"airlock/runtime/helpers"
	"airlock/runtime/sandbox"
)

// workerArgument makes the test program a worker.
const workerArgument = "wasm-worker"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerArgument {
		if err := WorkerMain(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(runTests(m))
}

// codeCache is the folder in which the tests share compiled code.
var codeCache string

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "wasm-cache-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	codeCache = dir
	status := m.Run()
	if err := goleak.Find(); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// options make workers of the test program itself.
func options(t testing.TB) Options {
	return Options{
		Worker: []string{"/proc/self/exe", workerArgument}, Prelude: helpers.JavaScript(),
		Spares: 1, CacheDir: codeCache, Log: zaptest.NewLogger(t),
	}
}

func backend(t *testing.T, o Options) *Backend {
	t.Helper()
	b, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return b
}

func open(t *testing.T, b *Backend) *session {
	t.Helper()
	box, err := b.Open(t.Context(), ident.NewSession())
	if err != nil {
		t.Fatal(err)
	}
	s, ok := box.(*session)
	if !ok {
		t.Fatalf("Open returned a %T", box)
	}
	return s
}

func script(code string) sandbox.Execution {
	return sandbox.Execution{Language: sandbox.JavaScript, Code: code, Limits: sandbox.DefaultLimits()}
}
