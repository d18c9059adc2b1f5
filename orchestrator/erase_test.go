package orchestrator

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// filesWith lists the files of a folder whose name or content holds a text.
func filesWith(t *testing.T, dir, text string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains([]byte(path), []byte(text)) || bytes.Contains(content, []byte(text)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestErasedUserLeavesNothing looks for what is left of a user in the whole data folder:
// by the pseudonym, under which everything is kept, and by the values themselves.
func TestErasedUserLeavesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begun := make(chan struct{}, 1)
	model := llmtest.NewScript(
		llmtest.Turn{Calls: []llm.Call{executeCall("a")}}, llmtest.Turn{Text: "Done for ann@example.org."},
		llmtest.Turn{Calls: []llm.Call{executeCall("a")}}, llmtest.Turn{Text: "Done."},
		llmtest.Turn{Calls: []llm.Call{executeCall("wait")}})
	s := process(t, dir, model, func(ctx context.Context, x sandbox.Execution) sandbox.Result {
		if x.Code == "wait" {
			return waits(begun)(ctx, x)
		}
		result := writes("notes.txt", func() string { return "for " + x.Code })(ctx, x)
		result.Value = pii.NewRaw(`"ann@example.org"`)
		return result
	})
	erased, other := ident.User("ann@example.org"), ident.User("bob@example.org")
	var kept Task
	for _, u := range []ident.User{erased, other} {
		kept = runTask(t, s, TaskRequest{
			User: u, Text: pii.NewRaw("Write to ann@example.org."), Repeat: Repeat{Key: "k"},
			Files: []Upload{{Name: "list.csv", Data: bytes.Repeat([]byte("ann@example.org\n"), 100_000)}},
		})
		if kept.Status != StatusCompleted || len(kept.Artifacts) != 1 {
			t.Fatalf("ended %s %+v with %d artifacts", kept.Status, kept.Problem, len(kept.Artifacts))
		}
	}
	running, err := s.Submit(t.Context(), TaskRequest{User: erased, Text: pii.NewRaw("Run for ever.")})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	for range 2 {
		if err := s.EraseUser(t.Context(), erased); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Task(erased, running); !errors.Is(err, ErrNotFound) {
		t.Errorf("the task that ran gives %v", err)
	}
	if list := tasksOf(t, s, erased); len(list) != 0 {
		t.Errorf("%d tasks are left", len(list))
	}
	if files, err := s.Artifacts(t.Context(), erased); err != nil || len(files) != 0 {
		t.Errorf("%d files are left, %v", len(files), err)
	}
	if again, err := s.Task(other, kept.ID); err != nil || again.Message != kept.Message {
		t.Errorf("another user's task: %v", err)
	}
	if file, err := s.ReadArtifact(t.Context(), other, "notes.txt"); err != nil || len(file.Vaults) != 1 {
		t.Errorf("another user's file is read with %d vaults, %v", len(file.Vaults), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	die(t, s)
	if left := filesWith(t, dir, "ann@example.org"); len(left) != 0 {
		t.Errorf("a value is in clear in %v", left)
	}
	for _, place := range []string{"workspaces", "artifacts", "skills"} {
		if left := filesWith(t, filepath.Join(dir, place), s.opts.Pseudonym.User(erased)); len(left) != 0 {
			t.Errorf("the user's files are left: %v", left)
		}
	}
}
