// Package wire holds what the drivers of remote models have in common below their
// providers' formats: an HTTP client that fails in the terms of package llm, and
// the reading of tool arguments and stop reasons as providers really send them.
package wire

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"airlock/orchestrator/llm"
)

// Endpoint is where requests go and how its errors are explained.
type Endpoint struct {
	// Provider is the name in errors.
	Provider string
	// KeyName, ModelName and URLName are the settings that hints refer to.
	KeyName, ModelName, URLName string
}

// StreamError turns the error with which reading a stream ended into one that
// callers branch on and that holds nothing of what was said. Errors of the
// client made by NewClient pass; all others come from decoding.
func (e Endpoint) StreamError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if fault := (*llm.Error)(nil); errors.As(err, &fault) {
		return fault
	}
	if errors.Is(err, llm.ErrTruncated) {
		return err
	}
	return e.Unreadable("")
}

// Unreadable is the error of an answer that cannot be decoded. What part of it is
// named in our own words.
func (e Endpoint) Unreadable(what string) error {
	hint := "what it sent is not what its protocol says; if this lasts, check " + e.URLName
	if what != "" {
		hint = what + "; " + hint
	}
	return &llm.Error{Provider: e.Provider, Status: 200, Code: "invalid_response", Retry: true, Hint: hint}
}

// CheckURL accepts absolute HTTP URLs that carry nothing but a place. Its errors
// do not repeat the URL, which may hold a password.
func CheckURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("base URL cannot be parsed")
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return errors.New(`base URL must be absolute, such as "http://127.0.0.1:11434/v1"`)
	case u.User != nil:
		return errors.New("base URL must not hold a user or password; give the key by its own setting")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("base URL must not have a query or fragment")
	}
	return nil
}

// Stop settles on a reason: providers differ in what they report beside calls.
func Stop(reported llm.StopReason, calls int, spoke bool) llm.StopReason {
	switch {
	case calls > 0 && (reported == llm.StopEnd || reported == llm.StopOther):
		return llm.StopTools
	case calls == 0 && reported == llm.StopTools && spoke:
		return llm.StopEnd
	case calls == 0 && reported == llm.StopTools:
		return llm.StopOther
	default:
		return reported
	}
}

// IDs gives the calls of one answer ids that differ, keeping what came.
type IDs struct {
	messages int
	given    map[string]bool
}

// NewIDs is for the answer that follows so many messages. Ids are made from that
// number, which grows with every turn, so that they differ within a conversation.
func NewIDs(messages int) IDs { return IDs{messages: messages, given: map[string]bool{}} }

// Of returns id, or a new one if it is empty or was given before.
func (i IDs) Of(id string) string {
	for n := 0; id == "" || i.given[id]; n++ {
		id = fmt.Sprintf("airlock_%d_%d", i.messages, n)
	}
	i.given[id] = true
	return id
}
