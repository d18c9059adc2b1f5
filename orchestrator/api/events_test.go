package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"airlock/orchestrator"
	"airlock/orchestrator/auth"
	"airlock/pii"
)

// told makes the events of a task from their types and data.
func told(all ...orchestrator.Event) []orchestrator.Event {
	for i := range all {
		all[i].Seq, all[i].Task, all[i].At = i+1, "task_1", time.Unix(int64(i), 0).UTC()
	}
	return all
}

func delta(v *pii.Vault, text string) orchestrator.Event {
	return orchestrator.Event{Type: orchestrator.EventModelDelta, Data: orchestrator.EventData{Text: v.FromModel(text)}}
}

// conversation is a task whose model writes a token in two parts, and breaks off once.
func conversation(t *testing.T) *fakeService {
	t.Helper()
	v := newVault(t)
	token := tokenized(t, v, "ann@example.org").String()
	half := len(token) / 2
	last := func(p orchestrator.Part) orchestrator.Event {
		return orchestrator.Event{Type: orchestrator.EventModelDelta, Data: orchestrator.EventData{Part: p}}
	}
	f := &fakeService{vault: v, events: told(
		orchestrator.Event{Type: orchestrator.EventTaskStarted},
		delta(v, "I wri"), last(orchestrator.PartDiscarded),
		delta(v, "Written to "+token[:half]), delta(v, token[half:]+" and ["), last(orchestrator.PartLast),
		orchestrator.Event{Type: orchestrator.EventApprovalRequired, Data: orchestrator.EventData{Tool: "mail__send", Approval: &orchestrator.Approval{
			ID: "apr_1", Tool: "mail__send", Server: "mail", Arguments: v.FromModel(`{"to":"` + token + `"}`), Releases: []pii.Type{"EMAIL"},
		}}},
		orchestrator.Event{Type: orchestrator.EventTaskCompleted, Data: orchestrator.EventData{Text: v.FromModel("See https://x.example/" + token)}},
	)}
	f.task = orchestrator.Task{ID: "task_1", Vault: v}
	return f
}

// read takes a stream apart: the views by their ids, and the text that the parts of
// the model's answers make.
func read(t *testing.T, stream string) (views []eventView, text string) {
	t.Helper()
	for block := range strings.SplitSeq(strings.TrimSpace(stream), "\n\n") {
		lines := strings.Split(block, "\n")
		if len(lines) != 3 || !strings.HasPrefix(lines[0], "id: ") || !strings.HasPrefix(lines[1], "event: ") {
			t.Fatalf("no event: %q", block)
		}
		var view eventView
		if err := json.Unmarshal([]byte(strings.TrimPrefix(lines[2], "data: ")), &view); err != nil {
			t.Fatalf("%v in %q", err, lines[2])
		}
		views = append(views, view)
		if view.Type == orchestrator.EventModelDelta {
			if text += view.Data.Text; view.Data.Part == orchestrator.PartDiscarded {
				text = ""
			}
		}
	}
	return views, text
}

func TestEventsHoldRealValuesForTheirUser(t *testing.T) {
	t.Parallel()
	send := start(t, conversation(t), all)
	status, header, body := send("GET", "/tasks/task_1/events?userId=u1", "")
	if status != http.StatusOK || header.Get("Content-Type") != "text/event-stream" || header.Get("Cache-Control") != "no-store" {
		t.Fatalf("answered %d, %v", status, header)
	}
	views, text := read(t, body)
	if want := "Written to ann@example.org and ["; text != want {
		t.Errorf("the model's text is %q, want %q", text, want)
	}
	if got := string(views[6].Data.Approval.Arguments); got != `{"to":"ann@example.org"}` {
		t.Errorf("the approval shows %s", got)
	}
	if got := views[7].Data.Text; strings.Contains(got, "ann@") {
		t.Errorf("a link in the answer holds the value: %q", got)
	}
}

