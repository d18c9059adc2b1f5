// Package worker is the process that scripts of one session run in: it compiles
// the engine, locks itself down, and then runs one execution after the other,
// each in a fresh interpreter that was made ahead of time. It has no network, no
// files and no secrets; what a script wants from outside goes as frames to the
// parent process, which decides.
//
// One goroutine owns the interpreters. Compiled scripts cannot be preempted, so a
// garbage collection that starts while a native function of the engine runs
// would stop every other goroutine, the watchdog included, until that function
// ends. The collector is therefore off, and run by the owner between two calls.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"airlock/runtime/wasm/engine"
	"airlock/runtime/wasm/internal/lockdown"
	"airlock/runtime/wasm/internal/quickjs"
	"airlock/runtime/wasm/internal/wire"
)

// garbageLimit is how many bytes are handled between two collections.
const garbageLimit = 48 << 20

// killDelay is what a script is given to end by itself, by the engine's looks at
// the interrupt, before its loops are made to trap.
const killDelay = 200 * time.Millisecond

// worker serves one parent.
type worker struct {
	conn     *wire.Conn
	engine   *quickjs.Engine
	prelude  string
	template *template
	location *time.Location
	runs     chan wire.Frame
	garbage  atomic.Int64
	lastID   uint32 // of the calls and file operations of all executions; the owner's

	mu      sync.Mutex // guards both below
	current *guest
	stopped uint32 // id of the latest execution that was asked to stop
}

// Main serves the parent at the other end of in and out until in ends.
func Main(ctx context.Context, in io.Reader, out io.Writer) error {
	// The watchdog needs a processor of its own beside the one a script keeps.
	// Setting the number also keeps the runtime from stopping the world to adapt it.
	runtime.GOMAXPROCS(max(runtime.NumCPU(), 2))
	w := &worker{conn: wire.NewConn(in, out), runs: make(chan wire.Frame, 1)}
	setup, err := w.receiveSetup()
	if err != nil {
		return fmt.Errorf("start a sandbox worker: %w", err)
	}
	spare, locks, err := w.boot(ctx, setup)
	if err != nil {
		return errors.Join(err, w.report(wire.Report{Error: err.Error()}))
	}
	defer w.engine.Close(ctx)
	debug.SetGCPercent(-1)
	if err := w.report(wire.Report{Locks: locks}); err != nil {
		return err
	}
	received := make(chan error, 1)
	go func() { received <- w.receive() }()
	err = w.serve(ctx, spare)
	return errors.Join(err, <-received)
}

func (w *worker) receiveSetup() (wire.Setup, error) {
	var setup wire.Setup
	f, err := w.conn.Receive()
	if err != nil {
		return setup, err
	}
	if f.Kind != wire.Start {
		return setup, fmt.Errorf("%w: the first frame has kind %d", wire.ErrProtocol, f.Kind)
	}
	w.prelude = string(f.Field(1))
	return setup, json.Unmarshal(f.Field(0), &setup)
}

// boot does all that needs the system, and then gives the system up.
func (w *worker) boot(ctx context.Context, setup wire.Setup) (*guest, map[string]string, error) {
	var err error
	if w.location, err = time.LoadLocation(setup.TimeZone); err != nil {
		return nil, nil, fmt.Errorf("load the time zone: %w", err)
	}
	wasm, err := engine.Wasm()
	if err != nil {
		return nil, nil, err
	}
	w.engine, err = quickjs.NewEngine(ctx, quickjs.EngineOptions{Wasm: wasm, KillAddress: engine.KillAddress, CacheDir: setup.CacheDir})
	if err != nil {
		return nil, nil, err
	}
	if w.template, err = w.makeTemplate(ctx); err != nil {
		return nil, nil, errors.Join(err, w.engine.Close(ctx))
	}
	spare, err := w.newGuest(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, w.engine.Close(ctx))
	}
	return spare, lockdown.Apply(), nil
}

func (w *worker) report(r wire.Report) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return w.conn.Send(wire.Ready, 0, b)
}

// receive hands the parent's frames to whom they are for.
func (w *worker) receive() error {
	defer close(w.runs)
	defer w.stopAll()
	for {
		f, err := w.conn.Receive()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for _, field := range f.Fields {
			w.garbage.Add(int64(len(field)))
		}
		switch f.Kind {
		case wire.Run:
			w.runs <- f
		case wire.Stop:
			w.stop(f.ID)
		case wire.Answer, wire.FileAnswer:
			w.deliver(f)
		default:
			return fmt.Errorf("%w: kind %d", wire.ErrProtocol, f.Kind)
		}
	}
}

func (w *worker) stop(execution uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = execution
	if w.current != nil && w.current.execution == execution {
		w.current.stopNow()
	}
}

func (w *worker) stopAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != nil {
		w.current.stopNow()
	}
}

func (w *worker) deliver(f wire.Frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != nil {
		w.current.deliver(f)
	}
}

// serve runs executions; the next interpreter is made while nobody waits, and
// announced.
func (w *worker) serve(ctx context.Context, g *guest) error {
	for f := range w.runs {
		var job wire.Job
		if err := json.Unmarshal(f.Field(0), &job); err != nil {
			return fmt.Errorf("%w: job: %w", wire.ErrProtocol, err)
		}
		w.begin(g, f.ID)
		outcome, value := g.run(job, string(f.Field(1)))
		w.begin(nil, 0)
		b, err := json.Marshal(outcome)
		if err != nil {
			return err
		}
		if err := w.conn.Send(wire.Done, f.ID, b, value); err != nil {
			return err
		}
		g.close()
		w.collect(garbageLimit / 4)
		if g, err = w.newGuest(ctx); err != nil {
			return err
		}
		if err := w.conn.Send(wire.Ready, f.ID); err != nil {
			return err
		}
	}
	g.close()
	return nil
}

func (w *worker) begin(g *guest, execution uint32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.current = g
	if g == nil {
		return
	}
	g.execution = execution
	if w.stopped == execution {
		g.stopNow()
	}
}

// collect runs the garbage collector when more than limit bytes were handled. It
// must be called by the owner of the interpreters, while none computes.
func (w *worker) collect(limit int64) {
	if w.garbage.Load() > limit {
		w.garbage.Store(0)
		runtime.GC()
	}
}
