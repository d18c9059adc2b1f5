package orchestrator

import "airlock/servers"

// SessionServers keeps what belongs to sessions outside of them.
type SessionServers interface {
	// EndSession gives up everything that was kept for one session alone. It may
	// be called concurrently, and for sessions that nothing was kept for.
	EndSession(servers.Caller) error
}
