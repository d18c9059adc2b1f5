package bridge

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"airlock/ident"
	"airlock/pii"
)

// The kinds of audit records.
const (
	eventCall         = "call"
	eventRelease      = "release"
	eventTokenRefused = "token_refused"
)

// record is one line of the audit log. It says who did what with which kind of
// data, and never a value: the user is a pseudonym, arguments are an HMAC of their
// tokenized text, and the name of a tool that does not exist is one too.
type record struct {
	At        time.Time       `json:"at"`
	Event     string          `json:"event"`
	User      string          `json:"user,omitempty"`
	Session   ident.Session   `json:"session"`
	Task      ident.Task      `json:"task,omitempty"`
	Execution ident.Execution `json:"execution,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Server    string          `json:"server,omitempty"`
	NameHash  string          `json:"nameHash,omitempty"`
	Arguments string          `json:"arguments,omitempty"`
	Released  []pii.Type      `json:"released,omitempty"`
	Origins   []pii.Origin    `json:"origins,omitempty"`
	Outcome   string          `json:"outcome"`
	Duration  float64         `json:"durationMs"`
}

// auditLog writes records, each in one Write.
type auditLog struct {
	mu sync.Mutex // guards to
	to io.Writer
}

func (l *auditLog) write(r record) error {
	r.At = time.Now().UTC()
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write an audit record: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.to.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write an audit record: %w", err)
	}
	return nil
}
