package servers

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"airlock/servers/toolcache"
)

// cachedManager lists from and into dir.
func cachedManager(t *testing.T, dir, servers string) *Manager {
	t.Helper()
	return managerWith(t, Options{Catalog: catalogOf(t, servers), Environ: os.LookupEnv, Keeper: keeping(), CacheDir: dir})
}

// started reports whether listing the peer's tools started it.
func started(t *testing.T, m *Manager, want int) bool {
	t.Helper()
	tools, faults := m.Tools(t.Context(), anyone)
	if len(tools) != want || len(faults) > 0 {
		t.Errorf("%d tools, faults %v, want %d", len(tools), faults, want)
	}
	if want > 0 && told(t, tools[0].InputSchema) != oddSchema {
		t.Errorf("schema %s", told(t, tools[0].InputSchema))
	}
	return m.Status()[0].Running > 0
}

func TestToolsAreListedFromTheCache(t *testing.T) {
	t.Parallel()
	dir, entry := t.TempDir(), peerEntry(t, "peer", "plain", "")
	m := cachedManager(t, dir, entry)
	if !started(t, m, 1) {
		t.Error("an empty cache was enough")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if m = cachedManager(t, dir, entry); started(t, m, 1) {
		t.Error("the server was started though its tools are cached")
	}
	if tool, err := m.Tool(t.Context(), anyone, "peer__do"); err != nil || told(t, tool.Description) != "does it" || m.Status()[0].Running > 0 {
		t.Errorf("one tool: %v, %+v", err, m.Status())
	}
	say(t, m, anyone, nil) // a call does start it
	if !started(t, m, 1) {
		t.Error("a running server was not asked")
	}
}

func TestCacheIsOnlyForTheEntryAsItWas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if m := cachedManager(t, dir, peerEntry(t, "peer", "plain", "")); !started(t, m, 1) {
		t.Fatal("not started")
	}
	if m := cachedManager(t, dir, peerEntry(t, "peer", "plain", `,"description":"edited"`)); !started(t, m, 1) {
		t.Error("the list of another entry was taken")
	}
}

func TestDamagedCacheStartsTheServer(t *testing.T) {
	t.Parallel()
	dir, entry := t.TempDir(), peerEntry(t, "peer", "plain", "")
	if err := os.MkdirAll(filepath.Join(dir, "tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tools", "peer.tools"), []byte("{]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if m := cachedManager(t, dir, entry); !started(t, m, 1) {
		t.Error("a damaged file was a list")
	}
	if m := cachedManager(t, dir, entry); started(t, m, 1) {
		t.Error("the damaged file was not replaced")
	}
}

func TestListChangedReachesTheCache(t *testing.T) {
	t.Parallel()
	for instance, want := range map[string]struct {
		started bool
		tools   int
	}{"user": {true, 1}, "shared": {false, 2}} {
		t.Run(instance, func(t *testing.T) {
			t.Parallel()
			dir, entry := t.TempDir(), peerEntry(t, "peer", "remembers", `,"instance":"`+instance+`"`)
			m := cachedManager(t, dir, entry)
			say(t, m, anyone, json.RawMessage(`{"act":"remember","text":"x"}`))
			started(t, m, 2)
			if err := m.Close(); err != nil { // also waits for what the notification set off
				t.Fatal(err)
			}
			m = cachedManager(t, dir, entry)
			cached, _, hit := m.cache.Get("peer", m.byName["peer"].cacheKey())
			if instance == "user" && hit {
				t.Errorf("what one user's server lists is cached for all: %s", cached)
			}
			if got := started(t, m, want.tools); got != want.started {
				t.Errorf("started: %v, want %v", got, want.started)
			}
		})
	}
}

func TestCachedListOfAnUnversionedProgramExpires(t *testing.T) {
	t.Parallel()
	tool := []json.RawMessage{json.RawMessage(`{"name":"do","inputSchema":` + oddSchema + `}`)}
	versioned := `"peer":{"package":{"type":"npm","name":"@nobody/none","version":"1.0.0"},"inheritEnv":[],"env":{"PATH":"/nowhere"}}`
	for name, c := range map[string]struct {
		entry string
		age   time.Duration
		fails bool // as the program is not there, and so would show a start
	}{
		"a version's, old":   {versioned, 1000 * time.Hour, false},
		"a program's, young": {`"peer":{"command":"/nowhere/at/all"}`, time.Hour, false},
		"a program's, old":   {`"peer":{"command":"/nowhere/at/all"}`, 25 * time.Hour, true},
		"from the future":    {versioned, -time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			cache, err := toolcache.Open(filepath.Join(dir, "tools"))
			if err != nil {
				t.Fatal(err)
			}
			m := cachedManager(t, dir, c.entry)
			if err := errors.Join(cache.Put("peer", m.byName["peer"].cacheKey(), tool, time.Now().Add(-c.age)), cache.Close()); err != nil {
				t.Fatal(err)
			}
			tools, faults := m.Tools(t.Context(), anyone)
			if (len(faults) > 0) != c.fails || len(tools) > 0 == c.fails {
				t.Errorf("%d tools, faults %v", len(tools), faults)
			}
			if c.fails && !strings.Contains(faults[0].Err.Error(), "start server") {
				t.Errorf("fault: %v", faults[0].Err)
			}
		})
	}
}
