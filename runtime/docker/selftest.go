package docker

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"airlock/ident"
	"airlock/runtime/sandbox"
)

//go:embed selftest.py
var isolationTest string

// leastProbes is what a test that ran to its end has tried, and more.
const leastProbes = 150

var errNotIsolated = errors.New("the sandbox does not isolate scripts and is not used")

// findings is the result of the isolation's test.
type findings struct {
	Probes int      `json:"probes"`
	Found  []string `json:"found"`
}

// testIsolation runs a script in a container that tries what must be impossible.
func (b *Backend) testIsolation(ctx context.Context) error {
	if b.o.untested {
		return nil
	}
	folders, err := b.foldersOf(nil)
	if err != nil {
		return err
	}
	shared, err := b.instance.folder()
	if err != nil {
		return err
	}
	defer os.RemoveAll(shared)
	folders = append(folders, sandbox.Mount{Guest: "/workspace", Host: shared})
	c, err := b.pool.make(ctx, folders)
	if err != nil {
		return err
	}
	defer b.pool.drop(c)
	var called atomic.Bool
	x := sandbox.Execution{
		ID: ident.NewExecution(), Language: sandbox.Python, Code: isolationTest, Name: "isolation", Limits: b.o.Limits,
		Bridge: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			called.Store(true)
			w.WriteHeader(http.StatusNoContent)
		}),
	}
	x.Limits.Wall = max(x.Limits.Wall, 30*time.Second)
	e := &execution{x: x, script: script{language: x.Language, code: x.Code, name: x.Name}, container: c, backend: b, log: b.log, output: newOutput(x)}
	timed, release := clock(x).Start(ctx)
	defer release()
	result, err := e.run(timed)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return fmt.Errorf("test the sandbox's isolation: %w", err)
	}
	_, err = os.Stat(filepath.Join(shared, "airlock-probe"))
	return e.judge(result, map[string]bool{
		"calls do not arrive through the socket's folder": called.Load(), "files do not arrive in the host's folder": err == nil,
	})
}

// judge reads the test's own text, which comes from our script, not from a user's.
func (e *execution) judge(r sandbox.Result, required map[string]bool) error {
	if r.Reason != sandbox.ReasonOK {
		return fmt.Errorf("%w: its test ended with %q%s; run make sandbox-image", errNotIsolated, r.Reason, e.complaint)
	}
	var f findings
	if err := json.Unmarshal(e.value, &f); err != nil || f.Probes < leastProbes {
		return fmt.Errorf("%w: its test did not run to the end; run make sandbox-image", errNotIsolated)
	}
	for complaint, holds := range required {
		if !holds {
			f.Found = append(f.Found, complaint)
		}
	}
	if len(f.Found) > 0 {
		return fmt.Errorf("%w: %s", errNotIsolated, clean(strings.Join(f.Found, "; "), 2000))
	}
	return nil
}
