package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"
)

// request is one request of the host that is being served.
type request struct {
	// out takes what is told before the answer, and where streams is set the answer.
	out     *stream
	streams bool
	// code replaces the code of an error that a handler returns, if set; the handler
	// runs on the request's own goroutine.
	code int
}

type requestKey struct{}

// codeError lets the request that ctx belongs to fail with a JSON-RPC error code.
func codeError(ctx context.Context, code int) {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		r.code = code
	}
}

// Codes of errors that JSON-RPC leaves to its users.
const codeBusy = -32000

// begin registers a request, so that it can be cancelled from now on, and returns
// what serves it, to be called once. Close waits until the answer was taken.
func (s *session) begin(m message, out *stream, streams bool) (serve func(answer func([]byte))) {
	refused := func(why []byte) func(func([]byte)) { return func(answer func([]byte)) { answer(why) } }
	if mcp.IsModernProtocol(m.meta) {
		return refused(unsupported(m))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := string(m.id)
	switch {
	case s.ctx.Err() != nil:
		return refused(failure(m.id, codeBusy, "the server is shutting down; connect again later"))
	case s.inFlight[key] != nil:
		return refused(failure(m.id, mcp.INVALID_REQUEST, "a request of that id is still being served"))
	case len(s.inFlight) >= maxInFlight:
		return refused(failure(m.id, codeBusy, "too many requests at once; wait for the answer to one"))
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.inFlight[key] = cancel
	s.work.Add(1)
	return func(answer func([]byte)) {
		defer s.work.Done()
		defer s.end(key)
		answer(s.serve(ctx, m, &request{out: out, streams: streams}))
	}
}

func (s *session) end(key string) {
	s.mu.Lock()
	cancel := s.inFlight[key]
	delete(s.inFlight, key)
	s.mu.Unlock()
	cancel()
}

// serve lets mcp-go answer a request. A panic ends that request only; what it says
// may hold personal data and is told nobody.
func (s *session) serve(ctx context.Context, m message, r *request) (answer []byte) {
	defer func() {
		if recover() != nil {
			s.face.log.Error("a request of a host failed inside airlock", zap.String("method", m.method), zap.Stack("stack"))
			answer = failure(m.id, mcp.INTERNAL_ERROR, "the request failed inside airlock; its log says more")
		}
	}()
	ctx = context.WithValue(ctx, requestKey{}, r)
	response := s.face.mcp.HandleMessage(s.face.mcp.WithContext(ctx, s), m.raw)
	if e, ok := response.(mcp.JSONRPCError); ok && r.code != 0 {
		e.Error.Code = r.code
		response = e
	}
	if answer = encode(response); answer == nil {
		answer = failure(m.id, mcp.INTERNAL_ERROR, "the answer could not be encoded")
	}
	return answer
}

// note takes a notification of the host.
func (s *session) note(m message) {
	if m.method == string(mcp.MethodNotificationCancelled) {
		s.mu.Lock()
		cancel := s.inFlight[string(m.target)]
		s.mu.Unlock()
		if cancel != nil {
			cancel()
		}
		return
	}
	s.face.mcp.HandleMessage(s.face.mcp.WithContext(s.ctx, s), m.raw)
}
