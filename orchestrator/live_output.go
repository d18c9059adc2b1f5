package orchestrator

import (
	"airlock/ident"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// liveOutput passes what a script prints on to the task's events as it comes.
// Its tokenizers hold back what may be the beginning of a personal value.
type liveOutput struct {
	x       script
	id      ident.Execution
	streams map[sandbox.Stream]*pii.Tokenizer
}

func newLiveOutput(v *pii.Vault, id ident.Execution, x script) *liveOutput {
	return &liveOutput{x: x, id: id, streams: map[sandbox.Stream]*pii.Tokenizer{
		sandbox.Stdout: v.Tokenizer(pii.OriginScript), sandbox.Stderr: v.Tokenizer(pii.OriginScript),
	}}
}

func (l *liveOutput) write(stream sandbox.Stream, text pii.Raw) {
	if t, ok := l.streams[stream]; ok {
		l.tell(stream, t.Write, text)
	}
}

func (l *liveOutput) close() {
	for _, stream := range []sandbox.Stream{sandbox.Stdout, sandbox.Stderr} {
		if t, ok := l.streams[stream]; ok {
			l.tell(stream, func(pii.Raw) (pii.Tokenized, error) { return t.Flush() }, pii.Raw{})
		}
	}
}

// tell drops what cannot be tokenized: the same output comes again in the
// execution's result, where the same fault ends the execution.
func (l *liveOutput) tell(stream sandbox.Stream, tokenize func(pii.Raw) (pii.Tokenized, error), text pii.Raw) {
	done, err := tokenize(text)
	if err != nil {
		delete(l.streams, stream)
		return
	}
	if !done.IsZero() {
		l.x.event(EventExecutionOutput, EventData{Execution: l.id, Stream: string(stream), Text: done})
	}
}
