package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"airlock/runtime/wasm/internal/quickjs"
	"airlock/runtime/wasm/internal/script"
	"airlock/runtime/wasm/internal/wire"
)

// errNeverSettles is the end of a script that waits for what cannot come.
var errNeverSettles = errors.New("the script waits for a promise that nothing will settle")

// resultTooLarge is the error of a result beyond the limit.
type resultTooLarge struct{ size, limit int }

func (e resultTooLarge) Error() string {
	return fmt.Sprintf("the result is %d bytes of JSON, the limit is %d", e.size, e.limit)
}

// run runs one execution to its end. The interpreter is of no use afterwards.
func (g *guest) run(job wire.Job, code string) (wire.Outcome, []byte) {
	g.job, g.begun = job, time.Now()
	g.out.keep = job.OutputBytes
	value, err := g.evaluate(code)
	outcome := g.outcome(err)
	outcome.HasValue = value != ""
	if outcome.End == wire.EndOK || outcome.End == wire.EndError {
		g.reportLeftovers()
	}
	g.out.flush()
	outcome.Dropped = g.out.dropped
	return outcome, []byte(value)
}

// evaluate runs the script and returns the JSON of its result.
func (g *guest) evaluate(code string) (string, error) {
	if err := g.prepare(code); err != nil {
		return "", err
	}
	if err := g.vm.SetMemoryLimit(g.job.MemoryBytes); err != nil {
		return "", err
	}
	promise, err := g.vm.Eval(g.source.Code, g.source.File, quickjs.EvalScript)
	if err != nil {
		return "", err
	}
	result, err := g.await(promise)
	if err != nil {
		return "", err
	}
	return g.result(result)
}

// prepare makes the engine's source of the script.
func (g *guest) prepare(code string) (err error) {
	g.source = script.JavaScript(code, g.job.Name)
	if g.job.Language == "typescript" {
		source, err := script.TypeScript(code, g.job.Name)
		g.w.garbage.Add(int64(64 * len(code))) // what esbuild leaves
		if err != nil {
			return err
		}
		g.source = source
	}
	return nil
}

// await runs the script's reactions until its promise is settled.
func (g *guest) await(promise quickjs.Value) (quickjs.Value, error) {
	if ok, err := g.vm.IsPromise(promise); err != nil || !ok {
		return promise, err // the script broke out of its wrapper
	}
	for {
		if err := g.runJobs(); err != nil {
			return 0, err
		}
		state, err := g.vm.State(promise)
		if err != nil {
			return 0, err
		}
		switch state {
		case quickjs.Pending:
			if err := g.wait(); err != nil {
				return 0, err
			}
		case quickjs.Fulfilled:
			return g.vm.Settled(promise)
		default:
			return 0, g.rejection(promise)
		}
	}
}

// rejection is the script's own failure, which is not an unhandled one.
func (g *guest) rejection(promise quickjs.Value) error {
	reason, err := g.vm.Settled(promise)
	if err != nil {
		return err
	}
	if id, err := g.vm.Identity(promise); err == nil {
		delete(g.rejections, id)
	}
	return &quickjs.Exception{Value: reason}
}

func (g *guest) runJobs() error {
	for !g.vm.Interrupted() {
		ran, err := g.vm.RunJob()
		if err != nil || !ran {
			return err
		}
	}
	return errStopped
}

// wait waits for the next thing that can happen, and lets it happen.
func (g *guest) wait() error {
	g.out.flush()
	g.w.collect(garbageLimit)
	if resolve, ok := g.timers.due(time.Now()); ok {
		return g.fire(resolve)
	}
	if len(g.pending) == 0 && len(g.timers.waiting) == 0 {
		return errNeverSettles
	}
	var tick <-chan time.Time
	if len(g.timers.waiting) > 0 {
		t := time.NewTimer(time.Until(g.timers.waiting[0].at))
		defer t.Stop()
		tick = t.C
	}
	select {
	case f := <-g.answers:
		return g.answered(f)
	case <-tick:
		return nil
	case <-g.stop:
		return errStopped
	}
}

func (g *guest) answered(f wire.Frame) error {
	p, ok := g.pending[f.ID]
	if !ok {
		return nil
	}
	delete(g.pending, f.ID)
	return g.settle(p, string(f.Field(0)), f.Field(1))
}

func (g *guest) fire(resolve quickjs.Value) error {
	defer g.vm.Free(resolve)
	ignored, err := g.vm.Call(resolve)
	g.vm.Free(ignored)
	return err
}

