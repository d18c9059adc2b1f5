package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	"airlock/orchestrator/llm"
)

const (
	// DefaultIdle is how long a provider may send nothing. Reasoning models and
	// models on a CPU can be silent for minutes before their first word.
	DefaultIdle = 5 * time.Minute
	// maxBody bounds one answer, some hundred times the longest that models give.
	maxBody = 64 << 20
)

// NewClient returns a copy of base, nil for a plain one, that
//   - reports an HTTP status of 300 and above as *llm.Error, so that keys and
//     messages follow no redirect,
//   - reports an answer that is no event stream as *llm.Error,
//   - ends a request when nothing arrived for idle,
//   - reports a body that breaks off as llm.ErrTruncated.
//
// A plain client uses no proxy: whoever wants one passes base.
func (e Endpoint) NewClient(base *http.Client, idle time.Duration) *http.Client {
	var client http.Client
	if base != nil {
		client = *base
	}
	next := client.Transport
	if next == nil {
		next = plainTransport()
	}
	if idle <= 0 {
		idle = DefaultIdle
	}
	client.Transport = &guard{endpoint: e, idle: idle, next: next}
	return &client
}

func plainTransport() http.RoundTripper {
	return &http.Transport{
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second,
	}
}

// guard is the transport of NewClient.
type guard struct {
	endpoint Endpoint
	idle     time.Duration
	next     http.RoundTripper
}

var errIdle = errors.New("nothing arrived in time")

// RoundTrip sends the request and hands out a guarded body.
func (g *guard) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(g.idle, func() { cancel(errIdle) })
	ended := func() error { return context.Cause(ctx) }
	body := &guardedBody{guard: g, ended: ended, timer: timer, cancel: cancel, left: maxBody}
	response, err := g.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		err = g.unreachable(ended(), err) // before the context ends
		body.stop()
		return nil, err
	}
	body.inner = response.Body
	response.Body = body
	if fault := g.endpoint.refusal(response); fault != nil {
		_ = body.Close()
		return nil, fault
	}
	return response, nil
}

// refusal is the error of a response that is no stream of a model's answer.
func (e Endpoint) refusal(r *http.Response) error {
	switch kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); {
	case r.StatusCode >= http.StatusBadRequest:
		return e.statusFault(r)
	case r.StatusCode >= http.StatusMultipleChoices:
		return &llm.Error{Provider: e.Provider, Status: r.StatusCode, Code: "redirect",
			Hint: "redirects are not followed; set " + e.URLName + " to the final address"}
	case kind == "text/html":
		return e.notAStream(r.StatusCode, false)
	case kind == "application/json":
		return e.jsonAnswer(r)
	}
	return nil
}

// jsonAnswer is the error of a success that is JSON: gateways tell errors so, and
// servers that do not stream.
func (e Endpoint) jsonAnswer(r *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(r.Body, maxErrorBody)) // an unreadable body tells nothing
	if told := readTold(body); told.code() != "" || told.Message != "" {
		return e.EventFault(body)
	}
	return e.notAStream(r.StatusCode, true)
}

func (e Endpoint) notAStream(status int, retry bool) error {
	return &llm.Error{Provider: e.Provider, Status: status, Code: "not_a_stream", Retry: retry,
		Hint: "it did not answer with an event stream; check " + e.URLName}
}

// unreachable is the error of a request without a response.
func (g *guard) unreachable(ended, err error) error {
	if ended != nil {
		return g.endedBy(ended)
	}
	return &llm.Error{Provider: g.endpoint.Provider, Code: "connection", Retry: true, Cause: err,
		Hint: "check the network and " + g.endpoint.URLName}
}

// endedBy is the error of a request that we ended, for whatever reason.
func (g *guard) endedBy(cause error) error {
	if !errors.Is(cause, errIdle) {
		return cause
	}
	return &llm.Error{Provider: g.endpoint.Provider, Code: "timeout", Retry: true, Cause: errIdle,
		Hint: fmt.Sprintf("it sent nothing for %v", g.idle)}
}

// guardedBody watches over a response as it is read.
type guardedBody struct {
	guard  *guard
	inner  io.ReadCloser
	ended  func() error // why the request's context ended, nil before
	timer  *time.Timer
	cancel context.CancelCauseFunc
	left   int
	once   sync.Once
}

// Read puts the end of patience off with every byte.
func (b *guardedBody) Read(p []byte) (int, error) {
	n, err := b.inner.Read(p[:min(len(p), b.left)])
	b.left -= n
	if n > 0 {
		b.timer.Reset(b.guard.idle)
	}
	switch {
	case errors.Is(err, io.EOF):
		return n, err
	case err != nil:
		return n, b.broken(err)
	case b.left == 0:
		return n, b.guard.endpoint.Unreadable("the answer is too long")
	}
	return n, nil
}

func (b *guardedBody) broken(err error) error {
	if cause := b.ended(); cause != nil {
		return b.guard.endedBy(cause)
	}
	return fmt.Errorf("%w: %w", llm.ErrTruncated, err)
}

// Close ends the request.
func (b *guardedBody) Close() error {
	b.stop()
	return b.inner.Close()
}

func (b *guardedBody) stop() {
	b.once.Do(func() {
		b.timer.Stop()
		b.cancel(context.Canceled)
	})
}
