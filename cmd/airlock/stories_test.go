package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	testscript.Main(m, map[string]func(){"airlock": main, natsNode: runNATSNode})
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
		Dir:  "testdata/stories",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			e.Setenv("CATALOG", catalog)
			e.Setenv("SANDBOX_BACKEND", "wasm")
			e.Setenv("MCP_PORT", "0")
			e.Setenv("DATA_DIR", filepath.Join(e.WorkDir, "data"))
			e.Setenv("EVERYTHING", everything)
			return nil
		},
	})
}

// exits runs a command that must end with the given code: exits 2 airlock serve
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARGUMENT ...]")
	}
	code, failed := "0", (*exec.ExitError)(nil)
	switch err := ts.Exec(args[1], args[2:]...); {
	case errors.As(err, &failed):
		code = strconv.Itoa(failed.ExitCode())
	case err != nil:
		ts.Fatalf("run %s: %v", args[1], err)
	}
	if code != args[0] {
		ts.Fatalf("the exit code is %s, want %s", code, args[0])
	}
}
