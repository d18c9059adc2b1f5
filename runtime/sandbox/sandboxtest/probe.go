package sandboxtest

import (
	"time"

	"airlock/runtime/sandbox"
)

// Probe is an attempt at abuse that a script makes. Every backend that runs its
// language runs it.
type Probe struct {
	// Number is the attack's in the table of docs/SECURITY.md.
	Number   int
	Name     string
	Language sandbox.Language
	Code     string
	// Limit changes the limits, if the probe is meant to reach others.
	Limit func(*sandbox.Limits)
	// Reasons are the endings that are right.
	Reasons []sandbox.Reason
	// Value is the JSON that a script that ends well must return; "" if any will do.
	Value string
}

// Probes are all probes, by number within each group.
func Probes() []Probe {
	var all []Probe
	for _, group := range [][]Probe{kernelProbes, resourceProbes, nativeProbes, fileProbes, helperProbes, runnerProbes} {
		all = append(all, group...)
	}
	return all
}

// soon is for scripts that are meant to run out of time.
func soon(l *sandbox.Limits) { l.Wall = shortWall }

// second is soon for interpreters that first have to start.
func second(l *sandbox.Limits) { l.Wall = time.Second }

// megabyte lets a flood of output end early.
func megabyte(l *sandbox.Limits) { l.OutputKillBytes = 1 << 20 }

// The endings that probes may have.
var (
	fine     = []sandbox.Reason{sandbox.ReasonOK}
	inTime   = []sandbox.Reason{sandbox.ReasonTimeout}
	mistake  = []sandbox.Reason{sandbox.ReasonError}
	flood    = []sandbox.Reason{sandbox.ReasonOutput}
	full     = []sandbox.Reason{sandbox.ReasonError, sandbox.ReasonKilled}
	starved  = []sandbox.Reason{sandbox.ReasonMemory, sandbox.ReasonError}
	bounds   = []sandbox.Reason{sandbox.ReasonTimeout, sandbox.ReasonMemory, sandbox.ReasonError}
	atBounds = []sandbox.Reason{sandbox.ReasonTimeout, sandbox.ReasonMemory, sandbox.ReasonError, sandbox.ReasonOK}
	endings  = []sandbox.Reason{sandbox.ReasonOK, sandbox.ReasonError, sandbox.ReasonMemory}
	anyEnd   = []sandbox.Reason{sandbox.ReasonOK, sandbox.ReasonError, sandbox.ReasonKilled, sandbox.ReasonMemory, sandbox.ReasonTimeout}
)
