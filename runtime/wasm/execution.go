package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"time"

	"go.uber.org/zap"

	"airlock/runtime/sandbox"
	"airlock/runtime/wasm/internal/wire"
)

// execution is this process's half of an execution: it serves the worker that
// runs the script, and does not trust it.
type execution struct {
	x      sandbox.Execution
	worker *process
	log    *zap.Logger
	id     uint32
	output *output
	// healthy says, after run, that the worker can run another one.
	healthy bool

	calls sync.WaitGroup // calls of the bridge that are under way

	mu       sync.Mutex // guards all below, and that no answer follows the end
	pending  int
	held     int // bytes that the calls under way carry
	finished bool
}

func newExecution(x sandbox.Execution, w *process, log *zap.Logger) *execution {
	w.runs++
	return &execution{x: x, worker: w, log: log, id: w.runs, output: newOutput(x)}
}

// run runs the script to its end. When it returns, no call of the bridge and no
// goroutine of the execution is left.
func (e *execution) run(ctx context.Context) sandbox.Result {
	begun := time.Now()
	timed, release := clock(e.x).Start(ctx)
	defer release()
	e.worker.limitMemory(e.x.Limits.MemoryBytes)
	ended := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() { e.watch(timed, ended) })
	outcome, value, err := e.talk(timed)
	stopped := context.Cause(timed) // before release ends it as well
	close(ended)
	release()
	e.finish()
	watch.Wait()
	e.healthy = err == nil && e.worker.alive()
	if err != nil && stopped == nil {
		e.worker.end()
		e.log.Warn("a sandbox worker failed", zap.Error(err), zap.String("said", e.worker.lastWords()))
	}
	result := e.result(outcome, value, err, stopped)
	result.Duration = time.Since(begun)
	return result
}

// watch asks the worker to stop when the time is up, and kills it if it does not.
func (e *execution) watch(timed context.Context, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-timed.Done():
	}
	// The worker may be past reading: the kill must not wait for the sending.
	kill := time.AfterFunc(graceTime, e.worker.kill)
	defer kill.Stop()
	_ = e.worker.conn.Send(wire.Stop, e.id)
	<-ended
}

// talk starts the script and serves its worker until that says it is done.
func (e *execution) talk(ctx context.Context) (wire.Outcome, []byte, error) {
	job, err := json.Marshal(wire.Job{
		Language: string(e.x.Language), Name: scriptName(e.x.Name),
		MemoryBytes: uint64(e.x.Limits.MemoryBytes), OutputBytes: e.x.Limits.OutputBytes,
		OutputKillBytes: e.x.Limits.OutputKillBytes, ResultBytes: int(min(e.x.Limits.ResultBytes, maxResult)),
	})
	if err != nil {
		return wire.Outcome{}, nil, err
	}
	if err := e.worker.conn.Send(wire.Run, e.id, job, []byte(e.x.Code)); err != nil {
		return wire.Outcome{}, nil, fmt.Errorf("send the script: %w", err)
	}
	for {
		f, err := e.worker.conn.Receive()
		if err != nil {
			return wire.Outcome{}, nil, err
		}
		if f.Kind == wire.Done {
			var outcome wire.Outcome
			err := json.Unmarshal(f.Field(0), &outcome)
			return outcome, f.Field(1), err
		}
		if err := e.serve(ctx, f); err != nil {
			e.worker.kill()
			return wire.Outcome{}, nil, err
		}
	}
}

// maxResult bounds a result whatever its limit says: a frame must hold it.
const maxResult = 128 << 20

var errTooManyCalls = errors.New("the worker started more calls than it may")

func (e *execution) serve(ctx context.Context, f wire.Frame) error {
	switch f.Kind {
	case wire.Output:
		e.output.add(f)
		return nil
	case wire.Call:
		return e.startCall(ctx, f)
	case wire.File:
		code, message, data := serveFile(e.x.Files, string(f.Field(0)), string(f.Field(1)), f.Field(2))
		return e.worker.conn.Send(wire.FileAnswer, f.ID, []byte(code), []byte(message), data)
	default:
		return fmt.Errorf("%w: a frame of kind %d during an execution", wire.ErrProtocol, f.Kind)
	}
}

// maxPending is what a worker may have under way, with some room, since it counts
// a call as answered before we do.
const maxPending = 2000

// maxHeld bounds what calls under way carry. The bridge works on a few at a time and
// would let the others wait here, with bodies that the script need not keep.
const maxHeld = 4 * wire.MaxBody

func (e *execution) startCall(ctx context.Context, f wire.Frame) error {
	size := len(f.Field(2))
	e.mu.Lock()
	e.pending++
	e.held += size
	pending, held := e.pending, e.held
	e.mu.Unlock()
	if pending > maxPending {
		return errTooManyCalls
	}
	if held > maxHeld {
		id := f.ID // and nothing of what it carries
		e.calls.Go(func() {
			status, body := failure(http.StatusTooManyRequests, "too_much_pending", "the calls under way carry too much", "await some before you start more, or pass less")
			e.answer(ctx, id, size, status, body)
		})
		return nil
	}
	e.calls.Go(func() {
		status, body := callBridge(ctx, e.x, string(f.Field(0)), string(f.Field(1)), f.Field(2))
		e.answer(ctx, f.ID, size, status, body)
	})
	return nil
}

// answer sends the answer of a call that carried so many bytes, unless the execution has ended or is about to: the
// script must not see, and end with, the failure of a call that was cut short.
func (e *execution) answer(ctx context.Context, id uint32, size int, status string, body []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.pending--
	e.held -= size
	if !e.finished && ctx.Err() == nil {
		_ = e.worker.conn.Send(wire.Answer, id, []byte(status), body)
	}
}

// finish waits for the calls, whose context has ended.
func (e *execution) finish() {
	e.mu.Lock()
	e.finished = true
	e.mu.Unlock()
	e.calls.Wait()
}

var outsideName = regexp.MustCompile(`[^A-Za-z0-9._/-]+`)

// scriptName makes a name that can stand in a stack trace.
func scriptName(name string) string {
	name = outsideName.ReplaceAllString(name, "_")
	if name == "" {
		return "script"
	}
	return name[:min(len(name), 200)]
}
