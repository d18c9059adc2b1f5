package wasm

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/runtime/wasm/internal/wire"
)

// output keeps what a script prints, within its limits, and passes it on live.
type output struct {
	live    func(sandbox.Stream, pii.Raw)
	keep    int64
	texts   [2]strings.Builder
	dropped [2]int64
}

func newOutput(x sandbox.Execution) *output {
	return &output{live: x.Output, keep: x.Limits.OutputBytes}
}

// add takes the text of one frame. The worker keeps to the limit; that it does is
// not relied upon.
func (o *output) add(f wire.Frame) {
	stream, index := sandbox.Stdout, 0
	if len(f.Field(0)) == 1 && f.Field(0)[0] == wire.Stderr {
		stream, index = sandbox.Stderr, 1
	}
	raw := f.Field(1)
	room := max(o.keep-int64(o.texts[index].Len()), 0)
	text := clean(string(raw), int(room))
	if int64(len(raw)) > room {
		o.dropped[index] += int64(len(raw)) - room
	}
	if text == "" {
		return
	}
	o.texts[index].WriteString(text)
	if o.live != nil {
		o.live(stream, pii.NewRaw(text))
	}
}

// finish puts everything into the result; dropped is what the worker did not send.
func (o *output) finish(r *sandbox.Result, dropped [2]int64) {
	r.Stdout, r.Stderr = pii.NewRaw(o.texts[0].String()), pii.NewRaw(o.texts[1].String())
	r.StdoutDropped = o.dropped[0] + max(dropped[0], 0)
	r.StderrDropped = o.dropped[1] + max(dropped[1], 0)
}

// clean makes text safe to show on a terminal and to store: valid UTF-8, control
// characters but for line ends and tabs written as \x1b, and at most most bytes.
func clean(s string, most int) string {
	var b strings.Builder
	for len(s) > 0 && b.Len() < most {
		plain := 0
		for plain < len(s) && (s[plain] >= ' ' && s[plain] < 0x7f || s[plain] == '\n' || s[plain] == '\t') {
			plain++
		}
		b.WriteString(s[:min(plain, most-b.Len())])
		if s = s[plain:]; s == "" {
			break
		}
		r, size := utf8.DecodeRuneInString(s)
		text := visible(r)
		if b.Len()+len(text) > most {
			break
		}
		b.WriteString(text)
		s = s[size:]
	}
	return b.String()
}

// visible writes a character so that it acts on no terminal.
func visible(r rune) string {
	switch {
	case r < ' ' || r == 0x7f:
		return fmt.Sprintf(`\x%02x`, r)
	case r >= 0x80 && r < 0xa0: // C1 controls
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return string(r) // utf8.RuneError is what stands for bytes that are no UTF-8
	}
}
