package docker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"airlock/runtime/sandbox"
	"airlock/runtime/sandbox/sandboxtest"
)

// TestManySessionsLoseNothing is twenty sessions at once with five executions each.
func TestManySessionsLoseNothing(t *testing.T) {
	needImage(t)
	o := real(t)
	o.Log = nil
	b := backend(t, o) // which fails the test if a container is left
	var all sync.WaitGroup
	for n := range 20 {
		all.Go(func() {
			s := open(t, b)
			files, dir := workspace(t)
			for i := range 5 {
				x := order(fmt.Sprintf(`with open("/workspace/n", "a") as f: f.write("%d")
result = %d`, i, n*10+i))
				x.Language, x.Files, x.Limits.Wall = sandbox.Python, files, time.Minute
				r, err := s.Run(t.Context(), x)
				if got := sandboxtest.Text(t, r.Value); err != nil || got != fmt.Sprint(n*10+i) {
					t.Errorf("session %d, execution %d: %q, %q and %v (%s)", n, i, r.Reason, got, err, message(t, r))
				}
			}
			if data, err := os.ReadFile(filepath.Join(dir, "n")); err != nil || string(data) != "01234" {
				t.Errorf("session %d wrote %q (%v)", n, data, err)
			}
			if err := s.Close(); err != nil {
				t.Errorf("session %d: %v", n, err)
			}
		})
	}
	all.Wait()
}

func TestAHoleInTheIsolationIsFound(t *testing.T) {
	t.Parallel()
	for name, found := range map[string]string{
		"a hole": `{"probes":500,"found":["a socket of family 2 can be made"]}`, "too few probes": `{"probes":3,"found":[]}`,
		"no result": ``, "not a result": `[]`,
	} {
		e := &execution{value: []byte(found)}
		if err := e.judge(sandbox.Result{Reason: sandbox.ReasonOK}, nil); !errors.Is(err, errNotIsolated) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e := &execution{value: []byte(`{"probes":500,"found":[]}`)}
	if err := e.judge(sandbox.Result{Reason: sandbox.ReasonOK}, map[string]bool{"a": false}); !errors.Is(err, errNotIsolated) {
		t.Errorf("a requirement that does not hold: %v", err)
	}
	if err := e.judge(sandbox.Result{Reason: sandbox.ReasonError}, nil); !errors.Is(err, errNotIsolated) {
		t.Errorf("a test that failed: %v", err)
	}
	if err := e.judge(sandbox.Result{Reason: sandbox.ReasonOK}, map[string]bool{"a": true}); err != nil {
		t.Errorf("nothing: %v", err)
	}
}
