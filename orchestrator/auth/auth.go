// Package auth says who a caller is and what they may do: by API keys that the
// operator hands out (Keys), or by tokens of an identity provider (Issuer).
//
// Both answer one question, Authenticate, and hold no more than that takes: of a key
// a hash, of a provider its public keys. A caller acts as one user only; that a
// request names no other user is for its receiver to check.
package auth

import (
	"errors"
	"strings"

	"airlock/ident"
)

// Rights are what a caller may do.
type Rights struct {
	// Run allows tasks and scripts.
	Run bool `json:"run"`
	// Reveal allows real values in answers, in place of tokens.
	Reveal bool `json:"reveal"`
	// Approve allows answers to calls that wait for their user's consent.
	Approve bool `json:"approve"`
}

// Caller is who sent a request.
type Caller struct {
	// User is whom the caller acts as; empty for a caller who may name any user.
	User   ident.User
	Rights Rights
}

// ErrUnauthorized is wrapped for credentials that are not accepted. The text around
// it tells why in words that hold nothing of the credential.
var ErrUnauthorized = errors.New("not authorized")

// Bearer returns the credential of an Authorization header (RFC 6750), if it holds one.
func Bearer(header string) (credential string, ok bool) {
	scheme, credential, ok := strings.Cut(header, " ")
	return strings.TrimSpace(credential), ok && strings.EqualFold(scheme, "Bearer")
}
