package mcpserver

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"airlock/runtime/sandbox"
)

// rawHost writes messages as they stand, for what no well-behaved client does.
type rawHost struct {
	t       testing.TB
	post    func(string)
	mu      sync.Mutex // guards answers
	answers map[string]string
	all     []string
	more    chan struct{}
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`

// newRawHost connects to a face over "stdio" or "http".
func newRawHost(t testing.TB, face *Server, way string) *rawHost {
	t.Helper()
	h := &rawHost{t: t, answers: map[string]string{}, more: make(chan struct{}, 1)}
	if way == "http" {
		url := serveHTTP(t, face)
		session := ""
		var posts sync.WaitGroup
		h.post = func(text string) {
			r := newPost(t, url, text)
			r.Header.Set(headerSession, session)
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Errorf("post: %v", err)
				return
			}
			session = cmp.Or(answer.Header.Get(headerSession), session)
			posts.Go(func() {
				defer answer.Body.Close()
				h.read(answer.Body)
			})
		}
		t.Cleanup(posts.Wait)
	} else {
		fromHost, toFace := io.Pipe()
		fromFace, toHost := io.Pipe()
		var work sync.WaitGroup
		work.Go(func() {
			if err := face.ServeStdio(context.WithoutCancel(t.Context()), "ann", fromHost, toHost); err != nil {
				t.Errorf("serve: %v", err)
			}
			_ = toHost.Close()
		})
		work.Go(func() { h.read(fromFace) })
		h.post = func(text string) {
			if _, err := io.WriteString(toFace, text+"\n"); err != nil {
				t.Errorf("write: %v", err)
			}
		}
		t.Cleanup(func() { _ = toFace.Close(); work.Wait() })
	}
	h.send(initialize)
	h.answer("0")
	h.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return h
}

func newPost(t testing.TB, url, text string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, url, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	return r
}

func (h *rawHost) send(text string) { h.post(text) }

// read takes messages, one on a line, with or without the marks of an event.
func (h *rawHost) read(from io.Reader) {
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, 2*maxMessage)
	for lines.Scan() {
		text := strings.TrimPrefix(lines.Text(), "data: ")
		if !strings.HasPrefix(text, "{") {
			continue
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			h.t.Errorf("not JSON: %s", text)
		}
		h.mu.Lock()
		h.all = append(h.all, text)
		if m.Method == "" {
			h.answers[string(m.ID)] = text
		}
		h.mu.Unlock()
		select {
		case h.more <- struct{}{}:
		default:
		}
	}
}

// answer waits for the answer to a request.
func (h *rawHost) answer(id string) string {
	for {
		h.mu.Lock()
		text, ok := h.answers[id]
		h.mu.Unlock()
		if ok {
			return text
		}
		<-h.more
	}
}

// callBridge calls a tool as a script does, and gives what comes back.
func callBridge(ctx context.Context, x sandbox.Execution, tool, arguments string) string {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/tools/"+tool+"/call", strings.NewReader(`{"arguments":`+arguments+`}`))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+string(x.Token))
	w := httptest.NewRecorder()
	x.Bridge.ServeHTTP(w, r)
	return w.Body.String()
}
