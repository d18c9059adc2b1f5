package servers

import (
	"errors"
	"fmt"

	"airlock/pii"
)

// What a caller can tell apart with errors.Is. Everything else wrong with a
// server is ErrUpstream.
var (
	// ErrUnknownTool means that no enabled server offers this user such a tool.
	ErrUnknownTool = errors.New("unknown tool")
	// ErrUpstream means that the server could not be started or reached, broke
	// off, or answered with a protocol error.
	ErrUpstream = errors.New("the server failed")
	// ErrTimeout means that the server took longer than it may.
	ErrTimeout = errors.New("the server took too long")
	// ErrResultTooLarge means that the answer is over the catalog's
	// limits.maxMessageBytes. Nothing of it is kept.
	ErrResultTooLarge = errors.New("the result is too large")
	// ErrArgumentsTooLarge means that the arguments are over the same limit.
	ErrArgumentsTooLarge = errors.New("the arguments are too large")
)

// Error says what failed on which server and what to do about it. Its text is
// made here and holds nothing that a server sent; that is in Detail.
type Error struct {
	Server string
	// Doing is what was attempted, such as "start server" or "call a tool of server".
	Doing string
	// Kind is one of the sentinels above, or a context's error.
	Kind error
	// Reason says what happened and Hint what to do, in our own words.
	Reason, Hint string
	// Detail is what the server itself said: the message of its error, or the
	// end of its standard error.
	Detail pii.Raw
}

func (e *Error) Error() string {
	text := e.Doing + ": "
	if e.Server != "" {
		text = fmt.Sprintf("%s %q: ", e.Doing, e.Server)
	}
	if e.Reason != "" {
		text += e.Reason
	} else {
		text += e.Kind.Error()
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Unwrap lets errors.Is find the kind.
func (e *Error) Unwrap() error { return e.Kind }

// Fault is a server that could not list its tools.
type Fault struct {
	Server string
	Err    error
}