// result makes JSON of the script's result, which runs the script's own getters
// and toJSON methods.
func (g *guest) result(v quickjs.Value) (string, error) {
	text, err := g.vm.Call(g.toResult, v)
	if err != nil {
		return "", err
	}
	if none, err := g.vm.IsUndefined(text); err != nil || none {
		return "", err
	}
	s, size, err := g.vm.Text(text, g.job.ResultBytes)
	if err == nil && size > g.job.ResultBytes {
		err = resultTooLarge{size, g.job.ResultBytes}
	}
	g.w.garbage.Add(int64(3 * len(s)))
	return s, err
}

// reportLeftovers tells on stderr what the script forgot to wait for.
func (g *guest) reportLeftovers() {
	var notes strings.Builder
	for _, reason := range g.rejections {
		if e, err := g.describe(reason); err == nil {
			fmt.Fprintf(&notes, "Unhandled rejection of a promise (await it): %s: %s\n", e.Name, e.Message)
		}
	}
	if n := len(g.pending); n > 0 {
		fmt.Fprintf(&notes, "%d tool calls were still under way when the script ended, and were cancelled: await them.\n", n)
	}
	s := notes.String()
	g.out.print(wire.Stderr, s[:cut([]byte(s), g.out.room(wire.Stderr))], len(s))
}

// outcome says how the execution ended, from its error and what else is known.
func (g *guest) outcome(err error) wire.Outcome {
	if g.overflow {
		return wire.Outcome{End: wire.EndOutput}
	}
	if err == nil {
		return wire.Outcome{End: wire.EndOK}
	}
	if g.isStopped() {
		return wire.Outcome{End: wire.EndStopped}
	}
	var thrown *quickjs.Exception
	if errors.As(err, &thrown) {
		return g.thrown(thrown.Value)
	}
	if errors.Is(err, quickjs.ErrMemory) || g.vm.MemoryShort() {
		return wire.Outcome{End: wire.EndMemory}
	}
	return wire.Outcome{End: wire.EndError, Error: g.driverError(err)}
}

// driverError describes a failure that no script threw.
func (g *guest) driverError(err error) *wire.Error {
	var syntax *script.SyntaxError
	var large resultTooLarge
	switch {
	case errors.As(err, &syntax):
		return &wire.Error{Name: "SyntaxError", Message: syntax.Message, Line: syntax.Line, Column: syntax.Column}
	case errors.As(err, &large):
		return &wire.Error{Name: "ResultTooLarge", Message: large.Error(), Hint: "return a summary, and write the whole to a file in /artifacts or /workspace"}
	case errors.Is(err, errNeverSettles):
		return &wire.Error{Name: "NeverSettles", Message: err.Error(), Hint: "look for a new Promise whose resolve is never called"}
	default:
		return &wire.Error{Name: "EngineError", Message: err.Error()}
	}
}

// thrown describes what the script threw.
func (g *guest) thrown(v quickjs.Value) wire.Outcome {
	null, err := g.vm.IsNull(v)
	if err == nil && null && g.vm.MemoryShort() {
		return wire.Outcome{End: wire.EndMemory} // at the edge the engine throws null
	}
	e, err := g.describe(v)
	if g.isStopped() {
		return wire.Outcome{End: wire.EndStopped}
	}
	if err != nil {
		if g.vm.MemoryShort() {
			return wire.Outcome{End: wire.EndMemory}
		}
		e = &wire.Error{Name: "Error", Message: "the script threw something that cannot be described"}
	}
	if e.Name == "InternalError" && e.Message == "out of memory" {
		return wire.Outcome{End: wire.EndMemory}
	}
	if e.Name == "SyntaxError" && e.Hint == "" && e.Line > 0 && g.job.Language == "javascript" {
		e.Hint = syntaxHint(e.Message)
	}
	return wire.Outcome{End: wire.EndError, Error: e}
}

func syntaxHint(message string) string {
	if strings.Contains(message, "got ':'") || strings.Contains(message, "expecting ';'") {
		return `if this is TypeScript, run it with the language "typescript"`
	}
	return ""
}

// maxDescription bounds the JSON of a thrown value.
const maxDescription = 256 << 10

// describe asks the prelude for the name, message and stack of a thrown value.
func (g *guest) describe(v quickjs.Value) (*wire.Error, error) {
	text, err := g.vm.Call(g.toError, v)
	if err != nil {
		return nil, err
	}
	s, size, err := g.vm.Text(text, maxDescription)
	if err != nil {
		return nil, err
	}
	if size > maxDescription {
		return nil, tooLarge{size, maxDescription}
	}
	var e wire.Error
	if err := json.Unmarshal([]byte(s), &e); err != nil {
		return nil, err
	}
	at, stack := g.source.Locate(e.Stack, e.Name)
	e.Line, e.Column, e.Stack = at.Line, at.Column, stack
	return &e, nil
}
