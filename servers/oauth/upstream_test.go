package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"airlock/servers"
)

// guard puts a real MCP server behind the world's tokens.
func (w *world) guard() {
	s := mcpserver.NewMCPServer("files", "1", mcpserver.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("read"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("the file"), nil
	})
	real, refuses := mcpserver.NewStreamableHTTPServer(s), w.server.Config.Handler
	w.server.Config.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		ok := w.access != "" && r.Header.Get("Authorization") == "Bearer "+w.access
		w.mu.Unlock()
		if ok && r.URL.Path == "/mcp" {
			real.ServeHTTP(out, r)
			return
		}
		refuses.ServeHTTP(out, r)
	})
}

// revoke makes the world forget what it gave.
func (w *world) revoke(refresh bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.access = "revoked"
	if refresh {
		w.refresh = ""
	}
}

// TestServersUseTheTokens takes one server from refused to signed in, through an
// early end of the token, to the end of the sign-in.
func TestServersUseTheTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.guard()
	path := filepath.Join(t.TempDir(), "catalog.json")
	if err := os.WriteFile(path, fmt.Appendf(nil, `{"schemaVersion":1,"servers":{"files":{"url":%q,"lifecycle":{"restart":{"backoffMs":1}}}}}`, w.url()), 0o600); err != nil {
		t.Fatal(err)
	}
	catalog, err := servers.LoadCatalog(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	tokens := newClient(t, &memory{kept: map[string][]byte{}}, nil)
	m, err := servers.New(servers.Options{Catalog: catalog, Authorizer: tokens})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	call := func() error {
		_, err := m.Call(t.Context(), servers.Caller{User: "anna"}, "files__read", json.RawMessage(`{}`))
		return err
	}
	if err := call(); err == nil || !strings.Contains(err.Error(), "sign in: airlock servers login files") {
		t.Errorf("before signing in: %v", err)
	}
	if err := w.signIn(tokens, nil); err != nil {
		t.Fatal(err)
	}
	if err := call(); err != nil {
		t.Errorf("signed in: %v", err)
	}
	w.revoke(false)
	if err := call(); err != nil || w.renewals != 1 {
		t.Errorf("with a token that ended early: %v after %d renewals", err, w.renewals)
	}
	w.revoke(true)
	if err := call(); err == nil || !strings.Contains(err.Error(), "the sign-in has ended: invalid_grant") ||
		!strings.Contains(err.Error(), "run: airlock servers login files") {
		t.Errorf("after the end of the sign-in: %v", err)
	}
	if err := w.signIn(tokens, nil); err != nil {
		t.Fatal(err)
	}
	if err := call(); err != nil {
		t.Errorf("signed in again: %v", err)
	}
}
