// Package ident holds the identifiers that the other packages pass around, each
// as a type of its own, so that a session can never be handed over where a user
// is asked for.
//
// Ids made here come from the system's random source and carry no meaning.
// A user id comes from outside: ParseUser is the only way it should enter.
// A user id may be an e-mail address, so it never becomes a path, a metric's
// label or a line of a log: those carry Pseudonym.User.
package ident

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"
)

type (
	// User names the person or application on whose behalf work is done.
	User string
	// Session names one conversation of a user: its history, vault, sandbox and workspace.
	Session string
	// Task names one request that the agent works on.
	Task string
	// Execution names one run of one script.
	Execution string
	// Approval names one pending question to the user.
	Approval string
)

// ErrUser is what ParseUser returns for an id outside its form.
var ErrUser = errors.New("userId must match ^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$")

var userForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,127}$`)

// ParseUser checks the form of a user id that came from outside.
func ParseUser(s string) (User, error) {
	if !userForm.MatchString(s) {
		return "", ErrUser
	}
	return User(s), nil
}

// NewSession makes a random session id.
func NewSession() Session { return Session(random("ses_")) }

// NewTask makes a random task id.
func NewTask() Task { return Task(random("task_")) }

// NewExecution makes a random execution id.
func NewExecution() Execution { return Execution(random("exe_")) }

// NewApproval makes a random approval id.
func NewApproval() Approval { return Approval(random("apr_")) }

func random(prefix string) string { return prefix + strings.ToLower(rand.Text()) }

// Pseudonym turns user ids into names that are safe in paths, subjects, metrics
// and logs: a keyed hash, so that nobody without the key can test a guess.
type Pseudonym struct{ key []byte }

// NewPseudonym keeps a copy of key, which should hold at least 16 random bytes
// and stay the same for as long as the names it made are in use.
func NewPseudonym(key []byte) Pseudonym { return Pseudonym{key: append([]byte(nil), key...)} }

// User returns the 24 hexadecimal digits that stand for a user.
func (p Pseudonym) User(u User) string { return p.sum("user\x00" + string(u))[:24] }

// Text returns the 32 hexadecimal digits that stand for a text, for audit lines
// that must be comparable without holding the text.
func (p Pseudonym) Text(s string) string { return p.sum("text\x00" + s)[:32] }

func (p Pseudonym) sum(s string) string {
	mac := hmac.New(sha256.New, p.key)
	mac.Write([]byte(s))
	return hex.EncodeToString(mac.Sum(nil))
}
