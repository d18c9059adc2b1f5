package servers

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// BenchmarkCall compares a call through the Manager with the same call made
// with mcp-go alone, pinned to the same protocol.
func BenchmarkCall(b *testing.B) {
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	b.Run("stdio/mcp-go", func(b *testing.B) {
		t := transport.NewStdioWithOptions(program, nil, []string{"peer", "plain"}, transport.WithCommandFunc(
			func(_ context.Context, command string, _, args []string) (*exec.Cmd, error) {
				return exec.Command(command, args...), nil
			}))
		benchmarkDirect(b, client.NewClient(t, client.WithProtocolVersion("2025-11-25")), "do")
	})
	b.Run("stdio/manager", func(b *testing.B) { benchmarkManager(b, peerEntry(b, "peer", "plain", ""), "peer__do") })
	b.Run("builtin/mcp-go", func(b *testing.B) {
		s, err := echoServer(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		benchmarkDirect(b, client.NewClient(transport.NewInProcessTransport(s), client.WithProtocolVersion("2025-11-25")), "echo")
	})
	b.Run("builtin/manager", func(b *testing.B) { benchmarkManager(b, `"echo":{"transport":"builtin"}`, "echo__echo") })
}

func benchmarkDirect(b *testing.B, c *client.Client, tool string) {
	b.Helper()
	b.Cleanup(func() { _ = c.Close() })
	if err := c.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	if _, err := c.Initialize(b.Context(), mcp.InitializeRequest{}); err != nil {
		b.Fatal(err)
	}
	r := mcp.CallToolRequest{}
	r.Params.Name, r.Params.Arguments = tool, json.RawMessage(`{"text":"hello"}`)
	for b.Loop() {
		if _, err := c.CallTool(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkManager(b *testing.B, servers, tool string) {
	b.Helper()
	m := managerOf(b, servers, map[string]Builtin{"echo": echoServer})
	if _, err := m.Call(b.Context(), anyone, tool, json.RawMessage(`{"text":"hello"}`)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := m.Call(b.Context(), anyone, tool, json.RawMessage(`{"text":"hello"}`)); err != nil {
			b.Fatal(err)
		}
	}
}
