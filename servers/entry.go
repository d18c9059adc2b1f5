package servers

import (
	"crypto/sha256"
	"time"

	"airlock/ident"
	"airlock/pii"
)

// Entry is what the catalog says about one server. Commands, addresses and
// secrets are kept inside, where no log can reach them.
type Entry struct {
	Name        string
	Description string
	Category    string
	Tags        []string
	Requires    []string
	Enabled     bool
	Transport   string
	Instance    string
	// Release says which real values may go to the server.
	Release pii.Policy

	users       []string
	tools       toolRules
	launch      *launch
	initTimeout time.Duration
	callTimeout time.Duration
	idleStop    time.Duration
	eager       bool
	maxRestarts int
	backoff     time.Duration
	concurrency int
	maxMessage  int
	protocol    string
	// fingerprint is of the entry's text in the catalog, before inputs are
	// filled in.
	fingerprint [sha256.Size]byte
}

// The transports and the instance scopes of a catalog.
const (
	transportStdio   = "stdio"
	transportHTTP    = "streamable-http"
	transportSSE     = "sse"
	transportBuiltin = "builtin"

	instanceShared  = "shared"
	instanceUser    = "user"
	instanceSession = "session"
)

type toolRules struct {
	allow, deny []string
	approval    []approvalRule
}

type approvalRule struct {
	pattern string
	mode    Approval
}

// Approval says when a person is asked before a tool is called.
type Approval string

// The modes of the catalog's approval patterns.
const (
	ApprovalNever    Approval = "never"
	ApprovalHint     Approval = "hint"
	ApprovalRequired Approval = "required"
)

// Asks reports whether a tool with these annotations needs a person's consent.
// Under hint that is what says it is destructive and, where it does not say,
// whatever does not say that it only reads.
func (a Approval) Asks(t Annotations) bool {
	switch a {
	case ApprovalNever:
		return false
	case ApprovalHint:
		if t.Destructive != nil {
			return *t.Destructive
		}
		return t.ReadOnly == nil || !*t.ReadOnly
	default:
		return true
	}
}

// Approval returns the mode for a tool, by its name on the server. Of the
// patterns that match, the one with most literal characters counts, and of
// equals the strictest. An entry without patterns never asks.
func (e Entry) Approval(tool string) Approval {
	if len(e.tools.approval) == 0 {
		return ApprovalNever
	}
	mode, best := ApprovalHint, -1
	for _, rule := range e.tools.approval {
		if !matches(rule.pattern, tool) {
			continue
		}
		n := literals(rule.pattern)
		if n > best || n == best && strictness[rule.mode] > strictness[mode] {
			mode, best = rule.mode, n
		}
	}
	return mode
}

var strictness = map[Approval]int{ApprovalNever: 0, ApprovalHint: 1, ApprovalRequired: 2}

// admits reports whether the entry offers a tool at all.
func (e *Entry) admits(tool string) bool {
	return matchesAny(e.tools.allow, tool) && !matchesAny(e.tools.deny, tool)
}

// serves reports whether a user may see the server.
func (e *Entry) serves(u ident.User) bool { return matchesAny(e.users, string(u)) }

// instanceKey names the process that a caller is served by: one for all, one
// for each user or one for each session.
func (e *Entry) instanceKey(c Caller) string {
	switch e.Instance {
	case instanceShared:
		return ""
	case instanceUser:
		return string(c.User)
	default:
		return string(c.User) + "\x00" + string(c.Session)
	}
}
