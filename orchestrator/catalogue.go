package orchestrator

import (
	"context"
	"fmt"
	"slices"

	"airlock/bridge"
	"airlock/ident"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/workspace"
)

// Tools answers a search among the tools that the user's scripts can call, as
// the bridge puts it into JSON. The vault turns its tokens back.
func (s *Service) Tools(ctx context.Context, user ident.User, q bridge.Query) (pii.Tokenized, *pii.Vault, error) {
	viewer, err := s.opts.visitor(user)
	if err != nil {
		return noText, nil, err
	}
	found, err := s.opts.Bridge.Search(ctx, viewer, q)
	return found, viewer.Vault, err
}

// Tool describes one tool, likewise.
func (s *Service) Tool(ctx context.Context, user ident.User, name string) (pii.Tokenized, *pii.Vault, error) {
	viewer, err := s.opts.visitor(user)
	if err != nil {
		return noText, nil, err
	}
	found, err := s.opts.Bridge.Describe(ctx, viewer, name)
	return found, viewer.Vault, err
}

// visitor looks at tools outside any session.
func (o Options) visitor(user ident.User) (bridge.Viewer, error) {
	vault, err := pii.NewVault(o.Vaults)
	if err != nil {
		return bridge.Viewer{}, fmt.Errorf("make a vault: %w", err)
	}
	return bridge.Viewer{User: user, Session: ident.NewSession(), Vault: vault, Scope: bridge.ScopeAll}, nil
}

// Visitor makes a vault of no session, which hides values from who may not see them.
func (s *Service) Visitor() (*pii.Vault, error) {
	vault, err := pii.NewVault(s.opts.Vaults)
	if err != nil {
		return nil, fmt.Errorf("make a vault: %w", err)
	}
	return vault, nil
}

// Artifacts lists the user's files.
func (s *Service) Artifacts(ctx context.Context, user ident.User) ([]workspace.Artifact, error) {
	key := s.opts.Pseudonym.User(user)
	if err := s.opts.Workspaces.FetchArtifacts(ctx, key); err != nil {
		return nil, err
	}
	return s.opts.Workspaces.List(key)
}

// Languages lists what the sandboxes run, the preferred backend's first.
func (s *Service) Languages() []sandbox.Language {
	var all []sandbox.Language
	for _, b := range s.opts.Backends {
		for _, l := range b.Languages() {
			if !slices.Contains(all, l) {
				all = append(all, l)
			}
		}
	}
	return all
}

// Check reports each component that tasks need, nil where it works.
func (s *Service) Check(ctx context.Context) map[string]error {
	found := map[string]error{}
	for _, b := range s.opts.Backends {
		found["sandbox "+b.Name()] = b.Check(ctx)
	}
	return found
}
