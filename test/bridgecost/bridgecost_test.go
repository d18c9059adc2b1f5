// Package bridgecost measures what a call through the bridge adds to the same
// call that an MCP client makes itself: a real server over stdio, mcp-go's client
// on one side, token, policy, tokenizing and audit on the other, call by call in
// turns so that both meet the same machine.
package bridgecost

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	mcpserver "github.com/mark3labs/mcp-go/server"

	"airlock/bridge"
	"airlock/ident"
	"airlock/pii"
	"airlock/pii/detect"
	"airlock/servers"
	"airlock/servers/keeper"
)

// TestMain is the server, or its keeper, when the test binary is started as one.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "server":
		if err := serve(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	case len(os.Args) > 2 && os.Args[1] == "keeper":
		os.Exit(keeper.Main(os.Args[2:], os.Environ()))
	default:
		os.Exit(m.Run())
	}
}

// row is what the tool answers: a record as real tools have them.
const row = `{"id":%d,"name":"Coffee grinder","price":89.5,"stock":12,"tags":["kitchen","steel"],"updated":"2026-05-04T12:00:00Z","process":%d}`

func serve() error {
	s := mcpserver.NewMCPServer("shop", "1", mcpserver.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("product", mcp.WithNumber("id", mcp.Required()), mcp.WithReadOnlyHintAnnotation(true)),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(fmt.Sprintf(row, r.GetInt("id", 0), os.Getpid())), nil
		})
	return mcpserver.ServeStdio(s)
}

const arguments = `{"id":7}`

// caller makes one call and returns the process that answered, as text.
type caller func(ctx context.Context) (string, error)

// direct calls by mcp-go alone, pinned to the version that airlock speaks.
func direct(b *testing.B) caller {
	b.Helper()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	c := client.NewClient(transport.NewStdioWithOptions(program, nil, []string{"server"}, transport.WithCommandFunc(
		func(_ context.Context, command string, _, args []string) (*exec.Cmd, error) {
			return exec.Command(command, args...), nil
		},
	)), client.WithProtocolVersion("2025-11-25"))
	b.Cleanup(func() { _ = c.Close() })
	if err := c.Start(context.Background()); err != nil {
		b.Fatal(err)
	}
	if _, err := c.Initialize(b.Context(), mcp.InitializeRequest{}); err != nil {
		b.Fatal(err)
	}
	r := mcp.CallToolRequest{}
	r.Params.Name, r.Params.Arguments = "product", json.RawMessage(arguments)
	return func(ctx context.Context) (string, error) {
		result, err := c.CallTool(ctx, r)
		if err != nil {
			return "", err
		}
		text, err := json.Marshal(result)
		return process(string(text)), err
	}
}

func process(answer string) string {
	_, after, _ := strings.Cut(answer, `process\":`)
	pid, _, _ := strings.Cut(after, "}")
	return pid
}

// bridged makes callers through the bridge, each an execution of its own.
func bridged(b *testing.B) func() caller {
	b.Helper()
	program, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "catalog.json")
	if err := os.WriteFile(path, fmt.Appendf(nil, `{"schemaVersion":1,"servers":{"shop":{"command":%q,"args":["server"],"limits":{"concurrency":64}}}}`, program), 0o600); err != nil {
		b.Fatal(err)
	}
	catalog, err := servers.LoadCatalog(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	manager, err := servers.New(servers.Options{Catalog: catalog, Environ: os.LookupEnv, Keeper: []string{program, "keeper"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := manager.Close(); err != nil {
			b.Error(err)
		}
	})
	audit, err := os.Create(filepath.Join(b.TempDir(), "audit.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = audit.Close() })
	limits := bridge.DefaultLimits()
	limits.Calls, limits.Requests = 1<<30, 1<<30
	guard, err := bridge.New(bridge.Options{
		Secret: []byte(strings.Repeat("s", 32)), TokenTTL: time.Hour, Limits: limits, Upstreams: manager,
		Audit: audit, Pseudonym: ident.NewPseudonym([]byte("0123456789abcdef")),
	})
	if err != nil {
		b.Fatal(err)
	}
	detector, err := detect.New(detect.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return func() caller { return execution(b, guard, detector) }
}

func execution(b *testing.B, guard *bridge.Bridge, detector *detect.Detector) caller {
	b.Helper()
	vault, err := pii.NewVault(pii.VaultOptions{Detector: detector})
	if err != nil {
		b.Fatal(err)
	}
	session := ident.NewSession()
	access, err := guard.Grant(bridge.Grant{User: "user", Session: session, Execution: ident.NewExecution(), Vault: vault, Scope: bridge.ScopeAll})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(access.Revoke)
	handler := guard.Handler(session)
	return func(ctx context.Context) (string, error) {
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/tools/shop__product/call", strings.NewReader(`{"arguments":`+arguments+`}`))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+access.Token())
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			return "", fmt.Errorf("status %d: %s", w.Code, w.Body)
		}
		return process(w.Body.String()), nil
	}
}

// BenchmarkBridgeOverStdio reports the median of both, and how they relate. The
// goal is a ratio of at most 1.5.
func BenchmarkBridgeOverStdio(b *testing.B) {
	for _, callers := range []int{1, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) { compare(b, callers) })
	}
}

func compare(b *testing.B, callers int) {
	alone, next := direct(b), bridged(b)
	through := make([]caller, callers)
	for i := range through {
		through[i] = next()
	}
	pid, err := through[0](b.Context())
	if err != nil || pid == "" {
		b.Fatal(pid, err)
	}
	var direct, bridged []time.Duration
	for b.Loop() {
		took, _ := together(b, callers, func(int) caller { return alone })
		direct = append(direct, took...)
		took, answered := together(b, callers, func(i int) caller { return through[i] })
		bridged = append(bridged, took...)
		for _, by := range answered {
			if by != pid {
				b.Fatalf("process %s answered beside process %s: callers do not share a connection", by, pid)
			}
		}
	}
	without, with := median(direct), median(bridged)
	b.ReportMetric(0, "ns/op") // of both together, which says nothing
	b.ReportMetric(float64(without.Nanoseconds())/1e3, "mcp-go-p50-µs")
	b.ReportMetric(float64(with.Nanoseconds())/1e3, "bridge-p50-µs")
	b.ReportMetric(float64(with)/float64(without), "bridge/mcp-go")
}

// together lets every caller make a call at once.
func together(b *testing.B, callers int, of func(int) caller) ([]time.Duration, []string) {
	took, answered, errs := make([]time.Duration, callers), make([]string, callers), make([]error, callers)
	var all sync.WaitGroup
	for i := range callers {
		call := of(i)
		all.Go(func() {
			began := time.Now()
			answered[i], errs[i] = call(b.Context())
			took[i] = time.Since(began)
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			b.Fatal(err)
		}
	}
	return took, answered
}

func median(of []time.Duration) time.Duration {
	slices.Sort(of)
	return of[len(of)/2]
}
