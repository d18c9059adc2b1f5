package servers

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"airlock/pii"
)

// sseWire speaks the older HTTP+SSE transport through mcp-go. All answers come
// over one stream: a message over the limit ends it, and the next call opens
// another.
type sseWire struct {
	*transport.SSE
	*ending
	client *http.Client
	stream *exchange
	calls  sync.WaitGroup
}

func (u *upstream) openSSE() (wire, error) {
	client := u.httpClient(u.entry.initTimeout)
	t, err := transport.NewSSE(u.entry.launch.url, transport.WithHTTPClient(client),
		transport.WithHeaders(u.entry.launch.headers), transport.WithSSELogger(slog.New(slog.DiscardHandler)),
		transport.WithEndpointTimeout(u.entry.initTimeout), transport.WithResponseTimeout(24*time.Hour)) // calls have deadlines of their own
	if err != nil {
		return nil, u.badURL()
	}
	return &sseWire{SSE: t, ending: newEnding(), client: client}, nil
}

// Start opens the stream of events, which lives as long as ctx.
func (w *sseWire) Start(ctx context.Context) error {
	ctx, w.stream = withExchange(ctx)
	w.SetConnectionLostHandler(func(error) {
		if w.stream.tooLarge.Load() {
			w.end(errTooLarge)
			return
		}
		w.end(errUnreachable)
	})
	if err := w.SSE.Start(ctx); err != nil {
		return w.stream.judge(ctx, err)
	}
	return nil
}

// SendRequest does not wait for an answer over a stream that has ended, as
// mcp-go does.
func (w *sseWire) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	ctx, x := withExchange(ctx)
	answers := make(chan answer, 1)
	w.calls.Go(func() {
		response, err := w.SSE.SendRequest(ctx, r)
		answers <- answer{response, err}
	})
	defer cancel()
	select {
	case a := <-answers:
		if a.err == nil && a.response != nil {
			return a.response, nil
		}
		return nil, x.judge(ctx, a.err)
	case <-w.ended():
		return nil, w.cause()
	}
}

func (w *sseWire) kill(cause error) {
	w.end(cause)
	_ = w.SSE.Close() // the cause is known
}

func (w *sseWire) detail() pii.Raw { return pii.Raw{} }

// Close ends the stream and the connections.
func (w *sseWire) Close() error {
	w.end(errClosed)
	err := w.SSE.Close()
	w.calls.Wait()
	w.client.CloseIdleConnections()
	return err
}
