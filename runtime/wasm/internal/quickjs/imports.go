package quickjs

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

type vmKey struct{}

// What the engine imports of its host, by module. All VMs of an engine share one
// instance of each; the VM comes with the context of the call.
var (
	i32  = api.ValueTypeI32
	i64  = api.ValueTypeI64
	none []api.ValueType
	one  = []api.ValueType{i32}

	importTable = []struct {
		module, name    string
		params, results []api.ValueType
		function        func(vm *VM, stack []uint64)
	}{
		{"env", "host_call", []api.ValueType{i32, i32, i32, i32, i32}, one, (*VM).hostCall},
		{"env", "host_interrupt", none, one, (*VM).hostInterrupt},
		{"env", "host_promise_rejection", []api.ValueType{i32, i32, i32}, none, (*VM).hostRejection},
		{"env", "host_module_normalize", []api.ValueType{i32, i32}, one, (*VM).hostResolve},
		{"env", "host_module_load", []api.ValueType{i32, i32}, one, (*VM).hostLoad},
		{"env", "host_get_timezone_offset", []api.ValueType{i32, i32}, one, (*VM).hostTimezone},
		{"wasi_snapshot_preview1", "clock_time_get", []api.ValueType{i32, i64, i32}, one, (*VM).wasiClock},
		{"wasi_snapshot_preview1", "random_get", []api.ValueType{i32, i32}, one, (*VM).wasiRandom},
		{"wasi_snapshot_preview1", "fd_close", []api.ValueType{i32}, one, (*VM).wasiRefuse},
		{"wasi_snapshot_preview1", "fd_fdstat_get", []api.ValueType{i32, i32}, one, (*VM).wasiRefuse},
		{"wasi_snapshot_preview1", "fd_seek", []api.ValueType{i32, i64, i32, i32}, one, (*VM).wasiRefuse},
		{"wasi_snapshot_preview1", "fd_write", []api.ValueType{i32, i32, i32, i32}, one, (*VM).wasiRefuse},
	}
)

func instantiateImports(ctx context.Context, r wazero.Runtime) error {
	builders := map[string]wazero.HostModuleBuilder{}
	for _, i := range importTable {
		b := builders[i.module]
		if b == nil {
			b = r.NewHostModuleBuilder(i.module)
			builders[i.module] = b
		}
		b.NewFunctionBuilder().WithGoFunction(api.GoFunc(func(ctx context.Context, stack []uint64) {
			if vm, ok := ctx.Value(vmKey{}).(*VM); ok {
				i.function(vm, stack)
			}
		}), i.params, i.results).Export(i.name)
	}
	for _, b := range builders {
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	return nil
}

// hostCall runs a Function: (name, length, this, argc, argv) -> value.
func (vm *VM) hostCall(stack []uint64) {
	name, ok := vm.module.Memory().Read(uint32(stack[0]), uint32(stack[1]))
	if !ok {
		stack[0] = vm.throw(errors.New("no such function"))
		return
	}
	args := make([]Value, uint32(stack[3]))
	for i := range args {
		v, _ := vm.module.Memory().ReadUint32Le(uint32(stack[4]) + uint32(4*i))
		args[i] = Value(v)
	}
	v, err := vm.runFunction(string(name), args)
	if err == nil && v == 0 {
		v, err = vm.Undefined()
	}
	if err != nil {
		stack[0] = vm.throw(err)
		return
	}
	stack[0] = uint64(v)
}

// runFunction turns a panic of a Function into an error of the script.
func (vm *VM) runFunction(name string, args []Value) (v Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			v, err = 0, fmt.Errorf("internal error in %s", name)
		}
	}()
	fn := vm.o.Functions[name]
	if fn == nil {
		return 0, fmt.Errorf("there is no function %s", name)
	}
	return fn(vm, args)
}

// throw makes err the engine's pending exception and returns what an import
// returns then.
func (vm *VM) throw(err error) uint64 {
	var thrown *Exception
	if errors.As(err, &thrown) {
		_, _ = vm.call(fnThrow, uint64(thrown.Value))
		vm.Free(thrown.Value)
		return 0
	}
	v, err := vm.errorValue(err)
	if err == nil {
		_, _ = vm.call(fnThrow, uint64(v))
		vm.Free(v)
	}
	return 0
}

