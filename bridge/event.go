package bridge

import "time"

// Event is the beginning or the end of one call of a tool, for those who follow
// an execution.
type Event struct {
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
}

// The outcomes that are no error of the bridge.
const (
	outcomeOK        = "ok"
	outcomeToolError = "tool_error"
)
