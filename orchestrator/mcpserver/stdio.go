package mcpserver

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"airlock/ident"
)

// ServeStdio serves the one host that writes to in and reads from out, a message on
// each line, until in ends or ctx does. Nothing but messages is written to out. What
// the host has asked for is ended then, after a short while to finish where in ended. A read from in, or a write to a host that
// reads nothing, may still wait when ServeStdio returns.
func (f *Server) ServeStdio(ctx context.Context, user ident.User, in io.Reader, out io.Writer) error {
	s := f.newSession(user)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(f.ctx, func() { cancel(nil) })
	defer stop()
	written := make(chan struct{})
	go func() { // ends when the stream is finished
		defer close(written)
		err := s.own.copyTo(context.Background(), 0, 0, sink{send: func(e event) error {
			_, err := out.Write(append(e.data[:len(e.data):len(e.data)], '\n'))
			return err
		}})
		if err != nil {
			cancel(fmt.Errorf("write to the host: %w", err))
		}
	}()
	lines := make(chan line)
	go readLines(ctx, in, lines) // ends with ctx, once its read has returned
	err := s.readFrom(ctx, lines)
	within(ctx, requestGrace, s.work.Wait)
	s.close()
	within(context.Background(), writeGrace, func() { <-written }) // ends by time
	if cause := context.Cause(ctx); err == nil && cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	return err
}

// When a host has closed its end, requests may still take a while, as those of a
// shell's pipe do, and so may the reading of their answers.
const (
	requestGrace = 10 * time.Second
	writeGrace   = 2 * time.Second
)

// within waits for wait, but no longer than that.
func within(ctx context.Context, most time.Duration, wait func()) {
	done := make(chan struct{})
	go func() { // ends with wait
		defer close(done)
		wait()
	}()
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// line is one line of the host, or why there are no more.
type line struct {
	text []byte
	err  error
}

var errTooLong = errors.New("the message is too long")

// readLines reads lines of at most maxMessage bytes.
func readLines(ctx context.Context, in io.Reader, lines chan<- line) {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		text, err := readLine(r)
		select {
		case lines <- line{text, err}:
		case <-ctx.Done():
			return
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return
		}
	}
}

// readLine returns the next line without its end. One that is too long is skipped.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for long := false; ; {
		part, err := r.ReadSlice('\n')
		if long = long || len(text)+len(part) > maxMessage; !long {
			text = append(text, part...)
		} else {
			text = nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(text) > 0: // a last line without an end
			return text, nil
		case err != nil:
			return nil, err
		case long:
			return nil, errTooLong
		}
		return text, nil
	}
}

// readFrom takes the host's messages in their order.
func (s *session) readFrom(ctx context.Context, lines <-chan line) error {
	for {
		select {
		case l := <-lines:
			switch {
			case errors.Is(l.err, errTooLong):
				s.own.add(failure(nil, mcp.INVALID_REQUEST, fmt.Sprintf("the message is longer than %d bytes", maxMessage)), false)
			case errors.Is(l.err, io.EOF):
				return nil
			case l.err != nil:
				return fmt.Errorf("read from the host: %w", l.err)
			default:
				s.takeLine(l.text)
			}
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *session) takeLine(text []byte) {
	m, err := parse(text)
	switch {
	case errors.Is(err, errNotJSON):
		if len(text) > 1 { // an empty line is no message
			s.own.add(failure(nil, mcp.PARSE_ERROR, err.Error()), false)
		}
	case err != nil:
		s.own.add(failure(nil, mcp.INVALID_REQUEST, err.Error()), false)
	case m.isResponse():
		s.answered(m)
	case m.isRequest():
		serve := s.begin(m, s.own, true)
		answer := func(a []byte) { s.own.add(a, false) }
		if m.method == string(mcp.MethodInitialize) { // what follows may depend on it
			serve(answer)
			return
		}
		go serve(answer) // close waits for it
	default:
		s.note(m)
	}
}
