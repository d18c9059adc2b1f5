package orchestrator

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// reads plays a script that returns the content of a file.
func reads(name string, content *string) scriptFunc {
	return func(_ context.Context, x sandbox.Execution) sandbox.Result {
		data, err := x.Files.ReadFile(name, 1<<20)
		if err != nil {
			data = []byte(err.Error())
		}
		*content = string(data)
		return sandbox.Result{Reason: sandbox.ReasonOK}
	}
}

func TestUploads(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		upload Upload
		path   string
		want   string // a prefix
	}{
		"text is tokenized":       {Upload{"data/mails.csv", []byte("ann@example.org,1\n")}, "/workspace/data/mails.csv", "[EMAIL_1_"},
		"other data is kept":      {Upload{"a.bin", []byte("\x00\xffann@example.org")}, "/workspace/a.bin", "\x00\xffann@example.org"},
		"text without values too": {Upload{"a.txt", []byte("hello")}, "/workspace/a.txt", "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var content string
			script := llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("read")}}, llmtest.Turn{Text: "done"})
			s := newTestService(t, script, reads(tc.path, &content))
			task := runTask(t, s, TaskRequest{User: "u", Text: pii.NewRaw("read it"), Files: []Upload{tc.upload}})
			if task.Status != StatusCompleted || !strings.HasPrefix(content, tc.want) {
				t.Errorf("the task is %s, the script read %q, want %q", task.Status, content, tc.want)
			}
			parts := script.Requests()[0].Messages[0].Parts
			if told := parts[0].(llm.Text).Text.String(); told != "Files that came with the task:\n- "+tc.path {
				t.Errorf("the model was told %q", told)
			}
			if said := parts[len(parts)-1].(llm.Text).Text.String(); said != "read it" {
				t.Errorf("the task became %q", said)
			}
		})
	}
}

func TestUploadsWithBadNamesAreRefused(t *testing.T) {
	t.Parallel()
	s := newTestService(t, llmtest.NewScript(), nil)
	for _, files := range [][]Upload{
		{{Name: ""}}, {{Name: "../x"}}, {{Name: "/etc/passwd"}}, {{Name: "a/../b"}}, {{Name: "."}}, {{Name: ".airlock/x"}}, {{Name: "a"}, {Name: "a"}},
	} {
		if id, err := s.Submit(t.Context(), TaskRequest{User: "u", Text: pii.NewRaw("x"), Files: files}); !errors.Is(err, ErrInvalid) {
			t.Errorf("%q was taken: %s, %v", files[0].Name, id, err)
		}
	}
	if _, err := s.Submit(t.Context(), TaskRequest{User: "u", Text: pii.NewRaw("x"), Files: make([]Upload, maxUploads+1)}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("too many files: %v", err)
	}
}

func TestARepeatedRequestBeginsOneTask(t *testing.T) {
	t.Parallel()
	s := newTestService(t, llmtest.NewScriptFunc(func(llm.Request) llmtest.Turn { return llmtest.Turn{Text: "done"} }), nil)
	submit := func(user ident.User, key string, digest byte) (ident.Task, error) {
		return s.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("x"), Repeat: Repeat{Key: key, Digest: [32]byte{digest}}})
	}
	const tries = 20
	var ids [tries]ident.Task
	var work sync.WaitGroup
	for i := range tries {
		work.Go(func() { ids[i], _ = submit("u", "k", 1) })
	}
	work.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Fatalf("the same request began %v", ids)
		}
	}
	if id, err := submit("u", "k", 2); !errors.Is(err, ErrRepeat) {
		t.Errorf("another request under the key: %s, %v", id, err)
	}
	for _, other := range []struct {
		user ident.User
		key  string
	}{{"v", "k"}, {"u", "l"}, {"u", ""}} {
		if id, err := submit(other.user, other.key, 1); err != nil || id == ids[0] {
			t.Errorf("%+v got %s, %v", other, id, err)
		}
	}
	if n := len(tasksOf(t, s, "u")); n != 3 {
		t.Errorf("the user has %d tasks, want 3", n)
	}
}

