package quickjs

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
)

// Value is a handle of a JavaScript value.
type Value uint32

// Exception is what a script threw. Its value is owned by who receives it.
type Exception struct{ Value Value }

// Error says only that there is one: the value is the script's.
func (*Exception) Error() string { return "the script threw an exception" }

// owned checks a value that the engine returned.
func (vm *VM) owned(h uint32, err error) (Value, error) {
	if err != nil {
		return 0, err
	}
	if h == 0 {
		return 0, vm.breakWith(ErrMemory)
	}
	threw, err := vm.call(fnIsException, uint64(h))
	if err != nil || threw == 0 {
		return Value(h), err
	}
	vm.Free(Value(h))
	return 0, vm.exception()
}

func (vm *VM) exception() error {
	h, err := vm.call(fnGetException)
	if err != nil {
		return err
	}
	if h == 0 {
		return vm.breakWith(ErrMemory)
	}
	return &Exception{Value(h)}
}

// EvalMode says how Eval reads a source.
type EvalMode uint32

// The ways to evaluate: as a script, whose value is its last expression's, or as
// an ES module, whose value is a promise of its namespace.
const (
	EvalScript EvalMode = 0
	EvalModule EvalMode = 1
)

// Eval evaluates a source; file names it in stack traces.
func (vm *VM) Eval(source, file string, mode EvalMode) (Value, error) {
	code, err := vm.text(source)
	if err != nil {
		return 0, err
	}
	defer vm.freeText(code)
	name, err := vm.text(file)
	if err != nil {
		return 0, err
	}
	defer vm.freeText(name)
	return vm.owned(vm.call(fnEval, code, uint64(len(source)), name, uint64(mode)))
}

// Call calls a function with this being undefined.
func (vm *VM) Call(fn Value, args ...Value) (Value, error) {
	argv, err := vm.alloc(uint64(4*len(args) + 4))
	if err != nil {
		return 0, err
	}
	defer vm.freeText(argv)
	for i, a := range args {
		vm.module.Memory().WriteUint32Le(uint32(argv)+uint32(4*i), uint32(a))
	}
	this, err := vm.Undefined()
	if err != nil {
		return 0, err
	}
	defer vm.Free(this)
	return vm.owned(vm.call(fnCall, uint64(fn), uint64(this), uint64(len(args)), argv))
}

// Free gives a value back. Zero is ignored.
func (vm *VM) Free(v Value) {
	if v != 0 && vm.broken == nil {
		_, _ = vm.call(fnFreeValue, uint64(v))
	}
}

// Dup makes a second handle of a value.
func (vm *VM) Dup(v Value) (Value, error) { return vm.owned(vm.call(fnDupValue, uint64(v))) }

// Identity is equal for two handles of the same object.
func (vm *VM) Identity(v Value) (uint32, error) { return vm.call(fnValuePtr, uint64(v)) }

// Get reads a property, which may run a getter.
func (vm *VM) Get(v Value, name string) (Value, error) {
	key, err := vm.text(name)
	if err != nil {
		return 0, err
	}
	defer vm.freeText(key)
	return vm.owned(vm.call(fnGetProp, uint64(v), key))
}

// Set sets a property to a value that is given away.
func (vm *VM) Set(object Value, name string, v Value) error {
	defer vm.Free(v)
	key, err := vm.text(name)
	if err != nil {
		return err
	}
	defer vm.freeText(key)
	result, err := vm.call(fnSetProp, uint64(object), key, uint64(v))
	if err == nil && int32(result) < 0 {
		return vm.exception()
	}
	return err
}

// Undefined returns undefined.
func (vm *VM) Undefined() (Value, error) { return vm.owned(vm.call(fnGetUndefined)) }

// Global returns the global object.
func (vm *VM) Global() (Value, error) { return vm.owned(vm.call(fnGetGlobal)) }

// Object makes an empty object.
func (vm *VM) Object() (Value, error) { return vm.owned(vm.call(fnNewObject)) }

// Number makes a number.
func (vm *VM) Number(f float64) (Value, error) {
	return vm.owned(vm.call(fnNewNumber, math.Float64bits(f)))
}

// String makes a string; bytes that are not UTF-8 become U+FFFD.
func (vm *VM) String(s string) (Value, error) {
	p, err := vm.text(s)
	if err != nil {
		return 0, err
	}
	defer vm.freeText(p)
	return vm.owned(vm.call(fnNewString, p, uint64(len(s))))
}

// HostFunction makes a function that calls Options.Functions[name].
func (vm *VM) HostFunction(name string) (Value, error) {
	p, err := vm.text(name)
	if err != nil {
		return 0, err
	}
	defer vm.freeText(p)
	return vm.owned(vm.call(fnNewHostFunction, p, uint64(len(name)), 0))
}

// Float reads a number; other values run the script's conversion.
func (vm *VM) Float(v Value) (float64, error) {
	bits, err := vm.call64(fnGetFloat, uint64(v))
	return math.Float64frombits(bits), err
}

// Is reports a property of a value that no script can falsify.
func (vm *VM) is(fn export, v Value) (bool, error) {
	n, err := vm.call(fn, uint64(v))
	return n != 0, err
}

// IsUndefined reports whether v is undefined.
func (vm *VM) IsUndefined(v Value) (bool, error) { return vm.is(fnIsUndefined, v) }

// IsNull reports whether v is null.
func (vm *VM) IsNull(v Value) (bool, error) { return vm.is(fnIsNull, v) }

// IsString reports whether v is a string.
func (vm *VM) IsString(v Value) (bool, error) { return vm.is(fnIsString, v) }

// IsPromise reports whether v is a promise.
func (vm *VM) IsPromise(v Value) (bool, error) { return vm.is(fnIsPromise, v) }

// Text returns a value as a string of at most limit bytes, valid UTF-8, and how
// long the whole is. Values that are not strings run the script's conversion.
func (vm *VM) Text(v Value, limit int) (string, int, error) {
	out, err := vm.alloc(4)
	if err != nil {
		return "", 0, err
	}
	defer vm.freeText(out)
	p, err := vm.call(fnGetString, uint64(v), out)
	if err != nil {
		return "", 0, err
	}
	if p == 0 {
		return "", 0, vm.exception()
	}
	defer func() { _, _ = vm.call(fnFreeCString, uint64(p)) }()
	size, _ := vm.module.Memory().ReadUint32Le(uint32(out))
	b, ok := vm.module.Memory().Read(p, min(size, uint32(max(limit, 0))))
	if !ok {
		return "", 0, vm.breakWith(fmt.Errorf("%w: a string outside its memory", ErrTrap))
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), int(size), nil
}

// Promise is a promise with the functions that settle it, all owned.
type Promise struct{ Promise, Resolve, Reject Value }

// NewPromise makes a pending promise.
func (vm *VM) NewPromise() (Promise, error) {
	out, err := vm.alloc(8)
	if err != nil {
		return Promise{}, err
	}
	defer vm.freeText(out)
	p, err := vm.owned(vm.call(fnNewPromise, out, out+4))
	if err != nil {
		return Promise{}, err
	}
	b, _ := vm.module.Memory().Read(uint32(out), 8)
	return Promise{p, Value(binary.LittleEndian.Uint32(b)), Value(binary.LittleEndian.Uint32(b[4:]))}, nil
}

// PromiseState is where a promise stands.
type PromiseState uint32

// The states of a promise.
const (
	Pending PromiseState = iota
	Fulfilled
	Rejected
)

// State tells the state of a promise.
func (vm *VM) State(promise Value) (PromiseState, error) {
	n, err := vm.call(fnPromiseState, uint64(promise))
	return PromiseState(n), err
}

// Settled returns what a promise was fulfilled or rejected with.
func (vm *VM) Settled(promise Value) (Value, error) {
	return vm.owned(vm.call(fnPromiseResult, uint64(promise)))
}

// RunJob runs the next reaction of a settled promise, if there is one.
func (vm *VM) RunJob() (bool, error) {
	pending, err := vm.call(fnJobPending)
	if err != nil || pending == 0 {
		return false, err
	}
	n, err := vm.call(fnExecuteJob)
	if err == nil && int32(n) < 0 {
		return false, vm.exception()
	}
	return true, err
}

// alloc takes memory of the engine.
func (vm *VM) alloc(n uint64) (uint64, error) {
	if n > math.MaxInt32 {
		return 0, vm.breakWith(ErrMemory)
	}
	p, err := vm.call(fnMalloc, n)
	if err == nil && p == 0 {
		err = vm.breakWith(ErrMemory)
	}
	return uint64(p), err
}

// text copies a string into the engine's memory, NUL-terminated.
func (vm *VM) text(s string) (uint64, error) {
	p, err := vm.alloc(uint64(len(s)) + 1)
	if err != nil {
		return 0, err
	}
	m := vm.module.Memory()
	if !m.WriteString(uint32(p), s) || !m.WriteByte(uint32(p)+uint32(len(s)), 0) {
		return 0, vm.breakWith(fmt.Errorf("%w: memory outside its bounds", ErrTrap))
	}
	return p, nil
}

func (vm *VM) freeText(p uint64) { _, _ = vm.call(fnFree, p) }
