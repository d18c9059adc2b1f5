package quickjs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero/api"
)

var (
	// ErrTrap is wrapped when the module itself failed or was killed.
	ErrTrap = errors.New("the engine stopped")
	// ErrMemory is returned when the engine had no memory for what the driver
	// asked of it.
	ErrMemory = errors.New("the engine is out of memory")
)

// Function is a host function that scripts can call. Its arguments are lent; the
// value it returns is given away, zero standing for undefined. An error becomes
// an Error of the script; one with a method Code() string sets its property code.
type Function func(vm *VM, args []Value) (Value, error)

// Loader finds the ES modules that scripts import.
type Loader interface {
	// Resolve makes the name of a module of what the importing module says.
	Resolve(base, specifier string) (string, error)
	// Load returns a module's source. It may use the VM.
	Load(vm *VM, name string) (string, error)
}

// Options configure a VM.
type Options struct {
	// MemoryBytes bounds the VM's memory, all counted.
	MemoryBytes uint64
	// StackBytes bounds recursion; deeper is an error of the script. At most half
	// of the module's own stack of 1 MiB.
	StackBytes uint32
	Functions  map[string]Function
	Loader     Loader
	// Rejected, if set, is told of promises that nobody handles, and again, with
	// handled set, when somebody does after all. The reason is lent; id tells
	// promises apart.
	Rejected func(vm *VM, id uint32, reason Value, handled bool)
	// Location is the script's time zone; UTC if nil.
	Location *time.Location
	// Template, if set, is the state to begin with. It must be of the same engine,
	// and its functions are found by their names in Functions.
	Template *Template
}

// VM is one interpreter.
type VM struct {
	o      Options
	engine *Engine
	module api.Module
	invoke func(fn api.Function, stack []uint64) error // with a context that carries the VM to the imports
	close  func() error
	memory *memory
	depths []*depth
	level  int
	broken error
	stop   atomic.Bool
}

// NewVM makes an interpreter, in about half a millisecond.
func (e *Engine) NewVM(ctx context.Context, o Options) (*VM, error) {
	vm := &VM{o: o, engine: e, memory: newMemory(o.MemoryBytes)}
	ctx = context.WithValue(context.WithoutCancel(ctx), vmKey{}, vm)
	vm.invoke = func(fn api.Function, stack []uint64) error { return fn.CallWithStack(ctx, stack) }
	vm.close = func() error { return vm.module.Close(ctx) }
	if err := vm.boot(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start an interpreter: %w", err), vm.Close())
	}
	return vm, nil
}

func (vm *VM) boot(ctx context.Context) (err error) {
	if vm.module, err = vm.engine.instantiate(ctx, vm.memory); err != nil {
		return err
	}
	if vm.o.Template != nil {
		err = vm.restore(vm.o.Template)
	} else {
		err = vm.initialize()
	}
	if err != nil {
		return err
	}
	return vm.SetMemoryLimit(vm.o.MemoryBytes)
}

func (vm *VM) initialize() error {
	for _, step := range []struct {
		fn   export
		args []uint64
	}{
		{fnInitialize, nil}, {fnInit, nil},
		{fnSetStackSize, []uint64{uint64(vm.o.StackBytes)}},
		{fnSetInterrupt, []uint64{1}}, {fnSetRejections, []uint64{1}}, {fnSetModules, []uint64{1}},
	} {
		if _, err := vm.call(step.fn, step.args...); err != nil {
			return err
		}
	}
	return nil
}

// Close frees the VM. It must not run any more.
func (vm *VM) Close() error {
	_ = vm.breakWith(errors.New("the interpreter is closed"))
	if vm.module == nil {
		vm.memory.Free()
		return nil
	}
	return vm.close()
}

// Interrupt asks the script to stop at the engine's next look, which native
// functions do not take. The script cannot catch it. For any goroutine.
func (vm *VM) Interrupt() { vm.stop.Store(true) }

// Interrupted reports whether Interrupt was called. For any goroutine.
func (vm *VM) Interrupted() bool { return vm.stop.Load() }

// Kill ends what runs within a few milliseconds and breaks the VM. For any
// goroutine.
func (vm *VM) Kill() {
	vm.stop.Store(true)
	vm.memory.kill(vm.engine.kill)
}

// reservedBytes is what the engine's own stack and data take of a memory.
const reservedBytes = 18 * pageSize

// SetMemoryLimit changes what the memory may grow to. Below that the engine's own
// limit for scripts leaves room for the driver, so that running out is, nearly
// always, an exception in the script.
func (vm *VM) SetMemoryLimit(bytes uint64) error {
	bytes = min(bytes, maxPages*pageSize)
	vm.memory.limit.Store(bytes)
	vm.memory.refused.Store(false)
	room := reservedBytes + max(bytes/32, 1<<20)
	if bytes < 2*room {
		return fmt.Errorf("%d bytes are too few for an interpreter; it needs %d", bytes, 2*room)
	}
	_, err := vm.call(fnSetMemoryLimit, bytes-room)
	return err
}

// MemoryShort reports whether the script used, or was refused, so much memory
// that a failure without other cause may be put down to it.
func (vm *VM) MemoryShort() bool {
	return vm.memory.refused.Load() || vm.memory.size() > vm.memory.limit.Load()/4*3
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
