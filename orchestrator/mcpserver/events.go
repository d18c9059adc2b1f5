package mcpserver

import (
	"fmt"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// heartbeat is how often a silent connection is written to, so that proxies keep
	// it and a client that is gone is noticed.
	heartbeat = 20 * time.Second
	// writeTime bounds one write, so that a client that reads nothing is let go.
	writeTime = 30 * time.Second
	// retryMs is how long a client waits before it comes again, in milliseconds.
	retryMs = 500
)

// send writes a stream as Server-Sent Events from after a number on, until it is
// finished, its client is gone, or another reader takes it.
func (s *session) send(w http.ResponseWriter, r *http.Request, out *stream, seq, keep int) {
	ctx, release := out.take(r.Context())
	defer release()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	h.Set(headerSession, s.id)
	w.WriteHeader(http.StatusOK)
	write := eventWriter(w)
	if err := write(s.opening(out, seq)); err != nil {
		return
	}
	_ = out.copyTo(ctx, seq, keep, sink{ // whoever is gone comes again
		send: func(e event) error {
			s.touch()
			return write(fmt.Appendf(nil, "id: %d-%d\nevent: message\ndata: %s\n\n", out.id, e.seq, e.data))
		},
		alive: func() error {
			s.touch()
			return write([]byte(":\n\n"))
		},
	})
}

// opening is what a stream begins with: a comment, or for clients that know it an
// empty event, by whose id they can come again before anything was said.
func (s *session) opening(out *stream, seq int) []byte {
	if s.ProtocolVersion() < mcp.ProtocolVersion20251125 {
		return []byte(":\n\n")
	}
	return fmt.Appendf(nil, "id: %d-%d\nretry: %d\ndata: \n\n", out.id, seq, retryMs)
}

// eventWriter writes and flushes, each within its time.
func eventWriter(w http.ResponseWriter) func([]byte) error {
	control := http.NewResponseController(w)
	return func(data []byte) error {
		if err := control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
		return control.Flush()
	}
}