func TestNoTaskKeepsWhatItsUserSent(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	s := newTestService(t, llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("wait")}}), waits(begun))
	sent := func(session ident.Session, names ...string) TaskRequest {
		r := TaskRequest{User: "u", Session: session, Text: pii.NewRaw("ann@example.org"), History: []Said{{Text: pii.NewRaw("bob@example.org")}}}
		for _, name := range names {
			r.Files = append(r.Files, Upload{Name: name, Data: []byte("carl@example.org")})
		}
		return r
	}
	failed := runTask(t, s, sent("", "a", "a/b"))
	if failed.Status != StatusFailed {
		t.Fatalf("a file below a file: the task is %s", failed.Status)
	}
	first, err := s.Submit(t.Context(), sent(""))
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	at, _ := s.Task("u", first)
	waiting, err := s.Submit(t.Context(), sent(at.Session, "c"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []ident.Task{waiting, first} {
		if err := s.Cancel("u", id); err != nil {
			t.Fatal(err)
		}
		_, _ = s.Wait(t.Context(), "u", id)
	}
	if err := s.Close(); err != nil { // ends the goroutines that own the requests
		t.Fatal(err)
	}
	for _, id := range []ident.Task{failed.ID, first, waiting} {
		state, err := s.tasks.get("u", id)
		if err != nil {
			t.Fatal(err)
		}
		if r := state.request; !r.Text.IsZero() || r.History != nil || r.Files != nil {
			t.Errorf("a %s task keeps %d bytes and %d files of its user", state.task.Status, r.bytes(), len(r.Files))
		}
	}
}

func TestWaitingTasksHoldBoundedInput(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	script := llmtest.NewScriptFunc(func(llm.Request) llmtest.Turn { return llmtest.Turn{Calls: []llm.Call{executeCall("wait")}} })
	s := newTestService(t, script, waits(begun), func(l *Limits) { l.Running, l.InputBytes = 1, 2500 })
	var ids []ident.Task
	for n := range 3 {
		id, err := s.Submit(t.Context(), TaskRequest{User: "u", Text: pii.NewRaw("x"), Files: []Upload{{Name: "a", Data: make([]byte, 1000)}}})
		if full := n == 2; errors.Is(err, ErrFull) != full {
			t.Fatalf("task %d: %v", n+1, err)
		}
		ids = append(ids, id)
	}
	<-begun
	if err := s.Cancel("u", ids[1]); err != nil {
		t.Fatal(err)
	}
	for {
		_, err := s.Submit(t.Context(), TaskRequest{User: "u", Text: pii.NewRaw("x"), Files: []Upload{{Name: "a", Data: make([]byte, 1000)}}})
		if err == nil {
			break // the cancelled task's share is free once its goroutine has ended
		}
		if !errors.Is(err, ErrFull) || t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

func TestOneUsersTasksHoldTheirShareOnly(t *testing.T) {
	t.Parallel()
	begun := make(chan struct{}, 1)
	script := llmtest.NewScriptFunc(func(llm.Request) llmtest.Turn { return llmtest.Turn{Calls: []llm.Call{executeCall("wait")}} })
	s := newTestService(t, script, waits(begun), func(l *Limits) { l.Running, l.UserInputBytes = 1, 1500 })
	submit := func(user ident.User) (ident.Task, error) {
		return s.Submit(t.Context(), TaskRequest{User: user, Text: pii.NewRaw("x"), Files: []Upload{{Name: "a", Data: make([]byte, 1000)}}})
	}
	first, err := submit("u")
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if _, err := submit("u"); !errors.Is(err, ErrShare) {
		t.Errorf("over the share: %v", err)
	}
	if _, err := submit("another"); err != nil {
		t.Errorf("another user: %v", err)
	}
	if err := s.Cancel("u", first); err != nil {
		t.Fatal(err)
	}
	<-begun // the other user's task
	for _, err = submit("u"); errors.Is(err, ErrShare) && t.Context().Err() == nil; _, err = submit("u") {
		continue // the share is free once the first task's goroutine has ended
	}
	if err != nil {
		t.Errorf("after the first task: %v", err)
	}
}
