package bridge

import (
	"context"
	"encoding/json"
	"errors"

	"airlock/ident"
	"airlock/pii"
	"airlock/servers"
)

// Upstreams are the servers whose tools scripts call. Its methods may be called
// concurrently and return soon after ctx ends.
type Upstreams interface {
	// Tools lists what the caller may use; a server that fails does not hide the others.
	Tools(context.Context, servers.Caller) ([]servers.Tool, []servers.Fault)
	// KnownTools lists what Tools would, as far as it is known without starting a
	// server or reaching out.
	KnownTools(context.Context, servers.Caller) []servers.Tool
	// Tool describes one tool; the error wraps servers.ErrUnknownTool if there is none.
	Tool(ctx context.Context, c servers.Caller, fullName string) (servers.Tool, error)
	// CallWatched calls a tool with a JSON object. Errors wrap one of servers' sentinels.
	// A watch that is not nil is told of the call's progress, by one goroutine at a
	// time and not after CallWatched has returned.
	CallWatched(ctx context.Context, c servers.Caller, fullName string, arguments json.RawMessage, watch func(servers.Progress)) (servers.Result, error)
	// Entry is what the catalog says about a server.
	Entry(server string) (servers.Entry, bool)
}

// Approver asks a user for consent. It may be called concurrently.
type Approver interface {
	// Approve waits for the decision and returns nil when the call may go on. Any
	// error means that it may not; ErrDenied that the user said so. It returns
	// soon after ctx ends. The script's clock stands still meanwhile.
	Approve(ctx context.Context, r ApprovalRequest) error
}

// ErrDenied is what an Approver returns when the user refused.
var ErrDenied = errors.New("the user denied the call")

// ErrNobodyToAsk is what an Approver returns when there is no user who could answer.
var ErrNobodyToAsk = errors.New("nobody can be asked")

// ApprovalRequest is one call that needs consent. Of two calls the later one may
// pass by the consent to the former only if it releases no further type or origin.
type ApprovalRequest struct {
	User      ident.User
	Session   ident.Session
	Task      ident.Task
	Execution ident.Execution
	Tool      string // full name
	Server    string
	Arguments pii.Tokenized
	// Releases lists the types of personal data that the server would be given, and
	// Origins where they came from.
	Releases []pii.Type
	Origins  []pii.Origin
}

// Clock can stop the time of an execution while its user is asked something.
type Clock interface {
	Stop() (resume func())
}
