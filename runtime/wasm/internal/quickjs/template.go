package quickjs

import (
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// Template is the state of an interpreter, to make others of. Values that were
// owned when it was taken are owned, under the same numbers, in each of them.
type Template struct {
	pages            []page // those that are not all zero
	size             uint32
	stackPointer     uint64
	runtime, context uint32
}

// page is a piece of memory with its place.
type page struct {
	at   uint32
	data []byte
}

// piece is the size of the pages, the system's.
const piece = 4 << 10

// stackPointer is the global in which the module keeps the top of its stack.
const stackPointer = "__stack_pointer"

var errGlobal = errors.New("the engine does not export its stack pointer; run make engine")

// Template takes the VM's state. The VM may be used on, or closed.
func (vm *VM) Template() (*Template, error) {
	if vm.broken != nil || vm.level != 0 {
		return nil, fmt.Errorf("take an interpreter's state: it is running or broken: %w", errors.Join(vm.broken))
	}
	global := vm.module.ExportedGlobal(stackPointer)
	if global == nil {
		return nil, errGlobal
	}
	t := &Template{stackPointer: global.Get(), size: vm.module.Memory().Size()}
	var err error
	if t.runtime, err = vm.call(fnRuntimePtr); err != nil {
		return nil, err
	}
	if t.context, err = vm.call(fnContextPtr); err != nil {
		return nil, err
	}
	all, _ := vm.module.Memory().Read(0, t.size)
	for at := uint32(0); at < t.size; at += piece {
		if data := all[at : at+piece]; !isZero(data) {
			t.pages = append(t.pages, page{at, append([]byte(nil), data...)})
		}
	}
	return t, nil
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// restore makes the fresh instance a copy of the template.
func (vm *VM) restore(t *Template) error {
	m := vm.module.Memory()
	if more := t.size - min(m.Size(), t.size); more > 0 {
		if _, ok := m.Grow(more / pageSize); !ok {
			return ErrMemory
		}
	}
	for _, p := range t.pages {
		if !m.Write(p.at, p.data) {
			return ErrMemory
		}
	}
	global, ok := vm.module.ExportedGlobal(stackPointer).(api.MutableGlobal)
	if !ok {
		return errGlobal
	}
	global.Set(t.stackPointer)
	_, err := vm.call(fnSetContext, uint64(t.runtime), uint64(t.context))
	return err
}
