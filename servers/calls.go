package servers

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// listAtOnce bounds how many servers are started together by one listing: each
// takes a good part of a second of one core.
const listAtOnce = 4

// Tools lists what the caller may use, in the order of the catalog. A server
// that cannot be listed is a Fault and does not hide the others.
func (m *Manager) Tools(ctx context.Context, c Caller) ([]Tool, []Fault) {
	lists, errs := make([][]Tool, len(m.upstreams)), make([]error, len(m.upstreams))
	slots := make(chan struct{}, listAtOnce)
	var all sync.WaitGroup
	for i, u := range m.upstreams {
		if !u.entry.serves(c.User) {
			continue
		}
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			lists[i], errs[i] = u.list(ctx, c)
		})
	}
	all.Wait()
	var faults []Fault
	for i, err := range errs {
		if err != nil {
			faults = append(faults, Fault{Server: m.upstreams[i].entry.Name, Err: err})
		}
	}
	return slices.Concat(lists...), faults
}

// Tool describes one tool, or fails with ErrUnknownTool.
func (m *Manager) Tool(ctx context.Context, c Caller, fullName string) (Tool, error) {
	u, name, err := m.find(c, fullName)
	if err != nil {
		return Tool{}, err
	}
	return u.tool(ctx, c, name)
}

// Call calls a tool and returns its result. Arguments must be a JSON object or
// empty. It ends at the deadline of ctx or after the entry's callTimeoutMs,
// whichever comes first.
func (m *Manager) Call(ctx context.Context, c Caller, fullName string, arguments json.RawMessage) (Result, error) {
	return m.CallWatched(ctx, c, fullName, arguments, nil)
}

// CallWatched is Call for those who want to follow it: watch is told of what the
// server reports about the call's progress, by one goroutine at a time and not
// after CallWatched has returned. Reports that come faster than watch takes them
// are left out.
func (m *Manager) CallWatched(ctx context.Context, c Caller, fullName string, arguments json.RawMessage, watch func(Progress)) (Result, error) {
	u, name, err := m.find(c, fullName)
	if err != nil {
		return Result{}, err
	}
	return u.call(ctx, c, name, arguments, watch)
}

// find does not repeat the name that was asked for: a script may put anything
// into it.
func (m *Manager) find(c Caller, fullName string) (*upstream, string, error) {
	server, tool, ok := splitName(fullName)
	u := m.byName[server]
	if !ok || u == nil || !u.entry.serves(c.User) {
		return nil, "", unknownTool("")
	}
	if !u.entry.admits(tool) {
		return nil, "", unknownTool(server)
	}
	return u, tool, nil
}

func unknownTool(server string) error {
	if server == "" {
		return &Error{Doing: "find a tool", Kind: ErrUnknownTool,
			Reason: "there is no such server", Hint: "list the tools to see their names"}
	}
	return &Error{Doing: "find a tool of server", Server: server, Kind: ErrUnknownTool,
		Reason: "the server offers no such tool", Hint: "list the tools to see their names"}
}

func names(builtins map[string]Builtin) string {
	list := make([]string, 0, len(builtins))
	for name := range builtins {
		list = append(list, name)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}
