package servers

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"golang.org/x/net/http/httpproxy"

	"airlock/pii"
)

// httpWire speaks streamable HTTP through mcp-go, with a limit for messages and
// without its log, which quotes what servers say.
type httpWire struct {
	*transport.StreamableHTTP
	*ending
	client *http.Client
}

func (u *upstream) openHTTP() (wire, error) {
	client := u.httpClient(0)
	t, err := transport.NewStreamableHTTP(u.entry.launch.url, transport.WithHTTPBasicClient(client),
		transport.WithHTTPHeaders(u.entry.launch.headers), transport.WithHTTPLogger(slog.New(slog.DiscardHandler)))
	if err != nil {
		return nil, u.badURL()
	}
	return &httpWire{StreamableHTTP: t, ending: newEnding(), client: client}, nil
}

func (u *upstream) badURL() error {
	return u.fail(doStart, ErrUpstream, "its url is not an address", `correct "url" in catalog.json`)
}

// connectTime bounds reaching a host; calls have their own deadlines.
const connectTime = 10 * time.Second

// httpClient has connections of its own, so that closing the wire closes them.
// It follows no redirects: they would carry the entry's headers to a host that
// the catalog does not name. headerTime bounds the wait for the beginning of an
// answer; 0 leaves it to the deadlines of calls.
func (u *upstream) httpClient(headerTime time.Duration) *http.Client {
	base := &http.Transport{
		Proxy:                 u.proxy(),
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   u.entry.concurrency,
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   connectTime,
		ExpectContinueTimeout: time.Second,
		ResponseHeaderTimeout: headerTime,
		DialContext:           (&net.Dialer{Timeout: connectTime}).DialContext,
	}
	return &http.Client{
		Transport:     &limiter{next: u.authorize(base), max: u.entry.maxMessage},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// proxy is what the environment asks for, by way of Options.Environ.
func (u *upstream) proxy() func(*http.Request) (*url.URL, error) {
	lookup := func(names ...string) string {
		for _, name := range names {
			if value, ok := u.manager.options.Environ(name); ok {
				return value
			}
		}
		return ""
	}
	config := httpproxy.Config{
		HTTPProxy:  lookup("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: lookup("HTTPS_PROXY", "https_proxy"),
		NoProxy:    lookup("NO_PROXY", "no_proxy"),
	}
	find := config.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) { return find(r.URL) }
}

// SendRequest notes what the text of mcp-go's errors would have to be searched
// for. An exchange that broke ends the wire: its session may be gone.
func (w *httpWire) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	ctx, x := withExchange(ctx)
	response, err := w.StreamableHTTP.SendRequest(ctx, r)
	if err == nil && response != nil && x.status.Load() == nil {
		return response, nil
	}
	err = x.judge(ctx, err)
	var status *statusError
	switch {
	case x.denied.Load() != nil: // the session is as good as before
	case errors.As(err, &status):
		if status.code == http.StatusNotFound {
			w.end(err)
		}
	case ctx.Err() == nil && !errors.Is(err, errTooLarge):
		w.end(err)
	}
	return nil, err
}

// judge tells apart what went wrong. The texts of mcp-go do not leave here.
func (x *exchange) judge(ctx context.Context, err error) error {
	switch {
	case x.tooLarge.Load():
		return errTooLarge
	case x.denied.Load() != nil:
		return x.denied.Load()
	case ctx.Err() != nil:
		return ctx.Err()
	case x.status.Load() != nil:
		return x.status.Load()
	}
	var dial *url.Error
	if errors.As(err, &dial) {
		return errUnreachable
	}
	return errMalformed
}

func (w *httpWire) kill(cause error) {
	w.end(cause)
	w.client.CloseIdleConnections()
}

func (w *httpWire) detail() pii.Raw { return pii.Raw{} }

// Close ends the session and the connections.
func (w *httpWire) Close() error {
	w.end(errClosed)
	err := w.StreamableHTTP.Close()
	w.client.CloseIdleConnections()
	return err
}
