// Package conformance runs the protocol's own suite against what airlock is as a
// client of other servers: the connections of package servers and the signing in of
// servers/oauth.
package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"airlock/ident"
	"airlock/servers"
	"airlock/servers/oauth"
	"airlock/test/mcppeers"
)

// scenarioVariable is set by the suite for the client that it starts.
const scenarioVariable = "MCP_CONFORMANCE_SCENARIO"

// TestMain makes the test binary the client where the suite starts it as such.
func TestMain(m *testing.M) {
	scenario := os.Getenv(scenarioVariable)
	if scenario == "" {
		os.Exit(m.Run())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := beClient(ctx, scenario, os.Args[len(os.Args)-1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// peer is the name of the suite's server in the catalog.
const peer = "peer"

// beClient connects to the suite's server as airlock does, and calls its tools.
func beClient(ctx context.Context, scenario, url string) error {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	entry := map[string]any{"transport": "streamable-http", "url": url}
	text, err := json.Marshal(map[string]any{"schemaVersion": 1, "servers": map[string]any{peer: entry}})
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "catalog.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return err
	}
	catalog, err := servers.LoadCatalog(path, os.LookupEnv)
	if err != nil {
		return err
	}
	tokens, err := oauth.New(oauth.Options{Store: &memory{}, Key: make([]byte, 32)})
	if err != nil {
		return err
	}
	defer tokens.Close()
	if strings.HasPrefix(scenario, "auth/") {
		if err := signIn(ctx, tokens, url); err != nil {
			return err
		}
	}
	manager, err := servers.New(servers.Options{
		Catalog: catalog, Environ: os.LookupEnv, CacheDir: dir, DataDir: dir, Pseudonym: ident.NewPseudonym(make([]byte, 32)), Authorizer: tokens,
	})
	if err != nil {
		return err
	}
	return errors.Join(callAll(ctx, manager), manager.Close())
}

// signIn is airlock servers login, by a user whose browser follows where it is led.
func signIn(ctx context.Context, tokens *oauth.Client, url string) error {
	var known struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
	}
	if given := os.Getenv("MCP_CONFORMANCE_CONTEXT"); given != "" {
		if err := json.Unmarshal([]byte(given), &known); err != nil {
			return err
		}
	}
	return tokens.Login(ctx, oauth.Login{Server: peer, URL: url, ClientID: known.ID, ClientSecret: known.Secret, Show: func(address, _ string) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		go func() { // ends with ctx
			if answer, err := http.DefaultClient.Do(r); err == nil {
				_ = answer.Body.Close()
			}
		}()
		return nil
	}})
}

// callAll lists the tools and calls each.
func callAll(ctx context.Context, manager *servers.Manager) error {
	caller := servers.Caller{User: "tester", Session: ident.NewSession()}
	tools, faults := manager.Tools(ctx, caller)
	if len(faults) > 0 {
		return faults[0].Err
	}
	for _, tool := range tools {
		result, err := manager.Call(ctx, caller, tool.FullName(), json.RawMessage(`{"a":5,"b":3}`))
		if err != nil || result.IsError {
			return fmt.Errorf("call %s: tool failed %v, %w", tool.FullName(), result.IsError, err)
		}
	}
	return nil
}

// memory keeps tokens for one run.
type memory struct{ kept sync.Map }

func (m *memory) Put(_ context.Context, name string, value []byte) error {
	m.kept.Store(name, value)
	return nil
}

func (m *memory) Get(_ context.Context, name string) ([]byte, error) {
	value, ok := m.kept.Load(name)
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, os.ErrNotExist)
	}
	return value.([]byte), nil
}

func (m *memory) Delete(_ context.Context, name string) error {
	m.kept.Delete(name)
	return nil
}

// apart says why airlock does not take part in a scenario.
var apart = map[string]string{
	"elicitation-sep1034-client-defaults":       "airlock passes no server's questions on to its users, and says so at the handshake",
	"auth/basic-cimd":                           "a client id that is a URL needs a public web server; airlock runs on its user's machine and registers itself",
	"auth/scope-step-up":                        "further scopes take a second sign-in, which is the user's to begin: `airlock servers login`",
	"auth/2025-03-26-oauth-metadata-backcompat": "the metadata names an issuer that is not the address it was read from, which RFC 8414 tells clients to refuse",
	"auth/2025-03-26-oauth-endpoint-fallback":   "a server that publishes no metadata is not signed in to",
	"auth/client-credentials-jwt":               "an extension for programs without a user",
	"auth/client-credentials-basic":             "an extension for programs without a user",
	"auth/cross-app-access-complete-flow":       "an extension for one sign-in over many programs",
}

var (
	whole = flag.Bool("conformance-all", false, "run all scenarios for clients, in place of a few")
	// few are run where not all are: each a different way through the client, and none
	// that measures time.
	few = []string{"initialize", "tools_call", "auth/metadata-default", "auth/token-endpoint-auth-basic"}
)

// TestClient holds docs/CONFORMANCE.md against what the suite finds.
func TestClient(t *testing.T) {
	t.Parallel()
	if !*whole {
		for _, name := range few {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				runScenario(t, name)
			})
		}
		return
	}
	var rows []string
	checks, passed := 0, 0
	for _, name := range listScenarios(t) {
		if why := apart[name]; why != "" {
			rows = append(rows, fmt.Sprintf("| `%s` | takes no part: %s |", name, why))
			continue
		}
		n := runScenario(t, name)
		checks, passed = checks+n, passed+1
		rows = append(rows, fmt.Sprintf("| `%s` | %d |", name, n))
	}
	rows = append(rows, fmt.Sprintf("| **%d scenarios** | **%d** |", passed, checks))
	mcppeers.HoldTable(t, "../../docs/CONFORMANCE.md", "client", rows)
}

func suite(t *testing.T, arguments ...string) (string, error) {
	t.Helper()
	script := mcppeers.Script(t, "@modelcontextprotocol/conformance/dist/index.js")
	out, err := exec.CommandContext(t.Context(), mcppeers.Node(t), append([]string{script}, arguments...)...).CombinedOutput()
	return string(out), err
}

var (
	listed = regexp.MustCompile(`(?m)^  - (\S+) \[`)
	result = regexp.MustCompile(`Passed: (\d+)/(\d+), 0 failed, 0 warnings`)
)

// listScenarios are those that the suite has for clients.
func listScenarios(t *testing.T) []string {
	t.Helper()
	out, err := suite(t, "list")
	_, clients, ok := strings.Cut(out, "Client scenarios")
	if err != nil || !ok {
		t.Fatalf("list the scenarios: %v\n%s", err, out)
	}
	var names []string
	for _, m := range listed.FindAllStringSubmatch(clients, -1) {
		names = append(names, m[1])
	}
	slices.Sort(names)
	return names
}

// runScenario gives how many checks passed, all of them.
func runScenario(t *testing.T, name string) int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := suite(t, "client", "--command", self, "--scenario", name, "--output-dir", t.TempDir())
	m := result.FindStringSubmatch(out)
	if err != nil || m == nil || m[1] != m[2] {
		t.Errorf("%s: %v\n%s", name, err, out)
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // digits, as matched
	return n
}
