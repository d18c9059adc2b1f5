package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"airlock/runtime/wasm/internal/quickjs"
	"airlock/runtime/wasm/internal/script"
	"airlock/runtime/wasm/internal/wire"
)

const (
	// spareMemory is what an interpreter may use before its execution begins.
	spareMemory = 64 << 20
	// stackBytes makes recursion deeper than some two thousand calls an error.
	stackBytes = 512 << 10
	// maxPending bounds the calls of a script that are under way.
	maxPending = 1000
	// maxTimers bounds its timers.
	maxTimers = 10_000
	// perGuest is what an interpreter leaves for the garbage collector (measured).
	perGuest = 256 << 10
)

// guest is one interpreter with what its execution needs.
type guest struct {
	w  *worker
	vm *quickjs.VM
	hooks
	execution uint32

	stopOnce sync.Once
	stop     chan struct{} // closed when the execution shall end
	killer   *time.Timer   // set before stop is closed

	answers     chan wire.Frame // to calls
	fileAnswers chan wire.Frame
	fileID      atomic.Uint32 // of the file operation that waits

	// What follows belongs to the owner of the interpreter.
	begun      time.Time
	job        wire.Job
	source     script.Source
	out        *output
	pending    map[uint32]quickjs.Promise
	timers     timers
	rejections map[uint32]quickjs.Value // promises that nobody handles -> reason
	overflow   bool                     // too much was printed
}

// hooks are the functions that the driver calls in an interpreter: three of the
// prelude, two of its own.
type hooks struct {
	toResult, toError, require quickjs.Value
	toAnswer                   quickjs.Value // makes what call resolves with
	keysOf                     quickjs.Value // the JSON of an object's own keys
}

// template is an interpreter in which the prelude was evaluated.
type template struct {
	state *quickjs.Template
	hooks hooks
}

// makeTemplate evaluates the prelude, once for all interpreters.
func (w *worker) makeTemplate(ctx context.Context) (*template, error) {
	g, err := w.newGuest(ctx)
	if err != nil {
		return nil, err
	}
	defer g.close()
	if err := g.install(); err != nil {
		return nil, fmt.Errorf("evaluate the helpers: %w", g.explain(err))
	}
	state, err := g.vm.Template()
	if err != nil {
		return nil, err
	}
	return &template{state, g.hooks}, nil
}

// newGuest makes an interpreter, a copy of the template once there is one.
func (w *worker) newGuest(ctx context.Context) (*guest, error) {
	g := &guest{
		w: w, stop: make(chan struct{}), begun: time.Now(),
		answers: make(chan wire.Frame, maxPending), fileAnswers: make(chan wire.Frame, 1),
		pending: map[uint32]quickjs.Promise{}, rejections: map[uint32]quickjs.Value{},
	}
	g.out = newOutput(w.conn)
	w.garbage.Add(perGuest)
	o := quickjs.Options{
		MemoryBytes: spareMemory, StackBytes: stackBytes, Location: w.location,
		Functions: g.functions(), Loader: modules{g}, Rejected: g.rejected,
	}
	if w.template != nil {
		o.Template, g.hooks = w.template.state, w.template.hooks
	}
	vm, err := w.engine.NewVM(ctx, o)
	if err != nil {
		return nil, err
	}
	g.vm = vm
	return g, nil
}

// What the driver has evaluated beside the prelude, before any script can change
// what these use. An answer has no prototype: resolving a promise with an object
// looks for a property then, and Object.prototype is the script's.
const (
	toAnswer = `((status,body)=>({__proto__:null,status,body}))`
	keysOf   = `(({stringify},{keys})=>m=>stringify(m===null||typeof m!=="object"&&typeof m!=="function"?[]:keys(m)))(JSON,Object)`
)

// install gives the prelude its host and keeps its hooks.
func (g *guest) install() (err error) {
	host, err := g.vm.Object()
	if err != nil {
		return err
	}
	defer g.vm.Free(host)
	for name := range g.functions() {
		f, err := g.vm.HostFunction(name)
		if err != nil {
			return err
		}
		if err := g.vm.Set(host, name, f); err != nil {
			return err
		}
	}
	if g.toAnswer, err = g.vm.Eval(toAnswer, preludeFile, quickjs.EvalScript); err != nil {
		return err
	}
	if g.keysOf, err = g.vm.Eval(keysOf, preludeFile, quickjs.EvalScript); err != nil {
		return err
	}
	return g.installPrelude(host)
}

// preludeFile names the prelude in stack traces.
const preludeFile = "airlock:prelude"

func (g *guest) installPrelude(host quickjs.Value) error {
	prelude, err := g.vm.Eval(g.w.prelude, preludeFile, quickjs.EvalScript)
	if err != nil {
		return err
	}
	defer g.vm.Free(prelude)
	given, err := g.vm.Call(prelude, host)
	if err != nil {
		return err
	}
	defer g.vm.Free(given)
	if g.toResult, err = g.vm.Get(given, "result"); err != nil {
		return err
	}
	if g.toError, err = g.vm.Get(given, "error"); err != nil {
		return err
	}
	if g.require, err = g.vm.Get(given, "require"); err != nil {
		return err
	}
	return g.warm(given)
}

// warm lets the prelude prepare what it would otherwise prepare at first use.
func (g *guest) warm(given quickjs.Value) error {
	warm, err := g.vm.Get(given, "warm")
	if err != nil {
		return err
	}
	defer g.vm.Free(warm)
	if none, err := g.vm.IsUndefined(warm); err != nil || none {
		return err
	}
	ignored, err := g.vm.Call(warm)
	g.vm.Free(ignored)
	return err
}

// explain gives an exception of our own prelude its text.
func (g *guest) explain(err error) error {
	var thrown *quickjs.Exception
	if !errors.As(err, &thrown) {
		return err
	}
	text, _, textErr := g.vm.Text(thrown.Value, 1000)
	if textErr != nil {
		return err
	}
	return errors.New(text)
}

func (g *guest) close() {
	if g.killer != nil {
		g.killer.Stop()
	}
	_ = g.vm.Close()
}

// stopNow asks the script to end, and makes it end a little later. It is called
// with the worker's lock held.
func (g *guest) stopNow() {
	g.stopOnce.Do(func() {
		close(g.stop) // first: who sees the interrupt asks whether it was this
		g.killer = time.AfterFunc(killDelay, g.vm.Kill)
		g.vm.Interrupt()
	})
}

func (g *guest) isStopped() bool {
	select {
	case <-g.stop:
		return true
	default:
		return false
	}
}

// deliver takes an answer from the parent. A parent that answers more than it was
// asked loses the surplus.
func (g *guest) deliver(f wire.Frame) {
	to := g.answers
	if f.Kind == wire.FileAnswer {
		if to = g.fileAnswers; f.ID != g.fileID.Load() {
			return // for an execution that was stopped while it waited
		}
	}
	select {
	case to <- f:
	default:
	}
}

// rejected keeps account of promises that were rejected with nobody listening.
func (g *guest) rejected(vm *quickjs.VM, id uint32, reason quickjs.Value, handled bool) {
	if old, ok := g.rejections[id]; ok {
		vm.Free(old)
		delete(g.rejections, id)
	}
	if handled || len(g.rejections) >= maxRejections {
		return
	}
	if kept, err := vm.Dup(reason); err == nil {
		g.rejections[id] = kept
	}
}

// maxRejections bounds how many of them are kept, and reported.
const maxRejections = 16
