package llmtest

import (
	"net/http"
	"time"
)

// Fault is a way in which a provider's answer goes wrong; the zero Fault spoils
// nothing. Status replaces the answer; the others spoil it on its way.
type Fault struct {
	// Status answers with this HTTP status and an error body instead.
	Status int
	// RetryAfter is the Retry-After header that goes with Status.
	RetryAfter time.Duration
	// Code and Message are the error body's, for Status and ErrorEvent; empty
	// takes what the provider sends.
	Code, Message string
	// Truncate ends the body in order, but before the turn's end is told.
	Truncate bool
	// Break breaks the connection at that place instead.
	Break bool
	// ErrorEvent sends an error in place of the turn's end.
	ErrorEvent bool
	// Garbage sends a chunk that is not JSON in place of the turn's end.
	Garbage bool
	// ArgumentBytes sends arguments in pieces of so many bytes; 0 means 7.
	ArgumentBytes int
	// ArgumentsAsObject sends arguments as a JSON object, not as a string.
	ArgumentsAsObject bool
	// FinishReason replaces the reason on the wire.
	FinishReason string
}

// RateLimited is the fault of too many requests.
func RateLimited(after time.Duration) Fault {
	return Fault{Status: http.StatusTooManyRequests, RetryAfter: after}
}

// statusOverloaded is not registered; Anthropic answers it when it is overloaded.
const statusOverloaded = 529

// Overloaded is the fault of a provider without capacity.
func Overloaded() Fault { return Fault{Status: statusOverloaded} }
