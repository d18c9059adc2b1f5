package orchestrator

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"airlock/ident"
	"airlock/orchestrator/llm/llmtest"
	"airlock/runtime/sandbox"
)

// TestAVaultGoesWithTheLastFileThatNeedsIt lets one session write two files, which go
// by their user and by their age.
func TestAVaultGoesWithTheLastFileThatNeedsIt(t *testing.T) {
	t.Parallel()
	name := "a.txt"
	s := newTestService(t, llmtest.NewScript(), func(ctx context.Context, x sandbox.Execution) sandbox.Result {
		return writes(name, func() string { return "x" })(ctx, x)
	})
	s.opts.ArtifactAge = 24 * time.Hour
	var session ident.Session
	for _, name = range []string{"a.txt", "b.txt"} {
		out, err := s.Execute(t.Context(), ExecuteRequest{User: user, Session: session, Language: sandbox.JavaScript, Code: "x"})
		if err != nil || len(out.Artifacts) != 1 {
			t.Fatalf("execute: %v, %+v", err, out.Error)
		}
		session = out.Session
	}
	if err := s.DeleteArtifact(t.Context(), user, "a.txt"); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteArtifact(t.Context(), user, "a.txt"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("deleting it again: %v", err)
	}
	vault := func() bool {
		t.Helper()
		if err := errors.Join(s.sessions.endIdle(0), s.kept.forgetOld(t.Context(), time.Now())); err != nil {
			t.Fatal(err)
		}
		v, err := s.kept.opened(t.Context(), s.opts.Pseudonym.User(user), session)
		if err != nil {
			t.Fatal(err)
		}
		return v != nil
	}
	if !vault() {
		t.Error("b.txt needs the vault")
	}
	if err := s.expireArtifacts(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	if files, err := s.Artifacts(t.Context(), user); err != nil || len(files) != 1 {
		t.Errorf("a young file expired: %v, %v", files, err)
	}
	if err := s.expireArtifacts(t.Context(), time.Now().Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if files, err := s.Artifacts(t.Context(), user); err != nil || len(files) != 0 {
		t.Errorf("an old file is there: %v, %v", files, err)
	}
	if vault() {
		t.Error("nothing needs the vault")
	}
}
