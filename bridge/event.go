package bridge

import (
	"time"

	"airlock/pii"
)

// Event is the beginning or the end of one call of a tool, or news from between, for
// those who follow an execution.
type Event struct {
	// Progress is what the server reports of a call under way; nil for its beginning
	// and its end.
	Progress *Progress
	// Finished tells the end of a call from its beginning.
	Finished bool
	Tool     string // full name
	Server   string
	ArgBytes int

	// The following are known at the end only. Outcome is "ok", "tool_error" when
	// the tool itself reported an error, or the code of the bridge's error.
	Outcome     string
	Duration    time.Duration
	ResultBytes int
	// Released are the types of the values that the server was given, Origins where
	// they came from. Refused are those that its Policy kept from it.
	Released []pii.Type
	Origins  []pii.Origin
	Refused  []pii.Type
	Policy   pii.Policy
}

// Progress is a server's own claim of how far a call is.
type Progress struct {
	Done float64
	// Total is 0 where the server does not know it.
	Total   float64
	Message pii.Tokenized
}

// The outcomes that are no error of the bridge.
const (
	outcomeOK        = "ok"
	outcomeToolError = "tool_error"
)
