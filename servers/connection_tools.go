package servers

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	// relistPause is the shortest time between two listings of changed tools.
	relistPause = time.Second
	// maxTools and maxPages stop a server that lists without end.
	maxTools = 10_000
	maxPages = 1_000
)

// notified runs on the wire's reading goroutine, so it only leaves a mark.
func (c *connection) notified(n mcp.JSONRPCNotification) {
	switch n.Method {
	case string(mcp.MethodNotificationProgress):
		c.progressed(n)
	case string(mcp.MethodNotificationToolsListChanged):
		if c.stale.CompareAndSwap(false, true) {
			c.background(func(context.Context) { c.up.distrust(c.stale.Load) })
		}
	}
}

// list returns the tools. When the server announced a change it is asked again;
// if that fails, what it said before still counts.
func (c *connection) list(ctx context.Context) *toolList {
	if c.stale.Load() && c.mayRelist() {
		c.stale.Store(false) // before asking: a change meanwhile counts again
		c.relist(ctx)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tools
}

// mayRelist keeps a server that announces changes all the time from being asked
// before every call.
func (c *connection) mayRelist() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.relisted) < relistPause {
		return false
	}
	c.relisted = time.Now()
	return true
}

func (c *connection) relist(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, c.up.entry.initTimeout)
	defer cancel()
	raw, err := c.fetchTools(limited)
	if err != nil {
		c.stale.Store(true)
		return
	}
	tools := c.up.toolListOf(raw)
	c.up.changed(tools, raw)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tools = tools
}

func (c *connection) fetchTools(ctx context.Context) ([]json.RawMessage, error) {
	var tools []json.RawMessage
	cursor := ""
	for range maxPages {
		page, err := c.fetchPage(ctx, cursor)
		if err != nil {
			return nil, err
		}
		tools = append(tools, page.Tools...)
		if page.NextCursor == "" || page.NextCursor == cursor || len(tools) > maxTools {
			return tools, nil
		}
		cursor = page.NextCursor
	}
	return tools, nil
}

func (c *connection) fetchPage(ctx context.Context, cursor string) (toolPage, error) {
	params := map[string]any{}
	if cursor != "" {
		params["cursor"] = cursor
	}
	var page toolPage
	raw, err := c.request(ctx, string(mcp.MethodToolsList), params)
	var refused *refusal
	if errors.As(err, &refused) && refused.code == mcp.METHOD_NOT_FOUND {
		return page, nil // a server without tools
	}
	if err != nil {
		return page, err
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return page, errMalformed
	}
	return page, nil
}
