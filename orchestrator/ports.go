package orchestrator

import (
	"context"

	"airlock/servers"
)

// SessionServers keeps what belongs to sessions outside of them.
type SessionServers interface {
	// EndSession gives up everything that was kept for one session alone. It may
	// be called concurrently, and for sessions that nothing was kept for.
	EndSession(servers.Caller) error
	// KnownTools are the caller's tools as far as they are known without starting
	// a server.
	KnownTools(context.Context, servers.Caller) []servers.Tool
}
