package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/orchestrator/auth"
)

// fakePeers are the processes that a test has.
type fakePeers struct {
	self   string
	others map[string]string
}

func (p fakePeers) Self() string              { return p.self }
func (p fakePeers) Others() map[string]string { return p.others }

func peerTokens(t *testing.T) *auth.Peers {
	t.Helper()
	tokens, err := auth.NewPeers(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// userKeys knows one caller.
type userKeys struct{ caller auth.Caller }

func (k userKeys) Authenticate(_ context.Context, credential string) (auth.Caller, error) {
	if credential != "key" {
		return auth.Caller{}, auth.ErrUnauthorized
	}
	return k.caller, nil
}

// startPeer serves a process that others reach, and gives where.
func startPeer(t *testing.T, service Service) (url string) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Service: service, Port: port, Authenticator: userKeys{}, Peers: fakePeers{self: "b"}, PeerTokens: peerTokens(t)})
	if err != nil {
		t.Fatal(err)
	}
	var work sync.WaitGroup
	work.Go(func() { _ = s.Serve(listener) })
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		work.Wait()
	})
	return "http://" + listener.Addr().String()
}

// front are the options of a process that has nothing itself.
func front(t *testing.T, at string) Options {
	t.Helper()
	return Options{
		Service: &fakeService{err: &orchestrator.ElsewhereError{Member: "b", URL: at}}, Port: "3000",
		Authenticator: userKeys{auth.Caller{User: "ann", Rights: auth.Rights{Run: true, Approve: true}}},
		Peers:         fakePeers{"a", map[string]string{"b": at}}, PeerTokens: peerTokens(t),
	}
}

func TestRequestReachesTheProcessThatHasTheSession(t *testing.T) {
	t.Parallel()
	f := conversation(t)
	f.task.Status, f.task.Message = orchestrator.StatusCompleted, f.vault.FromModel("See ["+tokenized(t, f.vault, "ann@example.org").String()+"]")
	send := startWith(t, front(t, startPeer(t, f)))
	key := []string{"Authorization", "Bearer key", "Origin", "http://localhost:3000"}

	status, header, body := send("GET", "/tasks/task_1", "", key...)
	if status != http.StatusOK || !strings.Contains(body, "EMAIL_1") || strings.Contains(body, "ann@example.org") {
		t.Errorf("a task: %d %s; want it as a caller without the right reveal sees it", status, body)
	}
	if header.Get("Cross-Origin-Resource-Policy") != "" || header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("its headers are %v", header)
	}
	if status, _, body := send("GET", "/tasks/task_1/events", "", append(key, "Last-Event-ID", "2")...); status != http.StatusOK || strings.Contains(body, "id: 2\n") || !strings.Contains(body, "id: 3\n") || !strings.Contains(body, "task.completed") {
		t.Errorf("its events: %d %s", status, body)
	}
	if status, _, body := send("POST", "/tasks/task_1/approvals/apr_1", `{"decision":"approve"}`, key...); status != http.StatusOK || !f.decided.Approve {
		t.Errorf("an approval: %d %s, %+v", status, body, f.decided)
	}
	status, header, body = send("POST", "/task", `{"userId":"ann","task":"And?","sessionId":"ses_1"}`, append(key, "Idempotency-Key", "k", "Prefer", "respond-async")...)
	if status != http.StatusAccepted || header.Get("Location") != "/tasks/task_1?userId=ann" || f.submitted.User != "ann" || f.submitted.Session != "ses_1" || f.submitted.Repeat.Key != "k" {
		t.Errorf("a task for the session: %d %s, %+v", status, body, f.submitted)
	}
	f.task.Artifacts = []orchestrator.Artifact{{Name: f.vault.FromModel("a.png"), Size: 1, MIME: "image/png"}}
	status, _, body = send("POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"And?"}]}`, append(key, "X-Airlock-Session", "ses_1")...)
	if status != http.StatusOK || !strings.Contains(body, "http://localhost:3000/artifacts/") {
		t.Errorf("a chat: %d %s; want links to the process that was asked", status, body)
	}
	if status, _, _ := send("GET", "/tasks/task_1", ""); status != http.StatusUnauthorized {
		t.Errorf("nobody gave %d", status)
	}
	if status, _, _ := send("GET", "/tasks/task_1?userId=bob", "", key...); status != http.StatusForbidden {
		t.Errorf("another user's task gave %d", status)
	}
}

