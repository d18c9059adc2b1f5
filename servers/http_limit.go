package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync/atomic"

	"airlock/pii"
)

// exchange notes what happened to the HTTP request of one call, which mcp-go
// reports as text only.
type exchange struct {
	tooLarge atomic.Bool
	status   atomic.Pointer[statusError]
	denied   atomic.Pointer[Error] // there is no token to send
}

type exchangeKey struct{}

func withExchange(ctx context.Context) (context.Context, *exchange) {
	x := &exchange{}
	return context.WithValue(ctx, exchangeKey{}, x), x
}

// limiter is a RoundTripper that ends a body when a message in it is over the
// limit, and notes answers that are no success.
type limiter struct {
	next http.RoundTripper
	max  int
}

// errorBodyBytes is what is kept of an answer that is no success.
const errorBodyBytes = 8 << 10

func (l *limiter) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := l.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	if x == nil {
		x = &exchange{}
	}
	if response.StatusCode >= 300 {
		return response, x.refuse(response)
	}
	media, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	response.Body = &limitedBody{ReadCloser: response.Body, max: l.max, events: media == "text/event-stream", exchange: x}
	return response, nil
}

// refuse keeps the beginning of the body, for the report, and puts an end to it.
func (x *exchange) refuse(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, errorBodyBytes))
	if err != nil {
		body = nil // the status says enough
	}
	x.status.Store(&statusError{code: response.StatusCode, body: pii.NewRaw(string(body))})
	if err := response.Body.Close(); err != nil {
		return fmt.Errorf("close the body: %w", err)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	return nil
}

// limitedBody counts the bytes of a message: all of a body or, in a stream of
// events, those since the last empty line.
type limitedBody struct {
	io.ReadCloser
	max      int
	events   bool
	exchange *exchange
	size     int
	newline  bool // the last byte seen was the end of a line
}

// eventBytes is room for the names of fields beside the message.
const eventBytes = 4 << 10

var errBodyTooLarge = errors.New("body over the limit")

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if b.events {
		b.count(p[:n])
	} else {
		b.size += n
	}
	if b.size > b.max+eventBytes {
		b.exchange.tooLarge.Store(true)
		return 0, errBodyTooLarge
	}
	return n, err
}

func (b *limitedBody) count(p []byte) {
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			b.size += len(p)
			b.newline = b.newline && len(bytes.Trim(p, "\r")) == 0
			return
		}
		if b.newline && len(bytes.Trim(p[:i], "\r")) == 0 {
			b.size = 0
		}
		b.size += i + 1
		b.newline = true
		p = p[i+1:]
		if b.size > b.max+eventBytes {
			return
		}
	}
}
