package servers

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"airlock/pii"
)

// What wires report. Their texts are ours.
var (
	errTooLarge        = errors.New("message over the limit")
	errRequestTooLarge = errors.New("request over the limit")
	errMalformed       = errors.New("answer not in the form of the protocol")
	errUnreachable     = errors.New("server not reached")
	errClosed          = errors.New("connection closed")
)

// refusal is a JSON-RPC error that a server answered with.
type refusal struct {
	code   int
	detail pii.Raw
}

func (r *refusal) Error() string { return fmt.Sprintf("JSON-RPC error %d", r.code) }

func refusalOf(d *mcp.JSONRPCErrorDetails) *refusal {
	text := d.Message
	if d.Data != nil {
		text += fmt.Sprintf("\n%v", d.Data)
	}
	return &refusal{code: d.Code, detail: pii.NewRaw(text)}
}

// explain turns what a wire reported into an Error. Texts of mcp-go are left
// out, as they may quote the server.
func (c *connection) explain(ctx context.Context, doing string, err error) error {
	u := c.up
	var own *Error
	var refused *refusal
	var status *statusError
	switch {
	case errors.As(err, &own):
		relabelled := *own
		relabelled.Doing = doing
		if relabelled.Detail.IsZero() {
			relabelled.Detail = c.wire.detail()
		}
		return &relabelled
	case errors.Is(err, errTooLarge):
		return u.fail(doing, ErrResultTooLarge, fmt.Sprintf("the answer has more than the %d bytes of limits.maxMessageBytes", u.entry.maxMessage),
			"ask for less at a time, with a limit or a page, or raise the limit in catalog.json")
	case errors.Is(err, errRequestTooLarge):
		return u.fail(doing, ErrArgumentsTooLarge, fmt.Sprintf("the request has more than the %d bytes of limits.maxMessageBytes", u.entry.maxMessage),
			"send less at a time, or raise the limit in catalog.json")
	case ctx.Err() != nil:
		return u.overdue(ctx, doing, c.wire.detail())
	case errors.As(err, &refused):
		return &Error{Server: u.entry.Name, Doing: doing, Kind: ErrUpstream, Detail: refused.detail,
			Reason: "it answered with " + refused.Error(), Hint: refusalHint(refused.code)}
	case errors.As(err, &status):
		return &Error{Server: u.entry.Name, Doing: doing, Kind: ErrUpstream, Detail: status.body,
			Reason: status.Error(), Hint: u.statusHint(status)}
	case errors.Is(err, errUnreachable):
		return u.fail(doing, ErrUpstream, "it could not be reached, or broke off", "check that it runs at the url in catalog.json")
	case errors.Is(err, errMalformed):
		return &Error{Server: u.entry.Name, Doing: doing, Kind: ErrUpstream, Detail: c.wire.detail(),
			Reason: "its answer does not have the form of the protocol", Hint: "check that it is an MCP server of the version that the catalog names"}
	default:
		return &Error{Server: u.entry.Name, Doing: doing, Kind: ErrUpstream, Detail: c.wire.detail(),
			Reason: "the connection broke", Hint: "it is made again by the next call"}
	}
}

func (u *upstream) overdue(ctx context.Context, doing string, detail pii.Raw) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return u.fail(doing, ctx.Err(), "cancelled", "")
	}
	limit, field := u.entry.callTimeout, "callTimeoutMs"
	if doing == doStart {
		limit, field = u.entry.initTimeout, "initTimeoutMs"
	}
	err := u.fail(doing, ErrTimeout, fmt.Sprintf("no answer within its deadline, at most %s", limit),
		fmt.Sprintf("ask for less, or raise lifecycle.%s in catalog.json", field))
	err.Detail = detail
	return err
}

func refusalHint(code int) string {
	switch code {
	case mcp.INVALID_PARAMS:
		return "check the arguments against the tool's input schema"
	case mcp.METHOD_NOT_FOUND:
		return "the server does not know this tool or method any more; list the tools again"
	}
	return "read what it said and try again"
}

// statusError is an HTTP answer other than success.
type statusError struct {
	code int
	body pii.Raw
}

func (e *statusError) Error() string { return fmt.Sprintf("it answered with HTTP status %d", e.code) }

func (u *upstream) statusHint(e *statusError) string {
	switch {
	case e.code == 401 || e.code == 403:
		return u.credentialsHint()
	case e.code == 404 || e.code == 405:
		return "check the url in catalog.json; a legacy server needs \"transport\": \"sse\""
	case e.code == 429:
		return "call it less often"
	case e.code >= 300 && e.code < 400:
		return "write the address that it redirects to into catalog.json"
	}
	return "try again later"
}

// ending is the part of a wire that knows whether and why it is over.
type ending struct {
	once sync.Once
	over chan struct{}
	why  error
}

func newEnding() *ending { return &ending{over: make(chan struct{})} }

func (e *ending) end(why error) {
	e.once.Do(func() {
		e.why = why
		close(e.over)
	})
}

func (e *ending) ended() <-chan struct{} { return e.over }

func (e *ending) cause() error {
	select {
	case <-e.over:
		return e.why
	default:
		return errClosed
	}
}
