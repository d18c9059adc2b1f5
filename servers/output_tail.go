package servers

import (
	"io"
	"sync"

	"airlock/pii"
)

// tailBytes is what is kept of a server's standard error: enough for the stack
// trace that tells why it died.
const tailBytes = 8 << 10

// outputTail keeps the end of what is written to it.
type outputTail struct {
	mu  sync.Mutex // guards buf
	buf []byte
}

// Write never fails and never blocks for long, so that a server cannot stall on
// its standard error.
func (t *outputTail) Write(p []byte) (int, error) {
	n := len(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(p) > tailBytes {
		p = p[len(p)-tailBytes:]
	}
	if over := len(t.buf) + len(p) - tailBytes; over > 0 {
		t.buf = append(t.buf[:0], t.buf[over:]...)
	}
	t.buf = append(t.buf, p...)
	return n, nil
}

func (t *outputTail) drain(r io.Reader) { _, _ = io.Copy(t, r) } // until it is closed

func (t *outputTail) raw() pii.Raw {
	t.mu.Lock()
	defer t.mu.Unlock()
	return pii.NewRaw(string(t.buf))
}
