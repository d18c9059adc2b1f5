package orchestrator

import (
	"errors"
	"strings"
	"testing"

	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
)

func TestSessionsCanBeNamedAndForgotten(t *testing.T) {
	t.Parallel()
	s := newTestService(t, llmtest.NewScript(llmtest.Turn{Text: "Hello."}, llmtest.Turn{Text: "Again."}), nil)
	first := runTask(t, s, TaskRequest{User: user, Text: pii.NewRaw("Greet ann@example.org")})
	if !strings.HasPrefix(first.Text.String(), "Greet [EMAIL_1_") {
		t.Errorf("the task's text is %q", first.Text)
	}
	if len(first.Protected) != 1 || first.Protected[0] != (Protected{Type: "EMAIL", Count: 1, New: 1}) {
		t.Errorf("the task kept %+v", first.Protected)
	}
	if err := s.Rename(user, first.Session, pii.NewRaw("Hello Ann")); err != nil {
		t.Fatal(err)
	}
	second := runTask(t, s, TaskRequest{User: user, Session: first.Session, Text: pii.NewRaw("Greet ann@example.org again")})
	if second.Protected[0].New != 0 || second.Protected[0].Count != 1 {
		t.Errorf("the second task kept %+v", second.Protected)
	}
	for _, task := range tasksOf(t, s, user) {
		if task.Title.String() != "Hello Ann" {
			t.Errorf("the title is %q", task.Title)
		}
	}
	for what, err := range map[string]error{
		"of another user": s.Rename("somebody", first.Session, pii.NewRaw("x")),
		"of none":         s.Rename(user, "ses_none", pii.NewRaw("x")),
	} {
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("renaming a session %s: %v", what, err)
		}
	}
	if err := s.Rename(user, first.Session, pii.NewRaw(strings.Repeat("x", 201))); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a title too long: %v", err)
	}
	if err := s.EraseSession(t.Context(), "somebody", first.Session); !errors.Is(err, ErrNotFound) {
		t.Errorf("erasing another user's session: %v", err)
	}
	if err := s.EraseSession(t.Context(), user, first.Session); err != nil {
		t.Fatal(err)
	}
	if left := tasksOf(t, s, user); len(left) != 0 {
		t.Errorf("%d tasks are left", len(left))
	}
	if _, err := first.Vault.Detokenize(first.Text); !errors.Is(err, pii.ErrErased) {
		t.Errorf("the vault still knows its values: %v", err)
	}
}
