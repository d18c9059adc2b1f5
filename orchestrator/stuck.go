package orchestrator

import (
	"fmt"

	"airlock/pii"
)

// sameFailures is how often the same failure may come back.
const sameFailures = 3

// stuckNote asks for what was learned, before the task ends.
var stuckNote = pii.Static("[The same failure came back three times, so the task ends here. Call no more tools. Say what you found out: what works, what fails and why, and what the user could do.]")

// countFailure ends the task, after one more turn, when the same failure comes back
// again and again. About says it in words for the user.
func (a *agent) countFailure(what string, about pii.Tokenized) {
	if a.failures[what]++; a.failures[what] >= sameFailures && a.ending == nil {
		a.ending, a.learned = errStuck, about
	}
}

// aboutScript tells the user of a script's error.
func (a *agent) aboutScript(e *ScriptError) (pii.Tokenized, error) {
	at := ""
	if e.Line > 0 {
		at = fmt.Sprintf(" (line %d of the script)", e.Line)
	}
	place, err := a.vault.Tokenize(pii.NewRaw(at), pii.OriginScript)
	return pii.Join(e.Name, pii.Static(": "), pii.Cut(pii.OneLine(e.Message), learnedBytes), place), err
}

// learnedBytes bounds what a failure tells the user.
const learnedBytes = 1000

// conclude ends a task that cannot go on: with what the model says of it, or else
// with the failure itself.
func (a *agent) conclude(spoke bool) error {
	if !spoke && !a.learned.IsZero() {
		a.answer = pii.Join(a.answer, paragraph(a.answer), pii.Static("The same failure came back three times: "), a.learned)
	}
	return a.ending
}

func paragraph(before pii.Tokenized) pii.Tokenized {
	if before.IsZero() {
		return noText
	}
	return pii.Static("\n\n")
}
