package servers

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"airlock/pii"
)

// builtinWire calls a server in this process. A handler that ignores its
// context cannot be killed, so calls do not wait for it past their deadline.
type builtinWire struct {
	*transport.InProcessTransport
	*ending
	calls sync.WaitGroup
}

// errPanicked is a built-in server's mistake; the others go on.
var errPanicked = errors.New("handler panicked")

func (u *upstream) openBuiltin(ctx context.Context) (wire, error) {
	s, err := u.manager.options.Builtins[u.entry.Name](ctx)
	if err != nil {
		// Built-in servers are ours, and so are the texts of their errors.
		return nil, u.fail(doStart, ErrUpstream, err.Error(), "")
	}
	return &builtinWire{InProcessTransport: transport.NewInProcessTransport(s), ending: newEnding()}, nil
}

type answer struct {
	response *transport.JSONRPCResponse
	err      error
}

func (w *builtinWire) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answers := make(chan answer, 1)
	w.calls.Go(func() {
		defer func() {
			if recover() != nil {
				answers <- answer{err: errPanicked}
			}
		}()
		response, err := w.InProcessTransport.SendRequest(ctx, r)
		answers <- answer{response, err}
	})
	select {
	case a := <-answers:
		return a.response, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.ended():
		return nil, w.cause()
	}
}

func (w *builtinWire) kill(cause error) { w.end(cause) }

func (w *builtinWire) detail() pii.Raw { return pii.Raw{} }

// builtinGrace is how long Close waits for handlers that were told to stop.
const builtinGrace = 5 * time.Second

func (w *builtinWire) Close() error {
	w.end(errClosed)
	err := w.InProcessTransport.Close()
	idle := make(chan struct{})
	go func() { // ends with the last handler
		w.calls.Wait()
		close(idle)
	}()
	select {
	case <-idle:
		return err
	case <-time.After(builtinGrace):
		return errors.New("a handler of a built-in server did not stop")
	}
}
