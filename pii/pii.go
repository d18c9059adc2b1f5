// Package pii is the boundary between personal data and a model.
//
// Text from outside enters as Raw, which can be neither printed nor marshalled.
// What a model reads is Tokenized, in which personal values are replaced by
// tokens such as [EMAIL_1_k7q2f]. Only a session's Vault turns one into the
// other and back, so code that would send raw text to a model does not compile.
// The types prove that tokenizing ran, not that the detectors found everything:
// what they find is the business of package pii/detect, and of its tests.
//
// Start with Vault: Tokenize on the way to a model, Detokenize on the way back to
// a tool, DetokenizeAnswer to a user, Tokenizer and Detokenizer for text that
// comes in parts. Policy says which server may be given which values. JSON stays
// valid in both directions, and what was tokenized comes back byte for byte.
//
// Everything here fails closed: an error means that no text is
// returned, never that the raw text is. A Vault may be used by any number of
// goroutines; the other types are values.
//
// Reading a Raw in clear takes package pii/reveal.
package pii

import (
	"strings"

	"airlock/pii/internal/boundary"
)

// Raw is text from outside: a task, a tool's result or description, the output
// of a script, an error of any of them.
type Raw = boundary.Raw

// Tokenized is text that a model may read.
type Tokenized = boundary.Tokenized

// NewRaw marks a text as coming from outside.
func NewRaw(s string) Raw { return boundary.NewRaw(s) }

// constant is a string that only an untyped constant can become outside this
// package, so that nothing computed passes through Static.
type constant string

// Static makes a model's text of a string constant in our own source.
func Static(s constant) Tokenized { return boundary.Seal(string(s)) }

// Origin says where a value entered a session. It decides where the value may
// be released to.
type Origin string

const (
	// OriginUser marks what the user typed or uploaded.
	OriginUser Origin = "user"
	// OriginScript marks what a script brought out that no detector had seen go in.
	OriginScript Origin = "script"
)

const serverPrefix = "server:"

// OriginServer marks what the upstream server of that name returned.
func OriginServer(name string) Origin { return Origin(serverPrefix + name) }

func (o Origin) isServer() bool { return strings.HasPrefix(string(o), serverPrefix) }
