// Package lockdown takes from a process what it does not need any more: files,
// network, new processes, privileges. It is the second wall around the wasm
// sandbox, for the day that a script gets out of the engine.
package lockdown

// The protections that Apply knows.
const (
	Limits   = "limits"   // resource limits of the process
	Landlock = "landlock" // no file can be opened
	Seccomp  = "seccomp"  // only the system calls that the worker needs
)

// Active is the state of a protection that holds.
const Active = "active"

// Apply locks the process down for good and returns the state of each
// protection: Active, or why it is not. A system that lacks one is no error.
func Apply() map[string]string { return apply() }
