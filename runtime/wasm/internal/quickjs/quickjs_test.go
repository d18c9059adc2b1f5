package quickjs

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"airlock/runtime/wasm/engine"
)

// codeCache is the folder in which the tests share compiled code.
var codeCache string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "quickjs-cache-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	codeCache = dir
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}

func newEngine(t *testing.T) *Engine {
	t.Helper()
	wasm, err := engine.Wasm()
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEngine(t.Context(), EngineOptions{Wasm: wasm, KillAddress: engine.KillAddress, CacheDir: codeCache})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func newVM(t *testing.T, e *Engine, o Options) *VM {
	t.Helper()
	if o.MemoryBytes == 0 {
		o.MemoryBytes = 64 << 20
	}
	o.StackBytes = 512 << 10
	vm, err := e.NewVM(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := vm.Close(); err != nil {
			t.Error(err)
		}
	})
	return vm
}

// eval returns a source's value as text, or what it threw.
func eval(t *testing.T, vm *VM, source string) string {
	t.Helper()
	v, err := vm.Eval(source, "test.js", EvalScript)
	var thrown *Exception
	if errors.As(err, &thrown) {
		v, err = thrown.Value, nil
	}
	if err != nil {
		return err.Error()
	}
	defer vm.Free(v)
	text, _, err := vm.Text(v, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestEval(t *testing.T) {
	t.Parallel()
	vm := newVM(t, newEngine(t), Options{})
	for name, tc := range map[string]struct{ source, want string }{
		"a number":          {"6 * 7", "42"},
		"a string":          {"'grüße ' + '🎉'", "grüße 🎉"},
		"a NUL":             {"'a\\0b'", "a\x00b"},
		"a lone surrogate":  {"'\\ud800'", "\uFFFD"},
		"an exception":      {"throw new TypeError('bad')", "TypeError: bad"},
		"a syntax error":    {"let 1", "SyntaxError: expecting ';'"},
		"deep recursion":    {"const f = () => f() + 1; f()", "RangeError: Maximum call stack size exceeded"},
		"deep parentheses":  {strings.Repeat("(", 1e5), "RangeError: Maximum call stack size exceeded"},
		"an empty source":   {"", "undefined"},
		"source with a NUL": {"'a\x00b'.length", "3"},
		"no UTF-8":          {"'\xff'", "SyntaxError: invalid UTF-8 sequence"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := eval(t, vm, tc.source); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

type coded struct{}

func (coded) Error() string { return "no such thing" }
func (coded) Code() string  { return "ENOENT" }

func TestHostFunctions(t *testing.T) {
	t.Parallel()
	functions := map[string]Function{
		"add": func(vm *VM, args []Value) (Value, error) {
			a, err := vm.Float(args[0])
			if err != nil {
				return 0, err
			}
			b, err := vm.Float(args[1])
			if err != nil {
				return 0, err
			}
			return vm.Number(a + b)
		},
		"nothing": func(*VM, []Value) (Value, error) { return 0, nil },
		"fail":    func(*VM, []Value) (Value, error) { return 0, coded{} },
		"panic":   func(*VM, []Value) (Value, error) { panic("secret of the host") },
		"eval": func(vm *VM, args []Value) (Value, error) { // re-enters the engine
			source, _, err := vm.Text(args[0], 1000)
			if err != nil {
				return 0, err
			}
			return vm.Eval(source, "inner.js", EvalScript)
		},
	}
	vm := newVM(t, newEngine(t), Options{Functions: functions})
	install(t, vm, functions)
	for name, tc := range map[string]struct{ source, want string }{
		"a result":             {"add(1, 2.5)", "3.5"},
		"undefined":            {"String(nothing())", "undefined"},
		"an error with a code": {"try { fail() } catch (e) { e.code + ' ' + e.message }", "ENOENT no such thing"},
		"a panic":              {"try { panic() } catch (e) { e.message }", "internal error in panic"},
		"the engine within":    {"eval('add(2, 3) + 1')", "6"},
		"nested many times":    {`let s = "1"; for (let i = 0; i < 8; i++) s = "eval(" + JSON.stringify(s) + ")"; eval(s)`, "1"},
		"a throw from within":  {`try { eval("throw new RangeError('deep')") } catch (e) { e.name }`, "RangeError"},
		"a conversion throws":  {"try { add({ valueOf() { throw 7 } }, 1) } catch (e) { e }", "NaN"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := eval(t, vm, tc.source); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func install(t *testing.T, vm *VM, functions map[string]Function) {
	t.Helper()
	global, err := vm.Global()
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Free(global)
	for name := range functions {
		f, err := vm.HostFunction(name)
		if err == nil {
			err = vm.Set(global, name, f)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestEndlessNestingIsAnErrorAndNotACrash(t *testing.T) {
	t.Parallel()
	functions := map[string]Function{"again": func(vm *VM, args []Value) (Value, error) {
		return vm.Eval("again()", "again.js", EvalScript)
	}}
	vm := newVM(t, newEngine(t), Options{Functions: functions})
	install(t, vm, functions)
	if _, err := vm.Eval("again()", "test.js", EvalScript); err == nil {
		t.Error("it ended well")
	}
}

func TestPromises(t *testing.T) {
	t.Parallel()
	vm := newVM(t, newEngine(t), Options{})
	p, err := vm.NewPromise()
	if err != nil {
		t.Fatal(err)
	}
	if state, err := vm.State(p.Promise); err != nil || state != Pending {
		t.Fatalf("state is %v, %v", state, err)
	}
	v, err := vm.Number(7)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vm.Call(p.Resolve, v); err != nil {
		t.Fatal(err)
	}
	settled, err := vm.Settled(p.Promise)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := vm.Float(settled); err != nil || f != 7 {
		t.Errorf("it was fulfilled with %v, %v", f, err)
	}
}

func TestInterruptCannotBeCaught(t *testing.T) {
	t.Parallel()
	vm := newVM(t, newEngine(t), Options{})
	timer := time.AfterFunc(10*time.Millisecond, vm.Interrupt)
	defer timer.Stop()
	_, err := vm.Eval("for (;;) { try { for (;;); } catch {} finally {} }", "test.js", EvalScript)
	if err == nil || !vm.Interrupted() {
		t.Errorf("Eval: %v", err)
	}
}

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for name, source := range map[string]string{
		"objects": "const a = []; for (;;) a.push({ a })",
		"strings": "let s = 'x'; for (;;) s += s + '!'",
		"buffers": "const a = []; for (;;) a.push(new ArrayBuffer(1e6))",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			vm := newVM(t, e, Options{MemoryBytes: 16 << 20})
			if _, err := vm.Eval(source, "test.js", EvalScript); err == nil {
				t.Error("it ended well")
			}
			if size := vm.memory.size(); size > 16<<20 {
				t.Errorf("it has %d bytes", size)
			}
		})
	}
}

func TestTooLittleMemoryIsRefused(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	for _, bytes := range []uint64{0, 1 << 20, 2 << 20} {
		if _, err := e.NewVM(t.Context(), Options{MemoryBytes: bytes, StackBytes: 1 << 18}); err == nil {
			t.Errorf("%d bytes were accepted", bytes)
		}
	}
}

func TestCopiesOfATemplateAreIndependent(t *testing.T) {
	t.Parallel()
	e := newEngine(t)
	name := func(s string) map[string]Function {
		return map[string]Function{"name": func(vm *VM, _ []Value) (Value, error) { return vm.String(s) }}
	}
	original := newVM(t, e, Options{Functions: name("original")})
	install(t, original, name(""))
	eval(t, original, "globalThis.n = 1; globalThis.bump = () => ++n; globalThis.big = 'x'.repeat(3e6)")
	state, err := original.Template()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		vm := newVM(t, e, Options{Template: state, Functions: name(fmt.Sprint("copy ", i))})
		want := fmt.Sprintf("2 3000000 copy %d", i)
		if got := eval(t, vm, "[bump(), big.length, name()].join(' ')"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := eval(t, original, "n"); got != "1" {
		t.Errorf("the original has %s", got)
	}
}

func TestMissingExportsAreReported(t *testing.T) {
	t.Parallel()
	empty := []byte("\x00asm\x01\x00\x00\x00")
	if _, err := NewEngine(t.Context(), EngineOptions{Wasm: empty}); err == nil || !strings.Contains(err.Error(), "make engine") {
		t.Errorf("NewEngine: %v", err)
	}
}
