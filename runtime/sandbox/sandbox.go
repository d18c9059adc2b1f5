// Package sandbox is the contract between those who want a script run and the
// backends that run it: an isolated place without network and secrets, whose one
// way out is the bridge.
//
// A Backend makes a Sandbox for a session; a Sandbox runs one Execution at a
// time, each in a fresh interpreter; only files outlive an execution. What a
// script prints, returns or throws is foreign text and leaves as pii.Raw.
//
// Package sandboxtest holds the suite that every backend must pass.
package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"airlock/ident"
	"airlock/pii"
)

// Language is a language that scripts are written in.
type Language string

// The languages airlock knows. A backend may run only some of them.
const (
	JavaScript Language = "javascript"
	TypeScript Language = "typescript"
	Python     Language = "python"
	Bash       Language = "bash"
)

// Reason says how an execution ended.
type Reason string

// The ways an execution ends.
const (
	ReasonOK        Reason = "ok"
	ReasonError     Reason = "error"
	ReasonTimeout   Reason = "timeout"
	ReasonMemory    Reason = "memory"
	ReasonOutput    Reason = "output"
	ReasonKilled    Reason = "killed"
	ReasonCancelled Reason = "cancelled"
)

var (
	// ErrLanguage is returned by Run for a language the backend cannot run.
	ErrLanguage = errors.New("language is not supported by this sandbox")
	// ErrBusy is returned by Run while another execution of the same Sandbox runs.
	ErrBusy = errors.New("sandbox is running another execution")
	// ErrClosed is returned after Close.
	ErrClosed = errors.New("sandbox is closed")
)

// Backend is one technology to isolate scripts with. Its methods may be called
// concurrently.
type Backend interface {
	// Name is the backend's name in configuration and results.
	Name() string
	// Languages lists what its sandboxes run.
	Languages() []Language
	// Open makes a sandbox. It is cheap enough to be called per session; ctx
	// bounds the making, not the sandbox's life.
	Open(ctx context.Context, session ident.Session) (Sandbox, error)
	// Check reports what keeps the backend from working, nil if nothing does.
	Check(ctx context.Context) error
	// Close ends all sandboxes and waits for them.
	Close() error
}

// Sandbox is an isolated place for the scripts of one session.
type Sandbox interface {
	// Run runs one execution to its end. An error means that the execution could
	// not be run or its outcome not be learned; everything that the script itself
	// did wrong, including running out of a limit, is in the Result. Cancelling
	// ctx ends the execution with ReasonCancelled. When Run returns, nothing of
	// the execution runs any more.
	Run(ctx context.Context, x Execution) (Result, error)
	// Close ends the sandbox and what runs in it.
	Close() error
}

// Execution is one run of one script.
type Execution struct {
	ID ident.Execution
	// Task is the one that the script runs for, for the log; it may be empty.
	Task     ident.Task
	Language Language
	// Code is the script as the sandbox may see it: holding tokens in place of
	// personal values unless the operator chose otherwise.
	Code string
	// Name stands for the script in error positions; "script" if empty.
	Name string
	// Bridge answers the script's calls. The backend adds Token to each of them
	// and keeps it from the script as well as it can.
	Bridge http.Handler
	Token  Secret
	Files  Files
	Limits Limits
	// Clock can stop the execution's time, while its user is asked something.
	// Nil means that time never stops.
	Clock *Clock
	// Output, if set, is called with what the script prints, as it is printed, in
	// order, from one goroutine at a time, until Run returns.
	Output func(Stream, pii.Raw)
}

// Secret is a string that does not print.
type Secret string

// String hides the secret.
func (Secret) String() string { return "<secret>" }

// GoString hides the secret.
func (Secret) GoString() string { return "<secret>" }

// Stream is one of a script's two outputs.
type Stream string

// The two outputs.
const (
	Stdout Stream = "stdout"
	Stderr Stream = "stderr"
)

// Files is the file system that a script sees: the folders /workspace,
// /artifacts, /skills and /tools. Paths are absolute, as the script writes them.
// Every method refuses a path outside the four with an error that wraps
// fs.ErrPermission or fs.ErrInvalid, and is safe for concurrent use.
type Files interface {
	// ReadFile returns a whole file; one of more than max bytes is an error.
	ReadFile(path string, max int64) ([]byte, error)
	// WriteFile creates or replaces a file and the folders above it.
	WriteFile(path string, data []byte) error
	// ReadDir lists a folder, sorted by name.
	ReadDir(path string) ([]fs.FileInfo, error)
	Stat(path string) (fs.FileInfo, error)
	// Remove deletes a file or an empty folder.
	Remove(path string) error
}

// Mounter is what Files may offer beyond itself: the host folders behind it, for
// backends that show a script real folders.
type Mounter interface {
	// Mounts maps the sandbox's folder names ("/workspace") to host folders.
	Mounts() []Mount
}

// Mount is one host folder shown in the sandbox.
type Mount struct {
	Guest, Host string
	ReadOnly    bool
}

// Result is how an execution ended and what it left.
type Result struct {
	Reason Reason
	// Value is the JSON of what the script returned; empty if nothing.
	Value  pii.Raw
	Stdout pii.Raw
	Stderr pii.Raw
	// Dropped counts the bytes of output that were not kept, per stream.
	StdoutDropped, StderrDropped int64
	// Error is set unless Reason is ReasonOK.
	Error    *ScriptError
	Duration time.Duration
}

// ScriptError is what went wrong in a script, or what stopped it.
type ScriptError struct {
	// Name is the error's class: "SyntaxError", "MCPToolError", "Timeout".
	Name string
	// Message is the script's own text.
	Message pii.Raw
	// Line and Column count from 1 in the script as it was given; 0 if unknown.
	Line, Column int
	// Stack is the script's frames, most recent first; may be empty.
	Stack pii.Raw
	// Hint says what to do about it, in our own words; may be empty.
	Hint string
}
