package docker

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"airlock/pii"
	"airlock/runtime/sandbox"
)

// output keeps what a script prints, within its limits, and passes it on live.
type output struct {
	live    func(sandbox.Stream, pii.Raw)
	streams [2]stream
	// total is what came in, in bytes; the supervisor counts too, and may be wrong.
	total int64
}

// stream is one of the two outputs.
type stream struct {
	name    sandbox.Stream
	room    int64
	text    strings.Builder
	dropped int64
	// part is the beginning of a character whose end has not come yet.
	part []byte
}

func newOutput(x sandbox.Execution) *output {
	o := &output{live: x.Output}
	o.streams[0] = stream{name: sandbox.Stdout, room: x.Limits.OutputBytes}
	o.streams[1] = stream{name: sandbox.Stderr, room: x.Limits.OutputBytes}
	return o
}

// add takes bytes as they came.
func (o *output) add(index int, data []byte) {
	o.total += int64(len(data))
	s := &o.streams[index]
	if s.room <= 0 {
		s.dropped += int64(len(data))
		return
	}
	data = append(s.part, data...)
	whole := wholeCharacters(data)
	s.part = append([]byte(nil), data[whole:]...)
	o.pass(s, data[:whole])
}

// pass keeps text and tells it.
func (o *output) pass(s *stream, data []byte) {
	text := clean(string(data), int(s.room))
	if over := int64(len(data)) - s.room; over > 0 {
		s.dropped += over
	}
	if int64(len(data)) >= s.room {
		s.room = 0 // never a later piece after a gap
	} else {
		s.room -= int64(len(text))
	}
	if text == "" {
		return
	}
	s.text.WriteString(text)
	if o.live != nil {
		o.live(s.name, pii.NewRaw(text))
	}
}

// finish puts everything into the result; dropped is what did not come at all.
func (o *output) finish(r *sandbox.Result, dropped [2]int64) {
	for i := range o.streams {
		s := &o.streams[i]
		o.pass(s, s.part)
		s.dropped += max(dropped[i], 0)
	}
	r.Stdout, r.Stderr = pii.NewRaw(o.streams[0].text.String()), pii.NewRaw(o.streams[1].text.String())
	r.StdoutDropped, r.StderrDropped = o.streams[0].dropped, o.streams[1].dropped
}

// wholeCharacters is the length of data without a character that is cut off at its
// end.
func wholeCharacters(data []byte) int {
	for i := len(data) - 1; i >= 0 && i >= len(data)-utf8.UTFMax; i-- {
		if utf8.RuneStart(data[i]) {
			if utf8.FullRune(data[i:]) {
				break
			}
			return i
		}
	}
	return len(data)
}

// clean makes text fit for terminals and stores: valid UTF-8 of at most most
// bytes, in which control characters other than line ends and tabs are written out.
func clean(text string, most int) string {
	if isPlain(text) {
		return text[:min(len(text), most)]
	}
	var b strings.Builder
	for _, r := range text {
		shown := visible(r)
		if b.Len()+len(shown) > most {
			break
		}
		b.WriteString(shown)
	}
	return b.String()
}

func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// visible writes a character so that it acts on no terminal; bytes that are no
// UTF-8 come here as utf8.RuneError and stay that.
func visible(r rune) string {
	switch {
	case r == '\n' || r == '\t':
		return string(r)
	case r < ' ' || r == 0x7f:
		return fmt.Sprintf(`\x%02x`, r)
	case r >= 0x80 && r < 0xa0:
		return fmt.Sprintf(`\u%04x`, r)
	default:
		return string(r)
	}
}