func TestEventsHoldTokensWithoutTheRight(t *testing.T) {
	t.Parallel()
	send := start(t, conversation(t), auth.Rights{Run: true})
	if _, _, body := send("GET", "/tasks/task_1/events", ""); strings.Contains(body, "ann@") {
		t.Errorf("a value is shown: %s", body)
	}
}

// TestEventsGoOnWhereTheyEnded breaks off after each event: what came before and
// what comes after make the whole, each event once and the same.
func TestEventsGoOnWhereTheyEnded(t *testing.T) {
	t.Parallel()
	f := conversation(t)
	send := start(t, f, all)
	_, _, whole := send("GET", "/tasks/task_1/events", "")
	blocks := strings.SplitAfter(whole, "\n\n")
	for n := range f.events {
		_, _, rest := send("GET", "/tasks/task_1/events", "", "Last-Event-ID", jsonNumber(n))
		if want := strings.Join(blocks[n:], ""); rest != want {
			t.Errorf("after event %d came %q, want %q", n, rest, want)
		}
	}
	if status, _, body := send("GET", "/tasks/task_1/events", "", "Last-Event-ID", "x"); status != http.StatusBadRequest {
		t.Errorf("a bad Last-Event-ID answered %d: %s", status, body)
	}
}

func jsonNumber(n int) string {
	text, _ := json.Marshal(n)
	return string(text)
}

func TestTaskAnswersWithItsEvents(t *testing.T) {
	t.Parallel()
	send := start(t, conversation(t), all)
	_, header, body := send("POST", "/task", `{"userId":"u1","task":"write"}`, "Accept", "text/event-stream")
	if views, _ := read(t, body); len(views) != 8 || header.Get("Location") != "/tasks/task_1?userId=u1" {
		t.Errorf("%d events came, at %q", len(views), header.Get("Location"))
	}
}

// askForEvents serves f on a real connection, over which it asks for the events of
// a task. Nothing is read yet; served tells how serving ended.
func askForEvents(t *testing.T, f *fakeService) (s *Server, served <-chan error, conn net.Conn) {
	t.Helper()
	s, err := New(Options{Service: f, Port: "3000", Rights: all})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(listener) }()
	conn, err = net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("GET /tasks/task_1/events HTTP/1.1\r\nHost: localhost:3000\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	return s, ended, conn
}

// TestStreamEndsWhenItsClientIsGone closes the connection of a stream that has
// nothing to say, and waits for the server to notice.
func TestStreamEndsWhenItsClientIsGone(t *testing.T) {
	t.Parallel()
	f := conversation(t)
	f.events, f.more = f.events[:1], make(chan struct{})
	s, served, conn := askForEvents(t, f)
	for lines := bufio.NewScanner(conn); lines.Scan() && !strings.HasPrefix(lines.Text(), "data: "); {
	}
	conn.Close()
	// An open stream would keep the server from ending.
	for look := time.Tick(10 * time.Millisecond); s.app.Server().GetOpenConnectionsCount() > 0; {
		select {
		case <-t.Context().Done():
			t.Fatal("the server did not notice")
		case <-look:
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

func TestApprovalIsAnswered(t *testing.T) {
	t.Parallel()
	f := &fakeService{}
	send := start(t, f, all)
	if status, _, body := send("POST", "/tasks/t/approvals/a", `{"decision":"approve","scope":"task"}`); status != http.StatusOK || f.decided != (orchestrator.Decision{Approve: true, Task: true}) {
		t.Errorf("answered %d %s, decided %+v", status, body, f.decided)
	}
	send = start(t, f, auth.Rights{Run: true, Reveal: true})
	if status, _, body := send("POST", "/tasks/t/approvals/a", `{"decision":"approve"}`); status != http.StatusForbidden || code(t, body) != "no_approve_right" {
		t.Errorf("without the right: %d %s", status, body)
	}
}
