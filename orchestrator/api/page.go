package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/zap"
)

// pagePrefix is where the parts of the web page are, beside "/".
const pagePrefix = "/ui/"

// servePage lets the page answer.
func (s *Server) servePage(c *fiber.Ctx) error {
	return s.serveHTTP(c, s.page, func() error { return nil })
}

// serveHTTP lets a handler of net/http answer. It may stream: what it writes before its
// first Flush is sent at once, what comes later as it comes, as long as the caller is
// authorized.
func (s *Server) serveHTTP(c *fiber.Ctx, h http.Handler, authorized func() error) error {
	ctx, cancel := context.WithCancel(s.ctx)
	r, err := pageRequest(ctx, c)
	if err != nil {
		cancel()
		return err
	}
	w := &pageWriter{ctx: ctx, header: http.Header{}, status: http.StatusOK, begun: make(chan struct{}), chunks: make(chan []byte)}
	log := s.log(c)
	s.work.Go(func() { // ends with ctx, at the latest
		defer w.end()
		defer recoverPage(w, log)
		h.ServeHTTP(w, r)
	})
	<-w.begun
	if w.failed {
		cancel()
		return errPagePanicked
	}
	for name, values := range w.header {
		c.Response().Header.Del(name)
		for _, value := range values {
			c.Response().Header.Add(name, value)
		}
	}
	c.Status(w.status)
	if !w.streams {
		cancel()
		return c.Send(w.buffer.Bytes())
	}
	f := &follower{server: s, conn: c.Context().Conn(), authorized: authorized}
	c.Context().SetBodyStreamWriter(func(out *bufio.Writer) {
		defer cancel()
		if err := f.relay(ctx, out, w.chunks); err != nil {
			log.Debug("a stream ended early", zap.Error(err))
		}
	})
	return nil
}

var errPagePanicked = errors.New("the handler panicked")

func recoverPage(w *pageWriter, log *zap.Logger) {
	if r := recover(); r != nil {
		log.Error("a handler panicked", zap.ByteString("stack", debug.Stack()))
		w.failed = !w.streams
	}
}

// pageRequest copies a request, which must not be touched once its handler returned. Its
// address is as it was sent: an encoded slash is part of a name.
func pageRequest(ctx context.Context, c *fiber.Ctx) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, c.Method(), c.OriginalURL(), bytes.NewReader(slices.Clone(c.BodyRaw())))
	if err != nil {
		return nil, badBody("the address is not valid")
	}
	c.Request().Header.VisitAll(func(name, value []byte) { r.Header.Add(string(name), string(value)) })
	r.Host = string(c.Request().Host())
	r.RemoteAddr = c.Context().RemoteAddr().String()
	return r, nil
}

// relay sends what a handler streams until it ends, the client is gone, or ctx ends.
func (f *follower) relay(ctx context.Context, out *bufio.Writer, chunks <-chan []byte) error {
	look := time.NewTicker(goneCheck)
	defer look.Stop()
	defer context.AfterFunc(ctx, func() { f.mayTake(ctx) })()
	for {
		select {
		case chunk, more := <-chunks:
			if !more {
				return nil
			}
			f.mayTake(ctx)
			if _, err := out.Write(chunk); err != nil {
				return fmt.Errorf("send a part of the page: %w", err)
			}
			if err := out.Flush(); err != nil {
				return fmt.Errorf("send a part of the page: %w", err)
			}
		case <-look.C:
			if gone(f.conn) {
				return net.ErrClosed
			}
			if err := f.mayFollow(); err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// pageWriter takes what a handler answers. It belongs to the handler's goroutine until
// begun is closed; then only chunks carries anything over.
type pageWriter struct {
	ctx    context.Context //nolint:containedctx // of the one request that it answers
	header http.Header
	status int
	buffer bytes.Buffer
	// begun is closed when header and status stand: at the first Flush, or the end.
	begun   chan struct{}
	streams bool
	failed  bool
	chunks  chan []byte
	wrote   bool
}

// Header implements http.ResponseWriter.
func (w *pageWriter) Header() http.Header {
	if w.streams {
		return http.Header{} // they are sent
	}
	return w.header
}

// WriteHeader implements http.ResponseWriter.
func (w *pageWriter) WriteHeader(status int) {
	if !w.wrote && !w.streams {
		w.status, w.wrote = status, true
	}
}

// Write implements http.ResponseWriter.
func (w *pageWriter) Write(p []byte) (int, error) {
	w.wrote = true
	if w.streams && w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	return w.buffer.Write(p)
}

// Flush implements http.Flusher.
func (w *pageWriter) Flush() {
	if !w.streams {
		w.streams = true
		close(w.begun)
	}
	chunk := slices.Clone(w.buffer.Bytes())
	w.buffer.Reset()
	select {
	case w.chunks <- chunk:
	case <-w.ctx.Done():
	}
}

// end tells that the page has said all.
func (w *pageWriter) end() {
	if !w.streams {
		close(w.begun)
		return
	}
	if w.buffer.Len() > 0 {
		w.Flush()
	}
	close(w.chunks)
}
