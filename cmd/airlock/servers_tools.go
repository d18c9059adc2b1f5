package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"

	"airlock/ident"
	"airlock/servers"
)

// toolDefinition is a tool as GET /tools tells all of it.
type toolDefinition struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  struct {
		ReadOnly    *bool `json:"readOnlyHint,omitempty"`
		Destructive *bool `json:"destructiveHint,omitempty"`
	} `json:"annotations"`
}

// started starts a server, so that no list from an earlier run answers for it,
// and asks for its tools.
func (c *client) started(ctx context.Context, server, user string) ([]toolDefinition, error) {
	err := c.system.manager.Start(ctx, servers.Caller{User: ident.User(user), Session: ident.NewSession()}, server)
	if err != nil {
		return nil, err
	}
	return c.definitions(ctx, server, user)
}

func (c *client) definitions(ctx context.Context, server, user string) ([]toolDefinition, error) {
	q := url.Values{"server": {server}, "userId": {user}, "detail": {"full"}, "detokenize": {"true"}}
	var all []toolDefinition
	for {
		var page struct {
			Tools      []toolDefinition `json:"tools"`
			NextCursor string           `json:"nextCursor"`
		}
		if err := c.do(ctx, "/tools?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Tools...)
		if page.NextCursor == "" {
			return all, nil
		}
		q.Set("cursor", page.NextCursor)
	}
}

// call calls a tool by a script, as all calls are made.
func (c *client) call(ctx context.Context, user, tool string, args json.RawMessage) error {
	literals, err := json.Marshal([]string{tool, string(args)})
	if err != nil {
		return fmt.Errorf("encode the arguments: %w", err)
	}
	code := fmt.Sprintf("const [name, args] = %s; await callMCPTool(name, JSON.parse(args))", literals)
	var out executed
	if err := c.do(ctx, "/execute", map[string]any{"userId": user, "language": "javascript", "code": code, "detokenize": true}, &out); err != nil {
		return err
	}
	if out.Error != nil {
		return out.failure()
	}
	return nil
}

func (c *Config) cacheDir() string { return filepath.Join(c.DataDir, "cache") }
