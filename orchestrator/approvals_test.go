package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/servers"
)

// mailServer has one tool, before whose calls users are asked.
type mailServer struct {
	noServers
	entry servers.Entry

	mu   sync.Mutex // guards sent
	sent []string
}

func newMailServer(t *testing.T) *mailServer {
	t.Helper()
	path := t.TempDir() + "/catalog.json"
	text := `{"schemaVersion":1,"servers":{"mail":{"transport":"streamable-http","url":"http://localhost/","release":["EMAIL","PHONE"],"tools":{"approval":{"*":"required"}}}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	catalog, err := servers.LoadCatalog(path, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	return &mailServer{entry: catalog.Entries()[0]}
}

func (m *mailServer) Tool(_ context.Context, _ servers.Caller, name string) (servers.Tool, error) {
	if name != "mail__send" {
		return servers.Tool{}, servers.ErrUnknownTool
	}
	return servers.Tool{Server: "mail", Name: "send", InputSchema: pii.NewRaw(`{"type":"object"}`)}, nil
}

func (m *mailServer) CallWatched(_ context.Context, _ servers.Caller, _ string, arguments json.RawMessage, _ func(servers.Progress)) (servers.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, string(arguments))
	return servers.Result{JSON: pii.NewRaw(`{"content":[{"type":"text","text":"sent"}]}`)}, nil
}

func (m *mailServer) Entry(string) (servers.Entry, bool) { return m.entry, true }

func (m *mailServer) calls() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.sent)
}

// sends plays a script that sends mails one after the other and returns the codes
// of the answers.
func sends(arguments ...string) scriptFunc {
	return func(ctx context.Context, x sandbox.Execution) sandbox.Result {
		var codes []int
		for _, a := range arguments {
			codes = append(codes, send(ctx, x, a))
		}
		text, _ := json.Marshal(codes)
		return sandbox.Result{Reason: sandbox.ReasonOK, Value: pii.NewRaw(string(text))}
	}
}

func send(ctx context.Context, x sandbox.Execution, arguments string) int {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/tools/mail__send/call", strings.NewReader(`{"arguments":`+arguments+`}`))
	r.Header.Set("Authorization", "Bearer "+string(x.Token))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	x.Bridge.ServeHTTP(w, r)
	return w.Code
}

// asked follows a task's events to its n-th pending approval, and gives its id.
func asked(t *testing.T, s *Service, user ident.User, id ident.Task, n int) *Approval {
	t.Helper()
	for {
		events, more, err := s.Events(user, id, 0)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, e := range events {
			if e.Type == EventApprovalRequired {
				if found++; found == n {
					return e.Data.Approval
				}
			}
			if e.Type.Final() {
				t.Fatalf("the task ended %s before approval %d was asked for", e.Type, n)
			}
		}
		select {
		case <-more:
		case <-t.Context().Done():
			t.Fatal("nothing was asked")
		}
	}
}

func TestApprovals(t *testing.T) {
	t.Parallel()
	const plain, mail, other = `{"text":"hello"}`, `{"to":"ann@example.org"}`, `{"to":"ann@example.org","phone":"+1 415 555 0132"}`
	for name, tc := range map[string]struct {
		script    []string
		decisions []Decision // of the approvals in the order they are asked for
		want      string
		calls     int
	}{
		"approved once, asked again":            {[]string{plain, plain}, []Decision{{Approve: true}, {Approve: true}}, "[200,200]", 2},
		"denied, and the script goes on":        {[]string{plain, plain}, []Decision{{}, {Approve: true}}, "[409,200]", 1},
		"approved for the task":                 {[]string{mail, mail, plain}, []Decision{{Approve: true, Task: true}}, "[200,200,200]", 3},
		"but not for a type never approved":     {[]string{mail, other}, []Decision{{Approve: true, Task: true}, {}}, "[200,409]", 1},
		"nor for values where none was allowed": {[]string{plain, mail}, []Decision{{Approve: true, Task: true}, {Approve: true}}, "[200,200]", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newMailServer(t)
			script := llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("send")}}, llmtest.Turn{Text: "done"})
			s := newTestServiceWith(t, server, time.Minute, script, sends(tc.script...))
			id, err := s.Submit(t.Context(), TaskRequest{User: "u", Text: pii.NewRaw("mail ann@example.org or +1 415 555 0132")})
			if err != nil {
				t.Fatal(err)
			}
			for n, d := range tc.decisions {
				a := asked(t, s, "u", id, n+1)
				if err := s.Decide("u", id, a.ID, d); err != nil {
					t.Fatal(err)
				}
				if err := s.Decide("u", id, a.ID, d); !errors.Is(err, ErrNotFound) {
					t.Errorf("an approval was answered twice: %v", err)
				}
			}
			task, err := s.Wait(t.Context(), "u", id)
			if err != nil {
				t.Fatal(err)
			}
			if task.Status != StatusCompleted || task.Output.String() != tc.want || server.calls() != tc.calls {
				t.Errorf("the task is %s with %s after %d calls, want completed with %s after %d", task.Status, task.Output, server.calls(), tc.want, tc.calls)
			}
		})
	}
}

func TestTaskShowsWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	script := llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("send")}}, llmtest.Turn{Text: "done"})
	s := newTestServiceWith(t, newMailServer(t), time.Minute, script, sends(`{"to":"ann@example.org"}`))
	id, err := s.Submit(t.Context(), TaskRequest{User: "u", Text: pii.NewRaw("mail ann@example.org")})
	if err != nil {
		t.Fatal(err)
	}
	a := asked(t, s, "u", id, 1)
	if strings.Contains(a.Arguments.String(), "ann@") || fmt.Sprint(a.Releases) != "[EMAIL]" {
		t.Errorf("the approval shows %s and releases %v", a.Arguments, a.Releases)
	}
	task, err := s.Task("u", id)
	if err != nil || task.Status != StatusAwaitingApproval || len(task.Approvals) != 1 || task.Approvals[0].ID != a.ID {
		t.Errorf("the task is %s with the approvals %+v, %v", task.Status, task.Approvals, err)
	}
	if err := s.Decide("somebody else", id, a.ID, Decision{Approve: true}); !errors.Is(err, ErrNotFound) {
		t.Errorf("another user's answer: %v", err)
	}
	if err := s.Cancel("u", id); err != nil {
		t.Fatal(err)
	}
	task, err = s.Wait(t.Context(), "u", id)
	if err != nil || task.Status != StatusCancelled || len(task.Approvals) != 0 {
		t.Errorf("cancelled, the task is %s with %d approvals, %v", task.Status, len(task.Approvals), err)
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	script := llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("send")}}, llmtest.Turn{Text: "done"})
	server := newMailServer(t)
	s := newTestServiceWith(t, server, time.Millisecond, script, sends(`{}`))
	task := runTask(t, s, TaskRequest{User: "u", Text: pii.NewRaw("mail")})
	if task.Status != StatusCompleted || task.Output.String() != "[409]" || server.calls() != 0 {
		t.Errorf("the task is %s with %s after %d calls", task.Status, task.Output, server.calls())
	}
	out, err := s.Execute(t.Context(), ExecuteRequest{User: "u", Language: sandbox.JavaScript, Code: "send"})
	if err != nil || out.Value.String() != "[409]" {
		t.Errorf("a script without a task got %s, %v", out.Value, err)
	}
}

// TestTheUsersTimeIsNotTheTasks lets a task wait for longer than it may work.
func TestTheUsersTimeIsNotTheTasks(t *testing.T) {
	t.Parallel()
	script := llmtest.NewScript(llmtest.Turn{Calls: []llm.Call{executeCall("send")}}, llmtest.Turn{Text: "done"})
	const atWork = 2 * time.Second
	s := newTestServiceWith(t, newMailServer(t), atWork+time.Second, script, sends(`{}`), func(l *Limits) { l.Task = atWork })
	task := runTask(t, s, TaskRequest{User: "u", Text: pii.NewRaw("mail")})
	if task.Status != StatusCompleted {
		t.Errorf("the task is %s: %+v", task.Status, task.Problem)
	}
}
