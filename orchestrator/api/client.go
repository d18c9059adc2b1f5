package api

import (
	"context"
	"net"
	"net/http"
	"sync"

	"github.com/valyala/fasthttp/fasthttputil"
)

// Client returns an HTTP client that reaches this server in process, without a
// port that others could connect to, at the base URL that comes with it. The
// server ends it with Shutdown.
func (s *Server) Client() (client *http.Client, baseURL string) {
	memory := fasthttputil.NewInmemoryListener()
	listener := &closedOnce{Listener: memory}
	context.AfterFunc(s.ctx, func() { _ = listener.Close() }) // also before Serve has begun
	s.work.Go(func() { _ = s.Serve(listener) })               // ends with Shutdown
	dial := func(context.Context, string, string) (net.Conn, error) { return memory.Dial() }
	return &http.Client{Transport: &http.Transport{DialContext: dial}}, "http://localhost:" + s.opts.Port
}

// closedOnce is a listener that may be closed again.
type closedOnce struct {
	net.Listener
	once sync.Once
	err  error
}

// Close implements net.Listener.
func (l *closedOnce) Close() error {
	l.once.Do(func() { l.err = l.Listener.Close() })
	return l.err
}
