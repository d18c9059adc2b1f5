package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"airlock/ident"
	"airlock/orchestrator/state"
	"airlock/workspace/mirror"
)

// newMirrored opens a store of a process that mirrors its folders.
func newMirrored(t *testing.T, kept *state.KV) *Store {
	t.Helper()
	m, err := mirror.New(kept, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Dir: t.TempDir(), Mirror: m})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.Close(), m.Close() })
	return s
}

func openKept(t *testing.T) *state.KV {
	t.Helper()
	kept, err := state.Open(t.Context(), state.Options{Dir: t.TempDir(), Key: make([]byte, state.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = kept.Close() })
	return kept.Kept()
}

func TestArtifactsOfADeadProcessExpire(t *testing.T) {
	t.Parallel()
	kept := openKept(t)
	dead, alive := newMirrored(t, kept), newMirrored(t, kept)
	dir, err := dead.Artifacts("ann")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	for name, age := range map[string]time.Duration{"old": 48 * time.Hour, "young": time.Hour} {
		put(t, filepath.Join(dir, name), name)
		if err := os.Chtimes(filepath.Join(dir, name), now, now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := dead.KeepArtifacts(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		expired, err := alive.Expire(t.Context(), now.Add(-24*time.Hour), now)
		if err != nil || len(expired) > 1 {
			t.Fatalf("expired %v, %v", expired, err)
		}
	}
	if err := dead.FetchArtifacts(t.Context(), "ann"); err != nil {
		t.Fatal(err)
	}
	if left, err := dead.List("ann"); err != nil || len(left) != 1 || left[0].Name != "young" {
		t.Errorf("there is left %v, %v", left, err)
	}
}

func TestWorkspacesOfEndedSessionsAreNotKept(t *testing.T) {
	t.Parallel()
	kept := openKept(t)
	s := newMirrored(t, kept)
	session := func(id ident.Session) {
		t.Helper()
		dir, err := s.Session("ann", id)
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, "file"), "x")
		if err := s.KeepSession(t.Context(), "ann", id); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (names []string) {
		t.Helper()
		names, err := kept.List(t.Context(), "ann", "folders/workspaces")
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	session("lives")
	session("ended")
	tidy := func() error {
		return s.Tidy(t.Context(), func(id ident.Session) bool { return id == "lives" })
	}
	if err := tidy(); err != nil || len(left()) != 2 {
		t.Fatalf("%v are left, %v; one may be of a session that is not known yet", left(), err)
	}
	old := `{"version":1,"at":"2020-01-01T00:00:00Z","list":{}}`
	for _, name := range []string{"ended", "lives"} {
		if err := kept.Put(t.Context(), "ann", "folders/workspaces/"+name, []byte(old)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tidy(); err != nil || len(left()) != 1 {
		t.Errorf("%v are left, %v", left(), err)
	}
	if packs, err := kept.List(t.Context(), "ann", "packs/workspaces/ended"); err != nil || len(packs) != 0 {
		t.Errorf("there are packs %v, %v", packs, err)
	}
}

func TestWhoTakesOverAWorkspaceIsNotDisturbed(t *testing.T) {
	t.Parallel()
	kept := openKept(t)
	slow, next := newMirrored(t, kept), newMirrored(t, kept)
	const id = ident.Session("s")
	for _, s := range []*Store{slow, next} { // next comes later
		if err := s.TakeOver(t.Context(), "ann", id); err != nil {
			t.Fatal(err)
		}
	}
	dir, err := slow.Session("ann", id)
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "late"), "x")
	if err := slow.KeepSession(t.Context(), "ann", id); !errors.Is(err, ErrMoved) {
		t.Errorf("who had it before got %v", err)
	}
	if err := next.KeepSession(t.Context(), "ann", id); err != nil {
		t.Errorf("who has it got %v", err)
	}
}
