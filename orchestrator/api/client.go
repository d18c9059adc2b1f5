package api

import (
	"context"
	"net"
	"net/http"

	"github.com/valyala/fasthttp/fasthttputil"
)

// Client returns an HTTP client that reaches this server in process, without a
// port that others could connect to, at the base URL that comes with it. The
// server ends it with Shutdown.
func (s *Server) Client() (client *http.Client, baseURL string) {
	listener := fasthttputil.NewInmemoryListener()
	context.AfterFunc(s.ctx, func() { _ = listener.Close() }) // also before Serve has begun
	s.work.Go(func() { _ = s.Serve(listener) })               // ends with Shutdown
	dial := func(context.Context, string, string) (net.Conn, error) { return listener.Dial() }
	return &http.Client{Transport: &http.Transport{DialContext: dial}}, "http://localhost:" + s.opts.Port
}
