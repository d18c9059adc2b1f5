package worker

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"airlock/runtime/wasm/internal/quickjs"
	"airlock/runtime/wasm/internal/script"
	"airlock/runtime/wasm/internal/wire"
)

// perCall is what the driver leaves for the garbage collector in a call.
const perCall = 512

// functions are what the prelude gets as its host.
func (g *guest) functions() map[string]quickjs.Function {
	return map[string]quickjs.Function{
		"print":   g.safe(g.print),
		"call":    g.safe(g.call),
		"file":    g.safe(g.file),
		"timer":   g.safe(g.timer),
		"now":     g.safe(g.now),
		"random":  g.safe(g.random),
		"compile": g.safe(g.compile),
	}
}

// safe lets the garbage be collected, since no interpreter computes now.
func (g *guest) safe(f quickjs.Function) quickjs.Function {
	return func(vm *quickjs.VM, args []quickjs.Value) (quickjs.Value, error) {
		g.w.garbage.Add(perCall)
		g.w.collect(garbageLimit)
		return f(vm, args)
	}
}

// argument is a string argument of at most limit bytes.
func argument(vm *quickjs.VM, args []quickjs.Value, i, limit int) (string, error) {
	if i >= len(args) {
		return "", nil
	}
	if ok, err := vm.IsString(args[i]); err != nil || !ok {
		return "", errors.Join(err, fmt.Errorf("argument %d is not a string", i+1))
	}
	s, size, err := vm.Text(args[i], limit)
	if err == nil && size > limit {
		err = tooLarge{size, limit}
	}
	return s, err
}

type tooLarge struct{ size, limit int }

func (e tooLarge) Error() string {
	return fmt.Sprintf("EFBIG: %d bytes are too many, the limit is %d", e.size, e.limit)
}

// Code is the error's property code in the script.
func (tooLarge) Code() string { return "EFBIG" }

// print(stream, text): what exceeds the limit is counted, not sent.
func (g *guest) print(vm *quickjs.VM, args []quickjs.Value) (quickjs.Value, error) {
	if len(args) < 2 {
		return 0, nil
	}
	name, _, err := vm.Text(args[0], 8)
	if err != nil {
		return 0, err
	}
	stream := byte(wire.Stdout)
	if name == "stderr" {
		stream = wire.Stderr
	}
	text, size, err := vm.Text(args[1], g.out.room(stream))
	if err != nil {
		return 0, err
	}
	g.w.garbage.Add(int64(2 * len(text)))
	g.printed(stream, text, size)
	return 0, nil
}

func (g *guest) printed(stream byte, text string, size int) {
	g.out.print(stream, text, size)
	if g.out.total() > g.job.OutputKillBytes {
		g.overflow = true
		g.vm.Interrupt()
	}
}

// call(method, path, body) is a promise of {status, body}.
func (g *guest) call(vm *quickjs.VM, args []quickjs.Value) (quickjs.Value, error) {
	method, err := argument(vm, args, 0, 16)
	if err != nil {
		return 0, err
	}
	path, err := argument(vm, args, 1, 8<<10)
	if err != nil {
		return 0, err
	}
	p, err := vm.NewPromise()
	if err != nil {
		return 0, err
	}
	body, err := argument(vm, args, 2, wire.MaxBody)
	switch {
	case errors.As(err, new(tooLarge)):
		err = g.settle(p, "413", []byte(refused("too_large", "the arguments are too large", "pass less, or pass it by a file")))
	case err == nil && len(g.pending) >= maxPending:
		err = g.settle(p, "429", []byte(refused("too_many_calls", "too many calls are pending", "await some before you start more")))
	case err == nil:
		g.w.lastID++
		g.pending[g.w.lastID] = p
		g.out.flush()
		g.w.garbage.Add(int64(3 * len(body)))
		err = g.w.conn.Send(wire.Call, g.w.lastID, []byte(method), []byte(path), []byte(body))
	}
	return p.Promise, err
}

func refused(code, message, hint string) string {
	return `{"error":{"code":"` + code + `","message":"` + message + `","hint":"` + hint + `"}}`
}

// settle resolves a call's promise and frees what settles it.
func (g *guest) settle(p quickjs.Promise, status string, body []byte) error {
	defer g.vm.Free(p.Resolve)
	defer g.vm.Free(p.Reject)
	code, _ := strconv.ParseFloat(status, 64)
	number, err := g.vm.Number(code)
	if err != nil {
		return err
	}
	defer g.vm.Free(number)
	text, err := g.vm.String(string(body))
	if err != nil {
		return err
	}
	defer g.vm.Free(text)
	answer, err := g.vm.Call(g.toAnswer, number, text)
	if err != nil {
		return err
	}
	defer g.vm.Free(answer)
	ignored, err := g.vm.Call(p.Resolve, answer)
	g.vm.Free(ignored)
	return err
}

// timer(ms) is a promise that is resolved after so many milliseconds.
func (g *guest) timer(vm *quickjs.VM, args []quickjs.Value) (quickjs.Value, error) {
	if len(g.timers.waiting) >= maxTimers {
		return 0, errors.New("too many timers are pending")
	}
	var ms float64
	if len(args) > 0 {
		var err error
		if ms, err = vm.Float(args[0]); err != nil {
			return 0, err
		}
	}
	if !(ms > 0) { // NaN as well
		ms = 0
	}
	p, err := vm.NewPromise()
	if err != nil {
		return 0, err
	}
	vm.Free(p.Reject)
	wait := time.Duration(min(ms*float64(time.Millisecond), math.MaxInt64/4))
	g.timers.add(time.Now().Add(wait), p.Resolve)
	return p.Promise, nil
}

// now() is the time since the execution began, in milliseconds.
func (g *guest) now(vm *quickjs.VM, _ []quickjs.Value) (quickjs.Value, error) {
	return vm.Number(float64(time.Since(g.begun)) / float64(time.Millisecond))
}

// random(n) is the base64 of n random bytes.
func (g *guest) random(vm *quickjs.VM, args []quickjs.Value) (quickjs.Value, error) {
	var n float64
	if len(args) > 0 {
		var err error
		if n, err = vm.Float(args[0]); err != nil {
			return 0, err
		}
	}
	if !(n >= 0 && n <= 1<<16) {
		return 0, errors.New("ask for 0 to 65536 random bytes")
	}
	b := make([]byte, int(n))
	_, _ = rand.Read(b) // never fails
	return vm.String(base64.StdEncoding.EncodeToString(b))
}

// compile(source, file) is the value of a source evaluated as a script.
func (g *guest) compile(vm *quickjs.VM, args []quickjs.Value) (quickjs.Value, error) {
	source, err := argument(vm, args, 0, wire.MaxCode)
	if err != nil {
		return 0, err
	}
	file, err := argument(vm, args, 1, 4<<10)
	if err != nil {
		return 0, err
	}
	if strings.HasSuffix(file, ".ts") {
		if source, err = script.StripTypes(source, file); err != nil {
			return 0, fmt.Errorf("SyntaxError in %s at %w", file, err)
		}
	}
	return vm.Eval(source, file, quickjs.EvalScript)
}
