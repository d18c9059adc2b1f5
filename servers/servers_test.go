package servers

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"airlock/ident"
	"airlock/pii"
	"airlock/pii/detect"
)

// told is what a Raw holds. Package pii/reveal is not for this package, its
// tests included, so a vault whose detectors are all off is asked.
func told(t *testing.T, r pii.Raw) string {
	t.Helper()
	all, err := detect.New(detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var off []detect.Type
	for _, info := range all.Types() {
		off = append(off, info.Type)
	}
	blind, err := detect.New(detect.Options{Disabled: off})
	if err != nil {
		t.Fatal(err)
	}
	v, err := pii.NewVault(pii.VaultOptions{Detector: blind})
	if err != nil {
		t.Fatal(err)
	}
	text, err := v.Tokenize(r, pii.OriginScript)
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// catalogOf writes a catalog with these servers and loads it.
func catalogOf(t testing.TB, servers string) *Catalog {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.json")
	if err := os.WriteFile(path, []byte(`{"schemaVersion":1,"servers":{`+servers+`}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := LoadCatalog(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func managerOf(t testing.TB, servers string, builtins map[string]Builtin) *Manager {
	t.Helper()
	return managerWith(t, Options{Catalog: catalogOf(t, servers), Builtins: builtins, Environ: os.LookupEnv, Keeper: keeping()})
}

// looked names the tests that will look for leftovers.
var looked sync.Map

// managerWith also checks that closing leaves no process of the test's peers.
func managerWith(t testing.TB, o Options) *Manager {
	t.Helper()
	m, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, again := looked.LoadOrStore(t.Name(), true); !again && len(o.Keeper) > 0 {
		t.Cleanup(func() { // after the test's last manager is closed
			looked.Delete(t.Name())
			assertNothingLeft(t)
		})
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return m
}

// echoServer answers with its arguments, hangs until it is told to stop, or panics.
func echoServer(context.Context) (*mcpserver.MCPServer, error) {
	s := mcpserver.NewMCPServer("echo", "1", mcpserver.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("echo", mcp.WithDescription("says it again"), mcp.WithReadOnlyHintAnnotation(true)),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(string(r.Params.RawArguments)), nil
		})
	s.AddTool(mcp.NewTool("hang"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	})
	s.AddTool(mcp.NewTool("panic"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		panic("on purpose")
	})
	s.AddTool(mcp.NewTool("big"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText(strings.Repeat("x", 1<<20)), nil
	})
	return s, nil
}

var anyone = Caller{User: "user", Session: "ses_1"}

func TestBuiltinServerIsListedAndCalled(t *testing.T) {
	t.Parallel()
	m := managerOf(t, `"echo":{"transport":"builtin"}`, map[string]Builtin{"echo": echoServer})
	tools, faults := m.Tools(t.Context(), anyone)
	if len(faults) > 0 || len(tools) != 4 {
		t.Fatalf("Tools: %d tools, faults %v", len(tools), faults)
	}
	tool, err := m.Tool(t.Context(), anyone, "echo__echo")
	if err != nil || tool.FullName() != "echo__echo" || tool.Annotations.ReadOnly == nil || !*tool.Annotations.ReadOnly {
		t.Errorf("Tool = %+v, %v", tool, err)
	}
	result, err := m.Call(t.Context(), anyone, "echo__echo", json.RawMessage(`{"a":9007199254740993}`))
	if err != nil || result.IsError {
		t.Fatal(result, err)
	}
	if got := told(t, result.JSON); !strings.Contains(got, `{\"a\":9007199254740993}`) {
		t.Errorf("result = %s", got)
	}
}

func TestCallFailsWithAKindAndLeavesTheServerUsable(t *testing.T) {
	t.Parallel()
	m := managerOf(t, `"echo":{"transport":"builtin","limits":{"maxMessageBytes":100000},"tools":{"deny":["pan*"]}}`,
		map[string]Builtin{"echo": echoServer})
	for name, c := range map[string]struct {
		tool, arguments string
		want            error
	}{
		"unknown server":      {"nobody__echo", `{}`, ErrUnknownTool},
		"unknown tool":        {"echo__nothing", `{}`, ErrUnknownTool},
		"no separator":        {"echo", `{}`, ErrUnknownTool},
		"denied tool":         {"echo__panic", `{}`, ErrUnknownTool},
		"result too large":    {"echo__big", `{}`, ErrResultTooLarge},
		"arguments too large": {"echo__echo", `{"a":"` + strings.Repeat("x", 100_000) + `"}`, ErrArgumentsTooLarge},
		"too slow":            {"echo__hang", `{}`, ErrTimeout},
	} {
		ctx, cancel := t.Context(), func() {}
		if errors.Is(c.want, ErrTimeout) {
			ctx, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
		}
		if _, err := m.Call(ctx, anyone, c.tool, json.RawMessage(c.arguments)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		cancel()
		if _, err := m.Call(t.Context(), anyone, "echo__echo", nil); err != nil {
			t.Errorf("%s: the next call: %v", name, err)
		}
	}
}

func TestBuiltinPanicIsAnErrorOfTheCall(t *testing.T) {
	t.Parallel()
	m := managerOf(t, `"echo":{"transport":"builtin"}`, map[string]Builtin{"echo": echoServer})
	if _, err := m.Call(t.Context(), anyone, "echo__panic", nil); !errors.Is(err, ErrUpstream) {
		t.Errorf("panicking handler: %v", err)
	}
	if _, err := m.Call(t.Context(), anyone, "echo__echo", nil); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestCancelledCallSaysSo(t *testing.T) {
	t.Parallel()
	m := managerOf(t, `"echo":{"transport":"builtin"}`, map[string]Builtin{"echo": echoServer})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := m.Call(ctx, anyone, "echo__hang", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled call: %v", err)
	}
}

func TestUsersOfOtherPatternsSeeNothing(t *testing.T) {
	t.Parallel()
	m := managerOf(t, `"echo":{"transport":"builtin","users":["team-*","lead"]}`, map[string]Builtin{"echo": echoServer})
	for user, sees := range map[ident.User]bool{"team-7": true, "lead": true, "leader": false, "user": false} {
		c := Caller{User: user}
		tools, faults := m.Tools(t.Context(), c)
		if (len(tools) > 0) != sees || len(faults) > 0 {
			t.Errorf("user %s sees %d tools, want some: %v", user, len(tools), sees)
		}
		if _, err := m.Call(t.Context(), c, "echo__echo", nil); errors.Is(err, ErrUnknownTool) == sees {
			t.Errorf("user %s calling: %v", user, err)
		}
	}
}

func TestClosedManagerRefuses(t *testing.T) {
	t.Parallel()
	m, err := New(Options{Catalog: catalogOf(t, `"echo":{"transport":"builtin"}`), Builtins: map[string]Builtin{"echo": echoServer}})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Call(context.Background(), anyone, "echo__echo", nil); !errors.Is(err, ErrUpstream) {
		t.Errorf("call after Close: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestNewNamesTheBuiltinsThereAre(t *testing.T) {
	t.Parallel()
	_, err := New(Options{Catalog: catalogOf(t, `"ecco":{"transport":"builtin"}`), Builtins: map[string]Builtin{"echo": echoServer}})
	if err == nil || !strings.Contains(err.Error(), "servers.ecco") || !strings.Contains(err.Error(), "echo") {
		t.Errorf("New: %v", err)
	}
}
