package orchestrator

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"airlock/ident"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/servers"
)

// writes plays a script that leaves an artifact with what it was given.
func writes(name string, text func() string) scriptFunc {
	return func(_ context.Context, x sandbox.Execution) sandbox.Result {
		if err := x.Files.WriteFile("/artifacts/"+name, []byte(text())); err != nil {
			return sandbox.Result{Reason: sandbox.ReasonError, Error: &sandbox.ScriptError{Name: "Error", Message: pii.NewRaw(err.Error())}}
		}
		return sandbox.Result{Reason: sandbox.ReasonOK}
	}
}

func TestArtifactsOutliveTheirSessionUntilItIsErased(t *testing.T) {
	t.Parallel()
	var token string
	s := newTestService(t, llmtest.NewScript(), writes("a.txt", func() string { return token }), func(l *Limits) { l.SessionIdle = time.Nanosecond })
	first, err := s.sessions.take(user, "")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := first.vault.Tokenize(pii.NewRaw("ann@example.org"), pii.OriginUser)
	if err != nil {
		t.Fatal(err)
	}
	token = tok.String()
	s.sessions.release(first)
	out, err := s.Execute(t.Context(), ExecuteRequest{User: user, Session: first.id, Language: sandbox.JavaScript, Code: "x"})
	if err != nil || len(out.Artifacts) != 1 {
		t.Fatalf("execute: %v, %d artifacts: %+v", err, len(out.Artifacts), out.Error)
	}
	values := func() []string {
		t.Helper()
		file, err := s.ReadArtifact(t.Context(), user, "a.txt")
		if err != nil {
			t.Fatal(err)
		}
		var known []string
		for _, v := range file.Vaults {
			uses, err := v.Uses(v.FromModel(string(file.Data)))
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range uses {
				known = append(known, u.Token)
			}
		}
		return known
	}
	if got := values(); len(got) != 1 {
		t.Errorf("while the session lives, %v is known", got)
	}
	if err := s.sessions.endIdle(0); err != nil {
		t.Fatal(err)
	}
	if s.sessions.vault(first.id) != nil {
		t.Fatal("the session is still there")
	}
	if got := values(); len(got) != 1 {
		t.Errorf("after the session, %v is known", got)
	}
	if err := s.EraseSession(t.Context(), "somebody", first.id); !errors.Is(err, ErrNotFound) {
		t.Errorf("another user erased the session: %v", err)
	}
	if err := s.EraseSession(t.Context(), user, first.id); err != nil {
		t.Fatal(err)
	}
	if got := values(); len(got) != 0 {
		t.Errorf("after erasing, %v is known", got)
	}
	if err := s.EraseSession(t.Context(), user, first.id); !errors.Is(err, ErrNotFound) {
		t.Errorf("erasing again gave %v, want ErrNotFound", err)
	}
}

func TestSessionAtWorkIsNotErased(t *testing.T) {
	t.Parallel()
	s := newTestService(t, llmtest.NewScript(), returns("1"))
	held, err := s.sessions.take(user, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.sessions.release(held)
	if err := s.EraseSession(t.Context(), user, held.id); !errors.Is(err, ErrWorking) {
		t.Errorf("got %v, want ErrWorking", err)
	}
}

// ended records the sessions and users that servers were told of.
type ended struct {
	noServers

	mu     sync.Mutex // guards all below
	all    []servers.Caller
	erased []ident.User
	// folders are the users, by pseudonym, whose folders were to be erased.
	folders []string
}

func (e *ended) EraseUser(u ident.User) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.erased = append(e.erased, u)
	return nil
}

func (e *ended) EraseFolders(pseudonym string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.folders = append(e.folders, pseudonym)
	return nil
}

func (e *ended) EndSession(c servers.Caller) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, c)
	return nil
}

func TestServersAreToldOfEndedSessions(t *testing.T) {
	t.Parallel()
	s, told := newTestService(t, llmtest.NewScript(), returns("1")), &ended{}
	s.sessions.opts.Servers, s.opts.Servers = told, told
	for name, end := range map[string]func(ident.Session) error{
		"idle":   func(ident.Session) error { return s.sessions.endIdle(0) },
		"erased": func(id ident.Session) error { return s.EraseSession(t.Context(), user, id) },
	} {
		one, err := s.sessions.take(user, "")
		if err != nil {
			t.Fatal(err)
		}
		s.sessions.release(one)
		if err := end(one.id); err != nil {
			t.Fatal(err)
		}
		if want := (servers.Caller{User: user, Session: one.id}); !slices.Contains(told.all, want) {
			t.Errorf("%s: told of %v, want %v", name, told.all, want)
		}
	}
	if err := s.EraseUser(t.Context(), user); err != nil || !slices.Equal(told.erased, []ident.User{user}) {
		t.Errorf("told of the erased users %v, %v", told.erased, err)
	}
}
