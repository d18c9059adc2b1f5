package servers

import (
	"os"
	"strings"
	"testing"
)

func TestKnownToolsStartNoProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	entries := `"echo": {"transport":"builtin"}, ` + peerEntry(t, "peer", "plain", "")
	open := func() *Manager {
		return managerWith(t, Options{
			Catalog: catalogOf(t, entries), Builtins: map[string]Builtin{"echo": echoServer}, Environ: os.LookupEnv, Keeper: keeping(), CacheDir: dir,
		})
	}
	known := func(m *Manager, c Caller) string {
		seen := map[string]bool{}
		for _, tool := range m.KnownTools(t.Context(), c) {
			seen[tool.Server] = true
		}
		var names []string
		for _, name := range []string{"echo", "peer"} {
			if seen[name] {
				names = append(names, name)
			}
		}
		return strings.Join(names, " ")
	}
	running := func(m *Manager) bool {
		for _, s := range m.Status() {
			if s.Server == "peer" && s.Running > 0 {
				return true
			}
		}
		return false
	}
	m := open()
	if got := known(m, anyone); got != "echo" || running(m) {
		t.Errorf("knows %q before anybody asked", got)
	}
	if _, faults := m.Tools(t.Context(), anyone); len(faults) > 0 {
		t.Fatal(faults)
	}
	if got := known(m, anyone); got != "echo peer" {
		t.Errorf("knows %q after a listing", got)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if m = open(); known(m, anyone) != "echo peer" || running(m) {
		t.Errorf("knows %q in a later run", known(m, anyone))
	}
}
