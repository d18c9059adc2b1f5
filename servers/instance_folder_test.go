package servers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"airlock/ident"
)

// TestMemoryIsKeptApart gives two users the same knowledge graph server, the
// real one, which keeps what it is told in a file.
func TestMemoryIsKeptApart(t *testing.T) {
	t.Parallel()
	anna, again, ben := Caller{User: "anna@example.com", Session: "s1"}, Caller{User: "anna@example.com", Session: "s2"}, Caller{User: "ben", Session: "s3"}
	for instance, knows := range map[string]struct{ again, ben bool }{
		"shared": {true, true}, "user": {true, false}, "session": {false, false},
	} {
		t.Run(instance, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			entry := fmt.Sprintf(`"memory":{"command":%q,"env":{"MEMORY_FILE_PATH":"${instance:folder}/graph.jsonl"},"instance":%q,%s}`,
				npmProgramPath(t, "mcp-server-memory"), instance, patient)
			o := Options{Catalog: catalogOf(t, entry), Environ: os.LookupEnv, Keeper: keeping(), DataDir: dir, Pseudonym: ident.NewPseudonym([]byte("0123456789abcdef"))}
			m := managerWith(t, o)
			result, err := m.Call(t.Context(), anna, "memory__create_entities",
				json.RawMessage(`{"entities":[{"name":"Kite","entityType":"boat","observations":["moored at pier 9"]}]}`))
			if err != nil || result.IsError {
				t.Fatal(err)
			}
			for _, c := range []struct {
				who  Caller
				want bool
			}{{anna, true}, {again, knows.again}, {ben, knows.ben}} {
				if got := recalls(t, m, c.who, "pier 9"); got != c.want {
					t.Errorf("%s in %s reads what was told: %v, want %v", c.who.User, c.who.Session, got, c.want)
				}
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			if !recalls(t, managerWith(t, o), anna, "pier 9") {
				t.Error("forgotten with the process")
			}
			assertNoUserInNames(t, dir)
		})
	}
}

func recalls(t *testing.T, m *Manager, c Caller, what string) bool {
	t.Helper()
	result, err := m.Call(t.Context(), c, "memory__read_graph", nil)
	if err != nil || result.IsError {
		t.Fatalf("read_graph: %v", err)
	}
	return strings.Contains(told(t, result.JSON), what)
}

func assertNoUserInNames(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if rest := strings.TrimPrefix(path, dir); strings.Contains(rest, "anna") || strings.Contains(rest, "ben") {
			t.Errorf("%s names a user", rest)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestEndedSessionLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, instance := range []string{"session", "user", "shared"} {
		t.Run(instance, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			m := managerWith(t, Options{
				Catalog: catalogOf(t, peerEntry(t, "peer", "plain", fmt.Sprintf(`,"cwd":"${instance:folder}","instance":%q`, instance))),
				Environ: os.LookupEnv, Keeper: keeping(), DataDir: data,
			})
			other := Caller{User: anyone.User, Session: "ses_2"}
			mine := watch(t, say(t, m, anyone, act("pid")))
			say(t, m, other, act("pid"))
			before := folders(t, data)
			if err := m.EndSession(anyone); err != nil {
				t.Fatal(err)
			}
			want, running := before, m.Status()[0].Running
			if instance == "session" {
				mine.assertEnds(t)
				want--
			}
			if got := folders(t, data); got != want || running != want {
				t.Errorf("%d folders and %d processes are left of %d, want %d", got, running, before, want)
			}
			say(t, m, other, nil)
			if err := m.EndSession(Caller{User: "nobody", Session: "ses_3"}); err != nil {
				t.Errorf("a session that used nothing: %v", err)
			}
		})
	}
}

func TestErasedUserLeavesNothing(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	m := managerWith(t, Options{
		Catalog: catalogOf(t, peerEntry(t, "peer", "plain", `,"cwd":"${instance:folder}","instance":"user"`)),
		Environ: os.LookupEnv, Keeper: keeping(), DataDir: data, Pseudonym: ident.NewPseudonym([]byte("0123456789abcdef")),
	})
	other := Caller{User: "ben", Session: "ses_2"}
	mine := watch(t, say(t, m, anyone, act("pid")))
	say(t, m, other, act("pid"))
	folder := "user-" + m.options.Pseudonym.User(anyone.User)
	if err := os.MkdirAll(filepath.Join(data, "removed", folder, "x"), 0o700); err != nil { // of a server that was in the catalog
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "notes.txt"), nil, 0o600); err != nil { // is in nobody's way
		t.Fatal(err)
	}
	for range 2 {
		if err := m.EraseUser(anyone.User); err != nil {
			t.Fatal(err)
		}
	}
	mine.assertEnds(t)
	for _, server := range []string{"peer", "removed"} {
		if _, err := os.Stat(filepath.Join(data, server, folder)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what %s kept is left: %v", server, err)
		}
	}
	if left, running := folders(t, data), m.Status()[0].Running; left != 1 || running != 1 {
		t.Errorf("%d folders and %d processes are left, want the other user's", left, running)
	}
	say(t, m, anyone, nil)
	if err := managerWith(t, Options{Catalog: catalogOf(t, `"a":{"command":"x"}`), DataDir: filepath.Join(data, "none")}).EraseUser("ben"); err != nil {
		t.Errorf("without a folder: %v", err)
	}
}

func folders(t *testing.T, data string) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(data, "peer"))
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestPruneRemovesSessionsFoldersOnly(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m := managerWith(t, Options{Catalog: catalogOf(t, `"a":{"command":"x"},"b":{"command":"x"}`), DataDir: dir})
	for _, name := range []string{"a/session-1/x", "a/user-1", "a/shared", "other/session-1"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Prune(); err != nil {
		t.Fatal(err)
	}
	for name, stays := range map[string]bool{"a/session-1": false, "a/user-1": true, "a/shared": true, "other/session-1": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); errors.Is(err, fs.ErrNotExist) == stays {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := managerWith(t, Options{Catalog: catalogOf(t, `"a":{"command":"x"}`), DataDir: filepath.Join(dir, "none")}).Prune(); err != nil {
		t.Errorf("without a folder: %v", err)
	}
}

func TestInstanceFolderNeedsADataDir(t *testing.T) {
	t.Parallel()
	m := managerOf(t, `"a":{"command":"x","args":["${instance:folder}"]}`, nil)
	_, err := m.Call(t.Context(), anyone, "a__x", nil)
	if !errors.Is(err, ErrUpstream) || !strings.Contains(err.Error(), "there is no folder for data; check DATA_DIR") {
		t.Errorf("%v", err)
	}
}
