package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"airlock/pii"
	"airlock/runtime/docker/internal/wire"
	"airlock/runtime/sandbox"
)

// result makes the outcome of what the supervisor said, or of how it died. stopped
// is why we ended the execution, nil if we did not.
func (e *execution) result(o wire.Outcome, failed, stopped error) sandbox.Result {
	if len(e.value) == 0 {
		e.value = o.Value
	}
	if o.Error != nil {
		e.complaint = ": " + clean(o.Error.Name+": "+o.Error.Message, 500)
	}
	r := sandbox.Result{Reason: e.reason(o, failed, stopped)}
	switch {
	case r.Reason == sandbox.ReasonOK && len(e.value) > 0 && !json.Valid(e.value):
		r.Reason = sandbox.ReasonError
		r.Error = &sandbox.ScriptError{Name: "Error", Message: pii.NewRaw("the script's result is no valid JSON")}
	case r.Reason == sandbox.ReasonOK && len(e.value) > 0:
		r.Value = pii.NewRaw(string(e.value))
	case r.Reason == sandbox.ReasonError && o.Error != nil:
		r.Error = e.script.located(o.Error)
	case r.Reason == sandbox.ReasonKilled && failed == nil && stopped == nil && o.Error != nil:
		r.Error = e.limitError(r.Reason, stopped)
		r.Error.Message = scriptError(o.Error).Message // by which signal
	case r.Reason != sandbox.ReasonOK:
		r.Error = e.limitError(r.Reason, stopped)
	}
	e.output.finish(&r, [2]int64{o.DroppedOut, o.DroppedErr})
	return r
}

// reasons are what a supervisor may give as the reason by itself.
var reasons = map[string]sandbox.Reason{
	"ok": sandbox.ReasonOK, "error": sandbox.ReasonError, "memory": sandbox.ReasonMemory, "output": sandbox.ReasonOutput,
}

// reason judges by what we did ourselves before what the supervisor says.
func (e *execution) reason(o wire.Outcome, failed, stopped error) sandbox.Reason {
	var over *full
	switch {
	case errors.Is(stopped, sandbox.ErrDeadline):
		return sandbox.ReasonTimeout
	case errors.Is(stopped, errOutput):
		return sandbox.ReasonOutput
	case errors.Is(stopped, sandbox.ErrClosed), errors.As(stopped, &over):
		return sandbox.ReasonKilled
	case stopped != nil:
		return sandbox.ReasonCancelled
	}
	if reason, known := reasons[o.Reason]; failed == nil && known {
		return reason
	}
	ctx, cancel := context.WithTimeout(context.Background(), sendTime)
	defer cancel()
	if e.container.engine.ranOut(ctx, e.container.id) {
		e.healthy = false // the engine says it for the container's whole life
		return sandbox.ReasonMemory
	}
	return sandbox.ReasonKilled
}

// limitError says what stopped a script that did not end by itself.
func (e *execution) limitError(reason sandbox.Reason, stopped error) *sandbox.ScriptError {
	l := e.x.Limits
	name, message, hint := "Killed", "the script's interpreter ended unexpectedly", "run it again; if it happens again, do less in one script"
	switch reason {
	case sandbox.ReasonTimeout:
		name, message = "Timeout", fmt.Sprintf("the script ran longer than %v", l.Wall)
		hint = "do less in one script, or make independent calls in parallel"
	case sandbox.ReasonMemory:
		name, message = "OutOfMemory", fmt.Sprintf("the script used more than %d MiB of memory", l.MemoryBytes>>20)
		hint = "work on the data in parts, and keep only what is needed"
	case sandbox.ReasonOutput:
		name, message = "OutputLimit", fmt.Sprintf("the script printed more than %d bytes", l.OutputKillBytes)
		hint = "print a summary, and write the rest to a file in /workspace or /artifacts"
	case sandbox.ReasonCancelled:
		return cancelled()
	case sandbox.ReasonError:
		name, message, hint = "Error", "the script failed, and could not say why", ""
	case sandbox.ReasonKilled:
		name, message, hint = e.whyKilled(stopped, name, message, hint)
	}
	return &sandbox.ScriptError{Name: name, Message: pii.NewRaw(message), Hint: hint}
}

func (e *execution) whyKilled(stopped error, name, message, hint string) (string, string, string) {
	var over *full
	switch {
	case errors.As(stopped, &over):
		return "DiskQuota", fmt.Sprintf("%s: %d MiB and %d files; what the script wrote beyond that was removed", over, e.backend.o.FolderBytes>>20, e.backend.o.FolderFiles),
			"write less, and delete what is no longer needed"
	case errors.Is(stopped, sandbox.ErrClosed):
		return name, "the sandbox was closed while the script ran", ""
	}
	return name, message, hint
}

func cancelled() *sandbox.ScriptError {
	return &sandbox.ScriptError{Name: "Cancelled", Message: pii.NewRaw("the execution was cancelled")}
}

// scriptError makes text from the container fit to be shown.
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
