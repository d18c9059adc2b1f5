package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"

	"airlock/bridge"
)

func listTools(ctx context.Context, c call) *mcp.CallToolResult {
	var in struct {
		Query  string        `json:"query"`
		Server string        `json:"server"`
		Limit  int           `json:"limit"`
		Detail bridge.Detail `json:"detail"`
		Cursor string        `json:"cursor"`
	}
	if refused := c.decode(&in); refused != nil {
		return refused
	}
	found, err := c.talks.SearchTools(ctx, bridge.Query{Text: in.Query, Server: in.Server, Limit: in.Limit, Detail: in.Detail, Cursor: in.Cursor})
	if err != nil {
		return c.failed(ctx, "list the tools", err)
	}
	return structured(found)
}

func toolDetails(ctx context.Context, c call) *mcp.CallToolResult {
	var in struct {
		Name string `json:"name"`
	}
	if refused := c.decode(&in); refused != nil {
		return refused
	}
	found, err := c.talks.DescribeTool(ctx, in.Name)
	if err != nil {
		return c.failed(ctx, "describe the tool", err)
	}
	return structured(found)
}
