package orchestrator

import (
	"context"

	"airlock/ident"
	"airlock/orchestrator/state"
	"airlock/servers"
)

// SessionServers keeps what belongs to sessions and users outside of them.
type SessionServers interface {
	// EndSession gives up everything that was kept for one session alone. It may
	// be called concurrently, and for sessions that nothing was kept for.
	EndSession(servers.Caller) error
	// EraseUser gives up everything that was kept for one user alone, whose sessions
	// have ended. It may be called again.
	EraseUser(ident.User) error
	// EraseFolders removes the files that were kept for the user of a pseudonym alone,
	// for whom no server runs.
	EraseFolders(pseudonym string) error
	// KnownTools are the caller's tools as far as they are known without starting
	// a server.
	KnownTools(context.Context, servers.Caller) []servers.Tool
}

// State is where the service keeps what must outlive the process: package state makes
// it. What is kept belongs to an owner, the pseudonym of a user. Errors wrap
// fs.ErrNotExist where there is nothing of a name.
type State struct {
	Queue  KV  // tasks that were accepted and have not ended
	Events Log // what happened in tasks
	Vaults Log // the values of sessions
	Tasks  KV  // how tasks ended
	Kept   KV  // sessions, and which of them made an artifact
	Eraser Eraser
	// Members are the processes that share all this; nil for one that has it alone.
	Members Members
	// Notes are what this process alone keeps; needed with Members.
	Notes Notes
}

// KV keeps the latest value of each name.
type KV interface {
	Put(ctx context.Context, owner, name string, value []byte) error
	Get(ctx context.Context, owner, name string) ([]byte, error)
	Delete(ctx context.Context, owner, name string) error
	// List gives the names right below a folder, All those of every owner.
	List(ctx context.Context, owner, folder string) ([]string, error)
	All(ctx context.Context, folder string) ([]state.Place, error)
	// Load gives a value and its number; Replace keeps one in place of that of number
	// last, 0 for none, and fails with state.ErrConflict where another stands there.
	Load(ctx context.Context, owner, name string) ([]byte, uint64, error)
	Replace(ctx context.Context, owner, name string, value []byte, last uint64) (uint64, error)
	// Sync returns when all that was put is safe.
	Sync() error
}

// Log keeps records in their order.
type Log interface {
	// Append adds a record behind the one of number last and gives its own number; it
	// fails with state.ErrConflict where another one stands there.
	Append(ctx context.Context, owner, name string, record []byte, last uint64) (uint64, error)
	// Read gives the records behind a number, 0 for all, and the number of the last.
	Read(ctx context.Context, owner, name string, after uint64) ([][]byte, uint64, error)
	Delete(ctx context.Context, owner, name string) error
	// Sync returns when all that was appended is safe.
	Sync() error
}

// Eraser deletes all that is kept of an owner, for good.
type Eraser interface {
	Erase(ctx context.Context, owner string) error
}

func (s State) missing() bool {
	return s.Queue == nil || s.Events == nil || s.Vaults == nil || s.Tasks == nil || s.Kept == nil || s.Eraser == nil
}
