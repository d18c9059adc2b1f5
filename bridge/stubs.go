package bridge

import (
	"context"
	"fmt"

	"airlock/discovery"
	"airlock/pii"
	"airlock/servers"
)

// Stubs are the files of a /tools folder: for each server a Python module and
// TypeScript declarations that tell its tools.
type Stubs struct {
	// ID names the content, within one run of the program: viewers who see the same
	// tools get the same.
	ID string

	bridge *Bridge
	viewer Viewer
	tools  []servers.Tool
}

// Stubs tells the tools that the viewer may know of, as far as they are known
// without starting a server. It only reads their texts: Files makes the files.
// Since these are shared by all who see the same tools, the viewer's vault should
// be a fresh one: its tokens are then nobody's, and types seen in results, which
// are each user's own, are left out.
func (b *Bridge) Stubs(ctx context.Context, v Viewer) *Stubs {
	known := b.options.Upstreams.KnownTools(ctx, servers.Caller{User: v.User, Session: v.Session})
	seen := b.views.of(v.allowed(known))
	return &Stubs{ID: fmt.Sprintf("%016x", seen.id), bridge: b, viewer: v, tools: seen.tools}
}

// Files makes the files, by name. For a thousand tools that takes a few hundred
// milliseconds.
func (s *Stubs) Files() (map[string]pii.Tokenized, error) {
	var order []string
	byServer := map[string][]discovery.Definition{}
	for _, tool := range s.tools {
		d, err := s.definition(tool)
		if err != nil {
			return nil, fmt.Errorf("write a stub of %q: %w", tool.FullName(), err)
		}
		if byServer[tool.Server] == nil {
			order = append(order, tool.Server)
		}
		byServer[tool.Server] = append(byServer[tool.Server], d)
	}
	modules := discovery.UniqueNames(order)
	files := map[string]pii.Tokenized{}
	for _, server := range order {
		for name, text := range map[string]string{
			modules[server] + ".py": discovery.PythonStub(server, byServer[server]),
			server + ".d.ts":        discovery.TypeScriptStub(server, byServer[server]),
		} {
			var err error
			if files[name], err = s.viewer.Vault.Tokenize(pii.NewRaw(text), pii.OriginServer(server)); err != nil {
				return nil, fmt.Errorf("tokenize the stubs of server %q: %w", server, err)
			}
		}
	}
	return files, nil
}

// definition is a tool with tokens in all of its texts, since code is made of them.
func (s *Stubs) definition(tool servers.Tool) (discovery.Definition, error) {
	d, err := s.bridge.definition(s.viewer, tool)
	if err != nil {
		return discovery.Definition{}, err
	}
	d.Observed = ""
	for _, text := range []*string{&d.Title, &d.Description} {
		t, err := s.viewer.Vault.Tokenize(pii.NewRaw(*text), pii.OriginServer(tool.Server))
		if err != nil {
			return discovery.Definition{}, err
		}
		*text = t.String()
	}
	return d, nil
}