func TestStreamOfAnotherProcessComesAsItHappensAndEndsWithTheClient(t *testing.T) {
	t.Parallel()
	f := conversation(t)
	f.events, f.more = f.events[:2], make(chan struct{})
	o := front(t, startPeer(t, f))
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.origins.Hosts = []string{listener.Addr().String()}
	var work sync.WaitGroup
	work.Go(func() { _ = s.Serve(listener) })
	defer work.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listener.Addr().String()+"/tasks/task_1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer key")
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if line, err := bufio.NewReader(answer.Body).ReadString('\n'); err != nil || line != "id: 1\n" {
		t.Errorf("first came %q, %v", line, err)
	}
	cancel()
	// Shutdown waits for open streams: it returns once the client's end has reached all.
	end, stop := context.WithTimeout(context.Background(), 10*time.Second)
	defer stop()
	if err := s.app.ShutdownWithContext(end); err != nil {
		t.Errorf("the stream goes on without its client: %v", err)
	}
	_ = s.Shutdown(end)
}

// moving is a service whose task is elsewhere when it is looked for first.
type moving struct {
	*fakeService
	asked atomic.Int32
	at    string
}

func (m *moving) Task(u ident.User, id ident.Task) (orchestrator.Task, error) {
	if m.asked.Add(1) == 1 {
		return orchestrator.Task{}, &orchestrator.ElsewhereError{Member: "b", URL: m.at}
	}
	return m.fakeService.Task(u, id)
}

func TestRequestWaitsUntilADeadProcessIsTakenOverFrom(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]string{"nobody answers": dead, "it is another one by now": startPeer(t, conversation(t))} {
		o := front(t, at)
		m := &moving{fakeService: conversation(t), at: at}
		o.Service = m
		if at != dead {
			o.PeerTokens, err = auth.NewPeers(bytes.Repeat([]byte{9}, 32))
			if err != nil {
				t.Fatal(err)
			}
		}
		if status, _, body := startWith(t, o)("GET", "/tasks/task_1", "", "Authorization", "Bearer key"); status != http.StatusOK || m.asked.Load() != 2 {
			t.Errorf("%s: %d %s after %d looks", name, status, body, m.asked.Load())
		}
	}
}

func TestRequestIsNotPassedOnWhereItMustNot(t *testing.T) {
	t.Parallel()
	silent := front(t, "")
	if status, _, body := startWith(t, silent)("GET", "/tasks/task_1", "", "Authorization", "Bearer key"); status != http.StatusServiceUnavailable || code(t, body) != "elsewhere" || !strings.Contains(body, "PEER_URL") {
		t.Errorf("a process that does not say where it is: %d %s", status, body)
	}
	alone := front(t, "")
	alone.Peers, alone.Service = nil, conversation(t)
	if status, _, _ := startWith(t, alone)("GET", "/tasks/task_1", "", peerHeader, "x", "Authorization", "Bearer key"); status != http.StatusUnauthorized {
		t.Errorf("one that has no others took a token: %d", status)
	}
	send := startWith(t, front(t, ""))
	token, err := peerTokens(t).Sign(auth.Passed{To: "a", Method: "GET", URI: "/tasks/task_1", Caller: auth.Caller{User: "ann", Rights: all}})
	if err != nil {
		t.Fatal(err)
	}
	if status, _, body := send("GET", "/tasks/task_1", "", peerHeader, token); status != http.StatusMisdirectedRequest || code(t, body) != "not_here" {
		t.Errorf("what was passed on is passed on again: %d %s", status, body)
	}
	if status, _, body := send("GET", "/tasks", "", peerHeader, token); status != http.StatusMisdirectedRequest || code(t, body) != "unknown_peer" {
		t.Errorf("a token of another request: %d %s", status, body)
	}
}

