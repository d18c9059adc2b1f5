// Package llm is what the agent asks models with. A Request takes nothing but
// pii.Tokenized, so raw text cannot be sent to a model; what a model writes comes
// back as plain strings, which the agent takes in through its session's vault.
//
// Each folder below is one driver. A driver translates between Request and Event
// and a provider's wire format, and decides nothing else: budgets, retries of a
// turn and what to do with tool calls belong to the agent.
package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"time"

	"airlock/pii"
)

// Provider answers one turn of a conversation.
type Provider interface {
	// Stream asks the model and yields what it answers, as it answers. The
	// sequence ends after a Stop event, or after the first error, whichever comes
	// first; a connection that ends without the provider saying why is the error
	// ErrTruncated. Ending ctx, or the loop over the sequence, ends the request.
	// Streams may run concurrently.
	Stream(ctx context.Context, r Request) iter.Seq2[Event, error]
}

// Request is one turn: all that the model is told.
type Request struct {
	// Model is the provider's name of the model; empty takes the driver's default.
	Model    string
	System   pii.Tokenized
	Messages []Message
	Tools    []Tool
	// Skills are the skills that may fit the task, best first. They are part of
	// System too; drivers that ask no model choose from here.
	Skills []Skill
	// MaxTokens bounds the answer; 0 takes the driver's default.
	MaxTokens int
}

// Tool is a function that the model may call. Both texts are our own.
type Tool struct {
	Name        string
	Description pii.Tokenized
	// InputSchema is a JSON Schema of type object.
	InputSchema pii.Tokenized
}

// Skill is code that is kept for reuse, as the model may know it.
type Skill struct {
	// Path is where scripts find it: "/skills/library/sales-summary/main.js".
	Path        string
	Name        pii.Tokenized
	Description pii.Tokenized
	// Language is that of its code: "javascript", "python", or "" for none.
	Language string
	// Input is a JSON object of what the task tells of its inputs; none if empty.
	// Missing are the names of those that it requires and the task does not tell.
	Input   pii.Tokenized
	Missing []string
	// Confidence is how well it fits the task, from 0 to 1.
	Confidence float64
	// UserMade says that the user's own scripts wrote it, Stale that its tools have
	// changed since.
	UserMade, Stale bool
}

// Role says whose message it is.
type Role string

// The two roles; results of tools are parts of the user's messages.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Message is one message of the conversation. Its parts keep their order.
type Message struct {
	Role  Role
	Parts []Part
}

// Part is Text, ToolUse, ToolResult or Opaque.
type Part interface{ part() }

// Text is what somebody says.
type Text struct{ Text pii.Tokenized }

// ToolUse is the model's call of a tool.
type ToolUse struct {
	ID, Name string
	// Arguments is a JSON object.
	Arguments pii.Tokenized
}

// ToolResult answers the ToolUse of the same id.
type ToolResult struct {
	ID      string
	Content pii.Tokenized
	IsError bool
}

// Opaque is a block that only the driver which made it understands, such as a
// provider's signed reasoning. It goes back verbatim, to the model that made it alone.
type Opaque struct {
	provider string
	data     []byte
}

// NewOpaque is for drivers: data must be what the provider itself sent, provider a
// name that its driver gives to nothing but the model which sent it.
func NewOpaque(provider string, data []byte) Opaque {
	return Opaque{provider: provider, data: append([]byte(nil), data...)}
}

// For returns the block's data if provider made it.
func (o Opaque) For(provider string) ([]byte, bool) {
	if o.provider != provider {
		return nil, false
	}
	return o.data, true
}

// Kept is the block as it can be kept and given to NewOpaque again.
func (o Opaque) Kept() (provider string, data []byte) { return o.provider, o.data }

func (Text) part()       {}
func (ToolUse) part()    {}
func (ToolResult) part() {}
func (Opaque) part()     {}

// Event is TextDelta, Reasoning, Call, Usage or Stop.
type Event interface{ event() }

// TextDelta is the next piece of the answer's text.
type TextDelta struct{ Text string }

// Reasoning is an Opaque block to be sent back with the assistant's message.
type Reasoning struct{ Block Opaque }

// Call is a complete call of a tool. Arguments is a JSON object; a driver yields
// a Call only after all its pieces arrived and parsed.
type Call struct{ ID, Name, Arguments string }

// Usage counts tokens; it may come more than once, each time with the totals.
type Usage struct {
	InputTokens  int
	OutputTokens int
	// CachedTokens are those of InputTokens that the provider had cached.
	CachedTokens int
}

// Stop ends a turn that the provider ended in order.
type Stop struct{ Reason StopReason }

// StopReason says why a model stopped.
type StopReason string

// Why models stop. Whether tools are wanted is told by the presence of Call
// events, not by the reason: providers differ in what they report.
const (
	StopEnd     StopReason = "end"
	StopTools   StopReason = "tools"
	StopLength  StopReason = "length"
	StopRefusal StopReason = "refusal"
	// StopFailed says that the task cannot be done, and the text why; models do
	// not report it.
	StopFailed StopReason = "failed"
	StopOther  StopReason = "other"
)

func (TextDelta) event() {}
func (Reasoning) event() {}
func (Call) event()      {}
func (Usage) event()     {}
func (Stop) event()      {}

var (
	// ErrTruncated is the error of a stream that ended without a reason.
	ErrTruncated = errors.New("the model's answer broke off")
	// ErrTooLong is wrapped where the model takes in less than it was told: the same
	// request fails again, a shorter one may not.
	ErrTooLong = errors.New("the conversation is longer than the model takes in")
)

// Error is a refusal or fault of a provider, told without any content of the
// request. Branch on its fields; Unwrap gives the cause where it is safe to keep.
type Error struct {
	Provider string
	// Status is the HTTP status; 0 if there was no answer.
	Status int
	// Code is the provider's own short code, such as "overloaded_error".
	Code string
	// Retry says that the same request may succeed later.
	Retry bool
	// After is how long the provider asks to wait; 0 if it did not say.
	After time.Duration
	// Hint says what the operator should do.
	Hint string
	// Cause may be nil.
	Cause error
}

// Error names provider, status and code, and what to do.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model provider %s", e.Provider)
	if e.Status != 0 {
		fmt.Fprintf(&b, " answered %d", e.Status)
	} else {
		b.WriteString(" could not be reached")
	}
	if e.Code != "" {
		fmt.Fprintf(&b, " (%s)", e.Code)
	}
	if e.Hint != "" {
		fmt.Fprintf(&b, "; %s", e.Hint)
	}
	return b.String()
}

// Unavailable says that the model is not to be had for now, whoever asks: there is no
// answer, the provider fails or is overloaded, or the account may ask no more. Faults
// of the request or of its key are not among these.
func (e *Error) Unavailable() bool {
	return e.Retry || e.Status == http.StatusTooManyRequests || e.Status == http.StatusPaymentRequired ||
		e.Status >= http.StatusInternalServerError
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }
