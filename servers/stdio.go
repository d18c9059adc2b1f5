package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"airlock/pii"
)

// stdioWire speaks with a process over its standard input and output. It takes
// the place of mcp-go's own, which has no limit for messages, blocks its callers
// when the server stops reading, runs handlers on its reading loop and leaves
// wrapped servers running.
type stdioWire struct {
	*ending
	up     *upstream
	owner  Caller
	max    int
	proc   *process
	errors outputTail
	// drained is closed at the end of standard error.
	drained chan struct{}

	out      chan []byte // to the writing goroutine; unbuffered, so who gave up is not sent
	requests chan transport.JSONRPCRequest
	work     sync.WaitGroup
	garbage  atomic.Int64 // lines that are no messages

	mu      sync.Mutex // guards what follows
	pending map[int64]chan<- answer
	notify  func(mcp.JSONRPCNotification)
	handle  transport.RequestHandler
	spoke   bool // a message came
}

const (
	// maxGarbage is how many lines before the first message are taken for
	// log output that went the wrong way.
	maxGarbage = 1000
	// maxAsked is how many of its own requests a server may have open; more are
	// dropped, so that a flood of them costs nothing.
	maxAsked = 16
	// exitTime is how long the exit status may come after the end of output: on a
	// busy machine a keeper takes a while to clear up.
	exitTime = 3 * time.Second
)

func (u *upstream) openStdio(owner Caller) wire {
	return &stdioWire{
		ending: newEnding(), up: u, owner: owner, max: u.entry.maxMessage,
		out: make(chan []byte), requests: make(chan transport.JSONRPCRequest, maxAsked),
		pending: map[int64]chan<- answer{}, drained: make(chan struct{}),
	}
}

// Start starts the process; it is called by mcp-go's client.
func (w *stdioWire) Start(context.Context) error {
	line, err := w.up.commandLine(w.owner)
	if err != nil {
		return err
	}
	w.proc, err = startProcess(w.up.manager.spawner, w.up.manager.options.Keeper, line)
	if err != nil {
		reason := "exec failed"
		var failed *exec.Error
		if errors.As(err, &failed) {
			reason = fmt.Sprintf("exec failed: %v", failed.Err)
		}
		return w.up.fail(doStart, ErrUpstream, reason, `check "command" in catalog.json`)
	}
	w.work.Go(w.read)
	w.work.Go(w.write)
	w.work.Go(w.respond)
	w.work.Go(w.drain)
	w.work.Go(w.watch)
	return nil
}

func (w *stdioWire) drain() {
	defer close(w.drained)
	w.errors.drain(w.proc.stderr)
}

// watch notices that the process is gone and closes what it left.
func (w *stdioWire) watch() {
	<-w.proc.exited
	select {
	case <-w.ended(): // the reader saw the end of output
	case <-time.After(exitTime): // a process that left the group holds it open
		w.end(w.exitCause())
	}
	w.proc.closePipes()
}

// exitCause waits for the last words on standard error, unless a process that
// left the group holds it open.
func (w *stdioWire) exitCause() error {
	select {
	case <-w.drained:
	case <-time.After(exitTime):
	}
	hint := w.endHint()
	if w.proc.over {
		hint = "ask for less at a time, or raise sandbox.memoryMB in catalog.json"
	}
	return w.up.fail(doStart, ErrUpstream, fmt.Sprintf("the process ended (%s)", w.proc.state), hint)
}

func (w *stdioWire) endHint() string {
	if w.garbage.Load() > 0 {
		return "it wrote to its standard output what is no message; look at what it wrote to standard error, and check its arguments"
	}
	if w.up.entry.launch.isolation != nil {
		return "look at what it wrote to standard error; isolation may keep it from what it needs, or the system from being isolated"
	}
	return "look at what it wrote to standard error, and check its arguments"
}

// respond answers the server's own requests. One that waits for a person does
// not hold up a ping.
func (w *stdioWire) respond() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	slots := make(chan struct{}, maxAsked)
	for {
		select {
		case <-w.ended():
			return
		case r := <-w.requests:
			select {
			case slots <- struct{}{}:
				w.work.Go(func() {
					defer func() { <-slots }()
					_ = w.send(ctx, w.responseTo(ctx, r)) // fails when the wire ends
				})
			case <-w.ended():
				return
			}
		}
	}
}

func (w *stdioWire) responseTo(ctx context.Context, r transport.JSONRPCRequest) any {
	w.mu.Lock()
	handle := w.handle
	w.mu.Unlock()
	if handle != nil {
		if response, err := handle(ctx, r); err == nil && response != nil {
			return response
		}
	}
	return transport.NewJSONRPCErrorResponse(r.ID, mcp.METHOD_NOT_FOUND, notOffered, nil)
}

func (w *stdioWire) write() {
	for {
		select {
		case <-w.ended():
			return
		case frame := <-w.out:
			if _, err := w.proc.stdin.Write(frame); err != nil {
				w.deaf()
				return
			}
		}
	}
}

// deaf is the end of the server's input. When it ended, watch says so.
func (w *stdioWire) deaf() {
	if !w.proc.gone(exitTime) {
		w.kill(w.up.fail(doStart, ErrUpstream, "it closed its standard input", w.endHint()))
	}
}

// send hands a message to the writing goroutine. Only that one blocks when the
// server stops reading.
func (w *stdioWire) send(ctx context.Context, message any) error {
	frame, err := json.Marshal(message)
	if err != nil {
		return err
	}
	if len(frame) > w.max {
		return errRequestTooLarge
	}
	select {
	case w.out <- append(frame, '\n'):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-w.ended():
		return w.cause()
	}
}

// SendRequest sends a request and waits for its answer.
func (w *stdioWire) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	id, ok := r.ID.Value().(int64)
	if !ok {
		return nil, errMalformed
	}
	answers := make(chan answer, 1)
	w.mu.Lock()
	w.pending[id] = answers
	w.mu.Unlock()
	defer w.forget(id)
	if err := w.send(ctx, r); err != nil {
		return nil, err
	}
	select {
	case a := <-answers:
		return a.response, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-w.ended():
		return lastAnswer(answers, w.cause())
	}
}

// lastAnswer prefers an answer that came just before the end.
func lastAnswer(answers <-chan answer, cause error) (*transport.JSONRPCResponse, error) {
	select {
	case a := <-answers:
		return a.response, a.err
	default:
		return nil, cause
	}
}

func (w *stdioWire) forget(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pending, id)
}

// SendNotification sends a message that has no answer.
func (w *stdioWire) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	return w.send(ctx, n)
}

// SetNotificationHandler sets what is told of notifications. It runs on the
// reading goroutine and must not wait for anything.
func (w *stdioWire) SetNotificationHandler(f func(mcp.JSONRPCNotification)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.notify = f
}

// SetRequestHandler sets what answers the server's own requests.
func (w *stdioWire) SetRequestHandler(f transport.RequestHandler) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handle = f
}

// GetSessionId is part of mcp-go's interface; stdio has no sessions.
func (w *stdioWire) GetSessionId() string { return "" } //nolint:revive // mcp-go's name

func (w *stdioWire) kill(cause error) {
	w.end(cause)
	if w.proc != nil {
		w.proc.kill()
	}
}

func (w *stdioWire) detail() pii.Raw { return w.errors.raw() }

// Close stops the process and waits for everything that belongs to it.
func (w *stdioWire) Close() error {
	if w.proc != nil {
		select {
		case <-w.ended():
			w.proc.kill()
			<-w.proc.exited
		default:
			w.proc.stop()
		}
	}
	w.end(errClosed)
	w.work.Wait()
	return nil
}
