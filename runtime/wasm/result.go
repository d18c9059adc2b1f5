package wasm

import (
	"errors"
	"fmt"
	"strings"

	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/runtime/wasm/internal/wire"
)

// result makes the outcome of what the worker said, or of how it died. stopped is
// why we asked it to stop, nil if we did not.
func (e *execution) result(o wire.Outcome, value []byte, failed, stopped error) sandbox.Result {
	r := sandbox.Result{Reason: e.reason(o, failed, stopped)}
	if r.Reason == sandbox.ReasonOK && o.HasValue {
		r.Value = pii.NewRaw(strings.ToValidUTF8(string(value), "\uFFFD"))
	}
	if r.Reason == sandbox.ReasonError && o.Error != nil {
		r.Error = scriptError(o.Error)
	} else if r.Reason != sandbox.ReasonOK {
		r.Error = e.limitError(r.Reason, stopped)
	}
	e.output.finish(&r, o.Dropped)
	return r
}

// reason judges by what we know ourselves before what the worker says.
func (e *execution) reason(o wire.Outcome, failed, stopped error) sandbox.Reason {
	if failed == nil {
		switch o.End {
		case wire.EndOK:
			return sandbox.ReasonOK
		case wire.EndError:
			return sandbox.ReasonError
		case wire.EndMemory:
			return sandbox.ReasonMemory
		case wire.EndOutput:
			return sandbox.ReasonOutput
		}
	}
	switch {
	case errors.Is(stopped, sandbox.ErrDeadline):
		return sandbox.ReasonTimeout
	case errors.Is(stopped, sandbox.ErrClosed):
		return sandbox.ReasonKilled
	case stopped != nil:
		return sandbox.ReasonCancelled
	case failed != nil && e.worker.ranOutOfMemory():
		return sandbox.ReasonMemory
	default:
		return sandbox.ReasonKilled
	}
}

// scriptError makes text from the worker fit to be shown.
func scriptError(e *wire.Error) *sandbox.ScriptError {
	return &sandbox.ScriptError{
		Name:    clean(e.Name, 200),
		Message: pii.NewRaw(clean(e.Message, 64<<10)),
		Stack:   pii.NewRaw(clean(e.Stack, 16<<10)),
		Hint:    clean(e.Hint, 1000),
		Line:    max(e.Line, 0),
		Column:  max(e.Column, 0),
	}
}

// limitError says what stopped a script that did not end by itself.
func (e *execution) limitError(reason sandbox.Reason, stopped error) *sandbox.ScriptError {
	l := e.x.Limits
	name, message, hint := "Killed", "the script's interpreter ended unexpectedly", "run it again; if it happens again, do less in one script"
	switch reason {
	case sandbox.ReasonTimeout:
		name, message = "Timeout", fmt.Sprintf("the script ran longer than %v", l.Wall)
		hint = "do less in one script, or make independent calls in parallel with Promise.all"
	case sandbox.ReasonMemory:
		name, message = "OutOfMemory", fmt.Sprintf("the script used more than %d MiB of memory", l.MemoryBytes>>20)
		hint = "work on the data in parts, and keep only what is needed"
	case sandbox.ReasonOutput:
		name, message = "OutputLimit", fmt.Sprintf("the script printed more than %d bytes", l.OutputKillBytes)
		hint = "print a summary, and write the rest to a file in /workspace or /artifacts"
	case sandbox.ReasonCancelled:
		return cancelled()
	case sandbox.ReasonKilled:
		if errors.Is(stopped, sandbox.ErrClosed) {
			message, hint = "the sandbox was closed while the script ran", ""
		}
	case sandbox.ReasonError:
		name, message, hint = "Error", "the script failed, and could not say why", ""
	}
	return &sandbox.ScriptError{Name: name, Message: pii.NewRaw(message), Hint: hint}
}

func cancelled() *sandbox.ScriptError {
	return &sandbox.ScriptError{Name: "Cancelled", Message: pii.NewRaw("the execution was cancelled")}
}