func TestUserIsErasedInAllProcesses(t *testing.T) {
	t.Parallel()
	other := &erasing{fakeService: &fakeService{}}
	o := front(t, startPeer(t, other))
	o.Service = &erasing{fakeService: &fakeService{}}
	if status, _, body := startWith(t, o)("DELETE", "/users/ann", "", "Authorization", "Bearer key"); status != http.StatusNoContent || other.erased.Load() != "ann" {
		t.Errorf("%d %s, the other one erased %v", status, body, other.erased.Load())
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Shutdown(context.Background()) }()
	if err := s.EraseUser(t.Context(), "bob@example.org"); err != nil || other.erased.Load() != "bob@example.org" {
		t.Errorf("without a request: %v, the other one erased %v", err, other.erased.Load())
	}
	other.err = errors.New("cannot")
	if err := s.EraseUser(t.Context(), "bob@example.org"); err == nil || !strings.Contains(err.Error(), "PEER_URL") {
		t.Errorf("where the other one fails, without a request: %v", err)
	}
	if status, _, body := startWith(t, o)("DELETE", "/users/ann", "", "Authorization", "Bearer key"); status != http.StatusServiceUnavailable || code(t, body) != "peer_unreachable" {
		t.Errorf("where the other one fails: %d %s", status, body)
	}
}

// TestNothingIsErasedWhereAProcessDoesNotKnowTheOther looks that nobody is told of an
// erasure which another process has refused.
func TestNothingIsErasedWhereAProcessDoesNotKnowTheOther(t *testing.T) {
	t.Parallel()
	other, own := &erasing{fakeService: &fakeService{}}, &erasing{fakeService: &fakeService{}}
	o := front(t, startPeer(t, other))
	o.Service = own
	var err error
	if o.PeerTokens, err = auth.NewPeers(bytes.Repeat([]byte{9}, 32)); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"/users/ann", "/sessions/ses_1"} {
		if status, _, body := startWith(t, o)("DELETE", address, "", "Authorization", "Bearer key"); status != http.StatusServiceUnavailable || code(t, body) != "peer_unreachable" {
			t.Errorf("%s: %d %s", address, status, body)
		}
	}
	if other.erased.Load() != nil || own.erased.Load() != nil {
		t.Errorf("erased %v there and %v here", other.erased.Load(), own.erased.Load())
	}
}

func TestSessionIsErasedInAllProcesses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		here, there error
		status      int
	}{
		"it is there":        {orchestrator.ErrNotFound, nil, http.StatusNoContent},
		"it is here":         {nil, orchestrator.ErrNotFound, http.StatusNoContent},
		"it is nowhere":      {orchestrator.ErrNotFound, orchestrator.ErrNotFound, http.StatusNotFound},
		"a third one has it": {nil, &orchestrator.ElsewhereError{Member: "c"}, http.StatusNoContent},
		"a task runs there":  {orchestrator.ErrNotFound, orchestrator.ErrWorking, http.StatusConflict},
		"there it fails":     {nil, errors.New("cannot"), http.StatusServiceUnavailable},
	} {
		o := front(t, startPeer(t, &fakeService{err: c.there}))
		o.Service = &fakeService{err: c.here}
		if status, _, body := startWith(t, o)("DELETE", "/sessions/ses_1", "", "Authorization", "Bearer key"); status != c.status {
			t.Errorf("%s: %d %s, want %d", name, status, body, c.status)
		}
	}
}

type erasing struct {
	*fakeService
	erased atomic.Value
}

func (e *erasing) EraseUser(_ context.Context, u ident.User) error {
	e.erased.Store(string(u))
	return e.err
}
