package servers

import (
	"context"
	"slices"
)

// KnownTools lists what Tools would, but of those servers only whose tools are
// known without starting a process or reaching out: built-in ones, those that run
// for the caller, and those whose list is cached. It fails for none.
func (m *Manager) KnownTools(ctx context.Context, c Caller) []Tool {
	var all []Tool
	for _, u := range m.upstreams {
		if !u.entry.serves(c.User) || !u.listsAtHand(c) {
			continue
		}
		if tools, err := u.list(ctx, c); err == nil {
			all = append(all, tools...)
		}
	}
	return slices.Clip(all)
}

// listsAtHand reports whether the caller's list is there for the asking.
func (u *upstream) listsAtHand(c Caller) bool {
	if u.entry.Transport == transportBuiltin || u.known(c) != nil {
		return true
	}
	u.mu.Lock()
	i := u.instances[u.entry.instanceKey(c)]
	u.mu.Unlock()
	return i != nil && i.live()
}
