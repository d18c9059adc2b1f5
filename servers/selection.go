package servers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"airlock/pii"
	"airlock/servers/internal/nearest"
)

// Only returns the catalog with these servers alone, enabled whatever it says of
// them: to try one before it is.
func (c *Catalog) Only(names ...string) (*Catalog, error) {
	selected := &Catalog{dir: c.dir}
	for _, name := range names {
		i := slices.IndexFunc(c.entries, func(e *Entry) bool { return e.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("the catalog has no server %q; %s", name, c.instead(name))
		}
		e := *c.entries[i]
		e.Enabled = true
		selected.entries = append(selected.entries, &e)
	}
	return selected, nil
}

func (c *Catalog) instead(name string) string {
	names := make([]string, len(c.entries))
	for i, e := range c.entries {
		names[i] = e.Name
	}
	if near := nearest.Name(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return "it has: " + strings.Join(names, ", ")
}

// Missing says what stands in the way of starting a server, as far as can be told
// without starting it: variables that are not set and programs that are not
// found. It returns nil if there is nothing.
func (m *Manager) Missing(server string) error {
	u, ok := m.byName[server]
	if !ok {
		return fmt.Errorf("no server %q is enabled", server)
	}
	if err := u.missingInputs(); err != nil || u.entry.Transport != transportStdio {
		return err
	}
	l := u.entry.launch
	name := l.command
	if name == "" {
		name, _ = u.packageCommand()
	}
	_, err := u.lookPath(*l, name)
	return err
}

// Start starts the caller's instance of a server, or finds it running.
func (m *Manager) Start(ctx context.Context, c Caller, server string) error {
	_, err := m.Output(ctx, c, server)
	return err
}

// Output is the end of what the caller's instance of a server wrote to its
// standard error, after it was started if it did not run. A remote or built-in
// server has none. Of an instance that does not start, an Error has it as Detail.
func (m *Manager) Output(ctx context.Context, c Caller, server string) (pii.Raw, error) {
	u, ok := m.byName[server]
	if !ok || !u.entry.serves(c.User) {
		return pii.Raw{}, fmt.Errorf("no server %q is enabled", server)
	}
	conn, i, err := u.acquire(ctx, c)
	if err != nil {
		return pii.Raw{}, err
	}
	defer i.release()
	return conn.wire.detail(), nil
}

// Source says where a server comes from, for lists: its package and version, its
// command or its kind. It holds no address and no argument, which may be secret.
func (e Entry) Source() string {
	switch l := e.launch; {
	case l.packageName != "":
		return l.packageType + ":" + l.packageName + "@" + l.packageVer
	case l.command != "":
		return "command " + l.command
	case e.Transport == transportBuiltin:
		return "built in"
	}
	return "remote"
}
