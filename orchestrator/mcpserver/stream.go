package mcpserver

import (
	"context"
	"sync"
	"time"
)

// What a stream keeps of messages that nobody has read yet, or that a client whose
// connection broke may ask for again.
const (
	maxStreamBytes  = 4 << 20
	maxStreamEvents = 10_000
)

// event is one message to the host with its number in the stream, from 1 on.
type event struct {
	seq  int
	data []byte
}

// stream is an ordered series of messages to the host. Writers never wait; one reader
// at a time sends them on. Everything that answers one request goes by one stream, so
// that nothing is told after the answer.
type stream struct {
	id int

	mu     sync.Mutex // guards all below
	events []event    // not yet forgotten
	bytes  int        // of events
	last   int        // number of the newest event
	sent   int        // number of the newest event that was sent
	done   bool       // no more will come
	more   chan struct{}
	taken  context.CancelFunc // ends the reader that there is
}

func newStream(id int) *stream { return &stream{id: id, more: make(chan struct{})} }

// add appends a message. One that may be missed is left out where the stream holds
// too much already.
func (s *stream) add(data []byte, mayMiss bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done || data == nil || mayMiss && (s.bytes+len(data) > maxStreamBytes || len(s.events) >= maxStreamEvents) {
		return
	}
	s.last++
	s.events = append(s.events, event{s.last, data})
	s.bytes += len(data)
	s.wake()
}

// finish says that no more will come.
func (s *stream) finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	s.wake()
}

// wake is called with mu held.
func (s *stream) wake() {
	close(s.more)
	s.more = make(chan struct{})
}

// forget drops the events up to a number. It is called with mu held.
func (s *stream) forget(seq int) {
	for len(s.events) > 0 && s.events[0].seq <= seq {
		s.bytes -= len(s.events[0].data)
		s.events = s.events[1:]
	}
}

// take makes the caller the reader, in place of one that there may be, whose context
// ends.
func (s *stream) take(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken != nil {
		s.taken()
	}
	s.taken = cancel
	return ctx, cancel
}

// after returns the events past a number, whether those are the last, and a channel
// that is closed when there is more.
func (s *stream) after(seq int) (events []event, done bool, more <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from := len(s.events)
	for from > 0 && s.events[from-1].seq > seq {
		from--
	}
	return s.events[from:len(s.events):len(s.events)], s.done, s.more
}

// sink is where a reader sends events. alive, if set, is called when nothing was sent
// for a heartbeat.
type sink struct {
	send  func(event) error
	alive func() error
}

// copyTo sends the events past a number until the stream is finished, ctx ends or
// sending fails. The last keep events can be asked for again.
func (s *stream) copyTo(ctx context.Context, seq, keep int, to sink) error {
	var beat <-chan time.Time
	if to.alive != nil {
		tick := time.NewTicker(heartbeat)
		defer tick.Stop()
		beat = tick.C
	}
	for {
		events, done, more := s.after(seq)
		for _, e := range events {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := to.send(e); err != nil {
				return err
			}
			seq = e.seq
			s.mark(seq, keep)
		}
		if done {
			return nil
		}
		select {
		case <-more:
		case <-beat:
			if err := to.alive(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// mark notes what was sent.
func (s *stream) mark(seq, keep int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sent = max(s.sent, seq)
	s.forget(s.sent - keep)
}

// unsent is the number of the newest event that was sent.
func (s *stream) unsent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent
}

// size is what the stream holds, in bytes.
func (s *stream) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// isDone reports whether no more will come.
func (s *stream) isDone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.done
}
