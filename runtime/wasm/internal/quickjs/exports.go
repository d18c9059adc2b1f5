package quickjs

import (
	"errors"
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// export numbers a function of the engine that the driver calls.
type export int

const (
	fnInitialize export = iota
	fnInit
	fnMalloc
	fnFree
	fnEval
	fnCall
	fnIsException
	fnGetException
	fnThrow
	fnNewError
	fnFreeValue
	fnDupValue
	fnValuePtr
	fnGetProp
	fnSetProp
	fnSetPropIndex
	fnNewObject
	fnNewArray
	fnNewString
	fnGetString
	fnFreeCString
	fnNewNumber
	fnGetFloat
	fnGetBool
	fnGetUndefined
	fnGetGlobal
	fnIsUndefined
	fnIsNull
	fnIsString
	fnIsPromise
	fnNewPromise
	fnPromiseState
	fnPromiseResult
	fnJobPending
	fnExecuteJob
	fnNewHostFunction
	fnSetMemoryLimit
	fnSetStackSize
	fnSetInterrupt
	fnSetRejections
	fnSetModules
	fnRuntimePtr
	fnContextPtr
	fnSetContext
	exportCount
)

var exportNames = [exportCount]string{
	fnInitialize:      "_initialize",
	fnInit:            "qjs_init",
	fnMalloc:          "wasm_malloc",
	fnFree:            "wasm_free",
	fnEval:            "qjs_eval",
	fnCall:            "qjs_call",
	fnIsException:     "qjs_is_exception",
	fnGetException:    "qjs_get_exception",
	fnThrow:           "qjs_throw",
	fnNewError:        "qjs_new_error",
	fnFreeValue:       "qjs_free_value",
	fnDupValue:        "qjs_dup_value",
	fnValuePtr:        "qjs_get_value_ptr",
	fnGetProp:         "qjs_get_prop_string",
	fnSetProp:         "qjs_set_prop_string",
	fnSetPropIndex:    "qjs_set_prop_uint32",
	fnNewObject:       "qjs_new_object",
	fnNewArray:        "qjs_new_array",
	fnNewString:       "qjs_new_string",
	fnGetString:       "qjs_get_string_len",
	fnFreeCString:     "qjs_free_cstring",
	fnNewNumber:       "qjs_new_number",
	fnGetFloat:        "qjs_get_float64",
	fnGetBool:         "qjs_get_bool",
	fnGetUndefined:    "qjs_get_undefined",
	fnGetGlobal:       "qjs_get_global",
	fnIsUndefined:     "qjs_is_undefined",
	fnIsNull:          "qjs_is_null",
	fnIsString:        "qjs_is_string",
	fnIsPromise:       "qjs_is_promise",
	fnNewPromise:      "qjs_new_promise",
	fnPromiseState:    "qjs_promise_state",
	fnPromiseResult:   "qjs_promise_result",
	fnJobPending:      "qjs_is_job_pending",
	fnExecuteJob:      "qjs_execute_pending_job",
	fnNewHostFunction: "qjs_new_host_function",
	fnSetMemoryLimit:  "qjs_set_memory_limit",
	fnSetStackSize:    "qjs_set_max_stack_size",
	fnSetInterrupt:    "qjs_set_interrupt_handler",
	fnSetRejections:   "qjs_set_promise_rejection_handler",
	fnSetModules:      "qjs_set_module_loader",
	fnRuntimePtr:      "qjs_get_runtime_ptr",
	fnContextPtr:      "qjs_get_context_ptr",
	fnSetContext:      "qjs_set_runtime_and_context",
}

// maxDepth bounds how deep scripts and host functions may call one another.
const maxDepth = 64

var errDepth = errors.New("scripts and host functions call one another too deeply")

// depth is what the calls of one nesting level use. A wazero function must not
// be called again while it runs: that ends the whole process, unrecoverably. So
// each level has functions of its own.
type depth struct {
	functions [exportCount]api.Function
	stack     [5]uint64 // arguments and result
}

// call runs one function of the engine. Any error means that the VM is broken.
func (vm *VM) call(fn export, args ...uint64) (uint32, error) {
	result, err := vm.call64(fn, args...)
	return uint32(result), err
}

func (vm *VM) call64(fn export, args ...uint64) (uint64, error) {
	if vm.broken != nil {
		return 0, vm.broken
	}
	if vm.level >= maxDepth {
		return 0, vm.breakWith(errDepth)
	}
	if vm.level == len(vm.depths) {
		vm.depths = append(vm.depths, &depth{})
	}
	d := vm.depths[vm.level]
	if d.functions[fn] == nil {
		d.functions[fn] = vm.module.ExportedFunction(exportNames[fn])
	}
	copy(d.stack[:], args)
	vm.level++
	err := vm.invoke(d.functions[fn], d.stack[:])
	vm.level--
	if err != nil {
		return 0, vm.breakWith(fmt.Errorf("%w: %s", ErrTrap, firstLine(err.Error())))
	}
	return d.stack[0], nil
}

func (vm *VM) breakWith(err error) error {
	if vm.broken == nil {
		vm.broken = err
	}
	return err
}
