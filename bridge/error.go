package bridge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"airlock/pii"
)

// Error is a refusal or failure, as the bridge answers it. Its texts are fit for
// a model: what of them came from outside was tokenized by the session's vault.
type Error struct {
	// Status is the HTTP status.
	Status int
	// Code names the error for programs: "unknown_tool".
	Code string
	// Message says what happened and Hint what to do.
	Message, Hint string
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Message + "; " + e.Hint
}

// body is the answer on the wire.
func (e *Error) body() string {
	type wire struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
	}
	text, err := json.Marshal(map[string]wire{"error": {e.Code, e.Message, e.Hint}})
	if err != nil { // strings always marshal
		return `{"error":{"code":"internal","message":"the bridge failed","hint":""}}`
	}
	return string(text)
}

// refusal makes an error whose texts hold something from outside: a name that a
// script made up, or words of a server.
func refusal(v *pii.Vault, from pii.Origin, e Error) *Error {
	message, err := v.Tokenize(pii.NewRaw(e.Message), from)
	if err != nil {
		return errInternal()
	}
	hint, err := v.Tokenize(pii.NewRaw(e.Hint), from)
	if err != nil {
		return errInternal()
	}
	e.Message, e.Hint = message.String(), hint.String()
	return &e
}

// The errors with fixed texts. They are made anew each time, as errors are values
// that callers may change.

func errUnauthorized() *Error {
	return &Error{http.StatusUnauthorized, "unauthorized", "this needs the session token of a running execution", ""}
}

func errInternal() *Error {
	return &Error{http.StatusInternalServerError, "internal", "the bridge failed, and nothing was passed on", "try again; if it stays, ask the operator to look at the log"}
}

func errCancelled() *Error {
	return &Error{http.StatusServiceUnavailable, "cancelled", "the execution ended before the call did", ""}
}

func errAudit() *Error {
	return &Error{http.StatusInternalServerError, "audit_failed", "the call could not be recorded, and calls without a record are not made", "ask the operator to look at the audit log"}
}

func badRequest(code, message, hint string) *Error {
	return &Error{http.StatusBadRequest, code, message, hint}
}

func tooMany(what string, limit int) *Error {
	return &Error{http.StatusTooManyRequests, "limit_reached", fmt.Sprintf("this execution has used up its %d %s", limit, what),
		"do more in one call, or go on in another execution"}
}

func tooLarge(what string, limit int64) *Error {
	return &Error{http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("%s may have at most %d bytes", what, limit),
		"send less at once, or leave large data where the tool can read it"}
}

// listed joins names for a sentence.
func listed(names []string) string { return strings.Join(names, ", ") }

// echo repeats a name that a script sent, unless it holds personal data. A token in
// its place would tell the script whether it had guessed a value of the session.
func echo(v *pii.Vault, name string) string {
	tokenized, err := v.Tokenize(pii.NewRaw(name), originScript)
	if err != nil || tokenized.String() != name {
		return "that it named, which holds personal data"
	}
	return brief(name)
}