// errorValue makes an Error of a Go error.
func (vm *VM) errorValue(cause error) (Value, error) {
	v, err := vm.owned(vm.call(fnNewError))
	if err != nil {
		return 0, err
	}
	message, err := vm.String(cause.Error())
	if err != nil {
		return 0, err
	}
	if err := vm.Set(v, "message", message); err != nil {
		return 0, err
	}
	var coded interface{ Code() string }
	if !errors.As(cause, &coded) {
		return v, nil
	}
	code, err := vm.String(coded.Code())
	if err != nil {
		return 0, err
	}
	return v, vm.Set(v, "code", code)
}

func (vm *VM) hostInterrupt(stack []uint64) {
	stack[0] = 0
	if vm.stop.Load() || vm.broken != nil {
		stack[0] = 1
	}
}

// hostRejection is told (promise, reason, handled), both of them given to it.
func (vm *VM) hostRejection(stack []uint64) {
	promise, reason := Value(stack[0]), Value(stack[1])
	defer vm.Free(promise)
	defer vm.Free(reason)
	if vm.o.Rejected == nil {
		return
	}
	if id, err := vm.Identity(promise); err == nil {
		vm.o.Rejected(vm, id, reason, uint32(stack[2]) != 0)
	}
}

// hostResolve is Loader.Resolve: (base, specifier) -> C string.
func (vm *VM) hostResolve(stack []uint64) {
	base, specifier := vm.cString(uint32(stack[0])), vm.cString(uint32(stack[1]))
	stack[0] = vm.loaded(func() (string, error) {
		return vm.o.Loader.Resolve(base, specifier)
	}, 0)
}

// hostLoad is Loader.Load: (name, where to put the length) -> source.
func (vm *VM) hostLoad(stack []uint64) {
	name, length := vm.cString(uint32(stack[0])), uint32(stack[1])
	stack[0] = vm.loaded(func() (string, error) {
		return vm.o.Loader.Load(vm, name)
	}, length)
}

var errNoLoader = errors.New("modules cannot be imported here")

func (vm *VM) loaded(load func() (string, error), length uint32) (result uint64) {
	defer func() {
		if r := recover(); r != nil {
			result = vm.throw(errors.New("internal error while importing"))
		}
	}()
	if vm.o.Loader == nil {
		return vm.throw(errNoLoader)
	}
	s, err := load()
	if err != nil {
		return vm.throw(err)
	}
	p, err := vm.text(s)
	if err != nil {
		return 0
	}
	if length != 0 {
		vm.module.Memory().WriteUint32Le(length, uint32(len(s)))
	}
	return p
}

// cString reads a NUL-terminated string.
func (vm *VM) cString(p uint32) string {
	m := vm.module.Memory()
	b, _ := m.Read(p, m.Size()-min(p, m.Size()))
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return string(b)
}

// hostTimezone returns the seconds east of UTC at a Unix time of two halves.
func (vm *VM) hostTimezone(stack []uint64) {
	seconds := int64(uint64(uint32(stack[0]))<<32 | uint64(uint32(stack[1])))
	location := vm.o.Location
	if location == nil {
		location = time.UTC
	}
	_, offset := time.Unix(seconds, 0).In(location).Zone()
	stack[0] = uint64(uint32(int32(offset)))
}

// The numbers of WASI errors that are needed.
const (
	wasiOK      = 0
	wasiFault   = 21
	wasiNotHere = 52
)

// wasiClock answers every clock with the time of day, in nanoseconds.
func (vm *VM) wasiClock(stack []uint64) {
	result := uint64(wasiOK)
	if !vm.module.Memory().WriteUint64Le(uint32(stack[2]), uint64(time.Now().UnixNano())) {
		result = wasiFault
	}
	stack[0] = result
}

func (vm *VM) wasiRandom(stack []uint64) {
	b, ok := vm.module.Memory().Read(uint32(stack[0]), uint32(stack[1]))
	if !ok {
		stack[0] = wasiFault
		return
	}
	stack[0] = wasiOK
	_, _ = rand.Read(b) // never fails: it ends the process where the system has no random source
}

func (vm *VM) wasiRefuse(stack []uint64) { stack[0] = wasiNotHere }
