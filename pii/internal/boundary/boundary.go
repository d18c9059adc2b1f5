// Package boundary holds the two types that carry the privacy guarantee and the
// only functions that reach inside them. It is internal to pii, so that nothing
// outside that folder can make a Tokenized or open a Raw.
package boundary

import "fmt"

// Raw is text from outside that nothing has been taken out of yet. It keeps its
// text behind a pointer: fmt prints the strings inside unexported fields, but
// not what a pointer inside one points to.
type Raw struct{ text *string }

// NewRaw marks a text as coming from outside. It can be called by anyone, since
// it only takes rights away.
func NewRaw(s string) Raw { return Raw{text: &s} }

// Len is the number of bytes.
func (r Raw) Len() int {
	if r.text == nil {
		return 0
	}
	return len(*r.text)
}

// IsZero reports whether there is no text at all.
func (r Raw) IsZero() bool { return r.Len() == 0 }

// Format prints the length in place of the text, under every verb.
func (r Raw) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "<%d raw bytes>", r.Len()) }

// MarshalText refuses: raw text must not leave in JSON by accident.
func (r Raw) MarshalText() ([]byte, error) { return nil, errMarshal }

var errMarshal = fmt.Errorf("raw text cannot be marshalled: tokenize it, or reveal it on purpose")

// Open returns the text of r.
func Open(r Raw) string {
	if r.text == nil {
		return ""
	}
	return *r.text
}

// Tokenized is text in which every personal value found is replaced by its
// token, fit for a model to read.
type Tokenized struct{ text string }

// Seal declares s to be tokenized. Its callers are the guarantee.
func Seal(s string) Tokenized { return Tokenized{text: s} }

// String returns the text, tokens in it.
func (t Tokenized) String() string { return t.text }

// Len is the number of bytes.
func (t Tokenized) Len() int { return len(t.text) }

// IsZero reports whether there is no text at all.
func (t Tokenized) IsZero() bool { return t.text == "" }

// MarshalText makes a Tokenized a string in JSON. There is no way back on
// purpose: text from outside does not become Tokenized by being decoded.
func (t Tokenized) MarshalText() ([]byte, error) { return []byte(t.text), nil }
