package worker

import (
	"sync"
	"time"
	"unicode/utf8"

	"airlock/runtime/wasm/internal/wire"
)

// output sends what a script prints: at once when little is printed, gathered for
// a few milliseconds when much is.
type output struct {
	conn *wire.Conn

	mu      sync.Mutex // guards all below
	stream  byte
	buffer  []byte
	flushed time.Time
	timer   *time.Timer
	err     error

	// What follows belongs to the owner of the interpreter: how many bytes of each
	// stream may be sent, were sent, and were not.
	keep          int64
	sent, dropped [2]int64
}

const (
	gatherTime  = 5 * time.Millisecond
	gatherBytes = 16 << 10
)

func newOutput(conn *wire.Conn) *output { return &output{conn: conn} }

// room is how many bytes of a stream may still be sent.
func (o *output) room(stream byte) int { return int(max(o.keep-o.sent[stream], 0)) }

// total is how many bytes were printed.
func (o *output) total() int64 {
	return o.sent[0] + o.sent[1] + o.dropped[0] + o.dropped[1]
}

// print sends text, the beginning of what was printed, and counts all size bytes.
func (o *output) print(stream byte, text string, size int) {
	n := int64(min(len(text), size))
	o.sent[stream] += n
	o.dropped[stream] += int64(size) - n
	if text != "" {
		o.write(stream, text)
	}
}

func (o *output) write(stream byte, text string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if stream != o.stream {
		o.flushLocked()
		o.stream = stream
	}
	o.buffer = append(o.buffer, text...)
	switch {
	case len(o.buffer) >= gatherBytes || time.Since(o.flushed) > gatherTime:
		o.flushLocked()
	case o.timer == nil:
		o.timer = time.AfterFunc(gatherTime, o.flush)
	}
}

// flush sends what is gathered.
func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.flushLocked()
}

func (o *output) flushLocked() {
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
	for len(o.buffer) > 0 && o.err == nil {
		n := cut(o.buffer, wire.MaxOutput)
		o.err = o.conn.Send(wire.Output, 0, []byte{o.stream}, o.buffer[:n])
		o.buffer = o.buffer[n:]
	}
	o.buffer = o.buffer[:0]
	o.flushed = time.Now()
}

// cut is the length of the longest prefix of at most most bytes that does not end
// within a character.
func cut(b []byte, most int) int {
	if len(b) <= most {
		return len(b)
	}
	for n := most; n > most-utf8.UTFMax; n-- {
		if utf8.RuneStart(b[n]) {
			return n
		}
	}
	return most
}
