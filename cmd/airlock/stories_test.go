package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain makes the test binary the program itself where a story or the sandbox
// starts it as such.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerCommand {
		os.Exit(runWorker(context.Background()))
	}
	if len(os.Args) > 2 && os.Args[1] == keeperCommand {
		os.Exit(run(context.Background(), os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
	}
	testscript.Main(m, map[string]func(){"airlock": main})
}

// TestStories runs what people type, with real processes: see testdata/stories.
func TestStories(t *testing.T) {
	t.Parallel()
	catalog, err := filepath.Abs("../../catalog.json")
	if err != nil {
		t.Fatal(err)
	}
	everything, err := filepath.Abs("../../test/npm/node_modules/.bin/mcp-server-everything")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/stories",
		Setup: func(e *testscript.Env) error {
			e.Setenv("CATALOG", catalog)
			e.Setenv("SANDBOX_BACKEND", "wasm")
			e.Setenv("DATA_DIR", filepath.Join(e.WorkDir, "data"))
			e.Setenv("EVERYTHING", everything)
			return nil
		},
	})
}
