package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"

	"airlock/orchestrator/llm"
)

// Server plays a model's provider over HTTP on a loopback port: the Messages API
// of Anthropic and the chat completions of OpenAI, both streaming.
type Server struct {
	answer func(n int, request []byte) (Turn, bool) // false when the script is over
	keep   bool                                     // what was received
	http   *httptest.Server
	gone   chan struct{} // closed when the server ends

	mu     sync.Mutex // guards all below
	count  int
	bodies [][]byte
	heads  []http.Header
}

// maxRequest is far above what any test sends.
const maxRequest = 32 << 20

// NewServer starts a server that answers the n-th request with the n-th turn and
// any further one with status 500. It ends with the test.
func NewServer(t testing.TB, turns ...Turn) *Server {
	t.Helper()
	return start(t, &Server{keep: true, answer: func(n int, _ []byte) (Turn, bool) {
		if n >= len(turns) {
			return Turn{}, false
		}
		return turns[n], true
	}})
}

// NewEndlessServer starts a server that answers each request with what answer makes of
// its body, and keeps nothing of what it received. Answer must be safe for concurrent
// use.
func NewEndlessServer(t testing.TB, answer func(request []byte) Turn) *Server {
	t.Helper()
	return start(t, &Server{answer: func(_ int, request []byte) (Turn, bool) { return answer(request), true }})
}

func start(t testing.TB, s *Server) *Server {
	t.Helper()
	s.gone = make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.handler(anthropicWire{}))
	mux.HandleFunc("POST /v1/chat/completions", s.handler(openaiWire{}))
	s.http = httptest.NewServer(mux)
	t.Cleanup(func() {
		close(s.gone)
		s.http.Close()
	})
	return s
}

// AnthropicURL is the base URL for Anthropic's driver.
func (s *Server) AnthropicURL() string { return s.http.URL }

// OpenAIURL is the base URL for OpenAI's driver.
func (s *Server) OpenAIURL() string { return s.http.URL + "/v1" }

// Client has connections that end with the server.
func (s *Server) Client() *http.Client { return s.http.Client() }

// Requests returns the bodies received so far, in order.
func (s *Server) Requests() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

// Headers returns the headers of the requests received so far, in order.
func (s *Server) Headers() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heads)
}

// record counts a request, and keeps it if it is to be.
func (s *Server) record(r *http.Request, body []byte) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keep {
		s.bodies = append(s.bodies, body)
		s.heads = append(s.heads, r.Header.Clone())
	}
	s.count++
	return s.count - 1
}

// protocol is how a provider writes what a turn says.
type protocol interface {
	// opening are the chunks up to the turn's end; usage asks to report it.
	opening(n int, t Turn) []chunk
	// closing are the chunks that tell the turn's end.
	closing(t Turn, usage bool) []chunk
	// failure is the body of an error; as an event it is sent within a stream.
	failure(status int, f Fault) chunk
}

// chunk is one server-sent event. Data is marshalled unless it is a string.
type chunk struct {
	event string
	data  any
}

// object is JSON in the making.
type object = map[string]any

func (s *Server) handler(p protocol) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil || !json.Valid(body) {
			refuse(w, p, http.StatusBadRequest, Fault{Code: "invalid_request_error", Message: "the body is not JSON"})
			return
		}
		n := s.record(r, body)
		turn, ok := s.answer(n, body)
		if !ok {
			refuse(w, p, http.StatusInternalServerError, Fault{Message: ErrScriptOver.Error()})
			return
		}
		if !s.held(r, turn) {
			return
		}
		if turn.Fault.Status != 0 {
			refuse(w, p, turn.Fault.Status, turn.Fault)
			return
		}
		play(w, p, n, turn, body)
	}
}

// held waits as the turn asks; false says that the client left.
func (s *Server) held(r *http.Request, t Turn) bool {
	if t.Hold == nil {
		return true
	}
	select {
	case <-t.Hold:
		return true
	case <-r.Context().Done():
	case <-s.gone:
	}
	return false
}

func refuse(w http.ResponseWriter, p protocol, status int, f Fault) {
	w.Header().Set("Content-Type", "application/json")
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.FormatFloat(f.RetryAfter.Seconds(), 'f', -1, 64))
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(p.failure(status, f).data) // the client may be gone
}

// play writes a turn and spoils its end as its fault says.
func play(w http.ResponseWriter, p protocol, n int, t Turn, request []byte) {
	var asked struct {
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	_ = json.Unmarshal(request, &asked) // it is valid; other shapes ask for nothing
	w.Header().Set("Content-Type", "text/event-stream")
	send(w, p.opening(n, t)...)
	switch f := t.Fault; {
	case f.Break:
		panic(http.ErrAbortHandler) // the way to break a connection off
	case f.Truncate:
	case f.ErrorEvent:
		send(w, p.failure(http.StatusOK, f))
	case f.Garbage:
		send(w, chunk{event: "message_delta", data: `{"type":"message_delta","delta":{"stop_re`})
	default:
		send(w, p.closing(t, asked.StreamOptions.IncludeUsage)...)
	}
}

// send writes and flushes each chunk by itself, so that clients see them apart.
func send(w http.ResponseWriter, chunks ...chunk) {
	for _, c := range chunks {
		if c.event != "" {
			_, _ = fmt.Fprintf(w, "event: %s\n", c.event) // a client that left is noticed by the test, not here
		}
		text, isText := c.data.(string)
		if !isText {
			text = marshal(c.data)
		}
		_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
		_ = http.NewResponseController(w).Flush()
	}
}

func marshal(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return "null" // of our own maps of strings and numbers
	}
	return string(data)
}

// argumentPieces are a call's arguments as they go over the wire.
func (t Turn) argumentPieces(c llm.Call) []string {
	size := t.Fault.ArgumentBytes
	if size == 0 {
		size = pieceBytes
	}
	return pieces(c.Arguments, size)
}
