// Package servers connects to the upstream MCP servers of a catalog and calls
// their tools.
//
// LoadCatalog reads catalog.json and New makes a Manager of it. Tools lists
// what a caller may use, Call calls one. A server is started when it is first
// needed, once for all, for each user or for each session as its entry says,
// and stopped when it has been idle.
//
// A Manager may be used by any number of goroutines. Every call ends by its
// deadline, whatever the server does: it may write garbage, stop reading, send
// endless lines, hang or die. It then fails with an Error that says what to do,
// and the next call finds a server that works or is being restarted. No call
// is repeated silently, as a tool may have done its work before the connection
// broke. Close stops every server with all the processes it started.
//
// What a server says is foreign: texts, schemas and results are pii.Raw, and no
// error's text holds any of it. What this package does not do is to decide what
// a caller may send: package bridge does.
package servers

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"

	mcpserver "github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"airlock/ident"
	"airlock/pii"
	"airlock/servers/toolcache"
)

// Caller is on whose behalf a server is used.
type Caller struct {
	User    ident.User
	Session ident.Session
}

// Result is what a tool answered.
type Result struct {
	// JSON is the MCP CallToolResult as the server sent it.
	JSON pii.Raw
	// IsError means that the tool ran and reports that it failed.
	IsError bool
}

// Builtin makes a server that runs inside this process. Its context ends when
// the server is stopped.
type Builtin func(ctx context.Context) (*mcpserver.MCPServer, error)

// Options are what a Manager is made of.
type Options struct {
	Catalog *Catalog
	// Builtins are the servers that catalog entries with transport builtin name.
	Builtins map[string]Builtin
	Log      *zap.Logger
	// Environ answers for the environment variables that entries inherit.
	Environ func(string) (string, bool)
	// CacheDir may hold npm/node_modules with installed servers, and gets tools
	// with what stdio servers listed. Without one, listing starts them.
	CacheDir string
	// Answerer answers what servers ask. Without one they are refused.
	Answerer Answerer
	// Authorizer has the tokens for remote servers that somebody signed in to.
	Authorizer Authorizer
	// DataDir gets the folders of instances whose entries name one.
	DataDir string
	// Hidden are files and folders that isolated servers must not read, beside
	// DataDir.
	Hidden []string
	// Pseudonym names those folders, as users' ids must not.
	Pseudonym ident.Pseudonym
	// Keeper is the command line that runs keeper.Main of what is appended to
	// it. Without one, what a server starts in a session of its own may outlive
	// it; and what a killed airlock's servers started, too.
	Keeper []string
}

// Manager owns the connections to all servers of a catalog.
type Manager struct {
	options   Options
	log       *zap.Logger
	upstreams []*upstream
	byName    map[string]*upstream
	spawner   *spawner
	cache     *toolcache.Cache // nil without a folder

	ctx    context.Context //nolint:containedctx // the manager's own life: ends with Close; starts of servers hang on it
	cancel context.CancelFunc
	work   sync.WaitGroup // every goroutine of the manager

	closing sync.Once
	failed  error // of Close
}

// New checks that the catalog's built-in servers exist and starts the eager
// ones; no other is started yet.
func New(o Options) (*Manager, error) {
	if o.Catalog == nil {
		return nil, errors.New("servers: Options.Catalog is missing; make one with LoadCatalog")
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Environ == nil {
		o.Environ = func(string) (string, bool) { return "", false }
	}
	m := &Manager{options: o, log: o.Log, byName: map[string]*upstream{}}
	for _, e := range o.Catalog.entries {
		if !e.Enabled {
			continue
		}
		if e.Transport == transportBuiltin && o.Builtins[e.Name] == nil {
			return nil, fmt.Errorf("catalog: servers.%s: there is no built-in server of that name; built in are: %s", e.Name, names(o.Builtins))
		}
		u := newUpstream(m, e)
		m.upstreams = append(m.upstreams, u)
		m.byName[e.Name] = u
	}
	if o.CacheDir != "" {
		cache, err := toolcache.Open(filepath.Join(o.CacheDir, "tools"))
		if err != nil {
			return nil, err
		}
		m.cache = cache
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.spawner = newSpawner()
	m.startEager()
	return m, nil
}

func (m *Manager) startEager() {
	for _, u := range m.upstreams {
		if !u.entry.eager {
			continue
		}
		m.work.Go(func() {
			if _, err := u.list(m.ctx, Caller{}); err != nil {
				m.log.Warn("server did not start", zap.String("server", u.entry.Name), zap.Error(err))
			}
		})
	}
}

// Entry returns what the catalog says about an enabled server.
func (m *Manager) Entry(server string) (Entry, bool) {
	u, ok := m.byName[server]
	if !ok {
		return Entry{}, false
	}
	return *u.entry, true
}

// Close stops every server and waits until all of their processes are gone.
// Calls that are under way fail.
func (m *Manager) Close() error {
	m.closing.Do(func() {
		m.cancel()
		errs := make([]error, len(m.upstreams))
		var all sync.WaitGroup
		for i, u := range m.upstreams {
			all.Go(func() { errs[i] = u.close() })
		}
		all.Wait()
		m.work.Wait()
		m.spawner.close()
		if m.cache != nil {
			errs = append(errs, m.cache.Close())
		}
		m.failed = errors.Join(errs...)
	})
	return m.failed
}
