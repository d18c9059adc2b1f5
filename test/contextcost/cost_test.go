package contextcost

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"airlock/bridge"
	"airlock/ident"
	"airlock/orchestrator"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/orchestrator/state"
	"airlock/pii"
	"airlock/pii/detect"
	"airlock/runtime/helpers"
	"airlock/runtime/sandbox"
	"airlock/runtime/wasm"
	"airlock/servers"
	"airlock/skills"
	"airlock/workspace"
)

// workerArgument makes the test program a worker of the embedded sandbox.
const workerArgument = "wasm-worker"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerArgument {
		if err := wasm.WorkerMain(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const (
	task         = "Add up the paid orders by region and tell me the totals in cents."
	classicalWay = "You are a helpful assistant. Finish the user's task with the tools you are given."
	maxFirst     = 1500 // tokens before the first turn
	minSaved     = 0.99 // of all definitions, with 900 tools and more
)

// script is the one that a model would write for the task.
const script = `const totals = {};
const pages = await Promise.all(Array.from({ length: 10 }, (_, i) => callMCPTool("shop__list_orders", { page: i + 1 })));
for (const o of pages.flat()) if (o.status === "paid") totals[o.region] = (totals[o.region] ?? 0) + o.cents;
return totals;`

// turns are the model's part in airlock: search, look, run, answer.
func turns(answer string) []llmtest.Turn {
	call := func(name string, arguments any) llmtest.Turn {
		text, _ := json.Marshal(arguments)
		return llmtest.Turn{Calls: []llm.Call{{Name: name, Arguments: string(text)}}}
	}
	return []llmtest.Turn{
		call("list_mcp_tools", map[string]string{"query": "list orders of the shop"}),
		call("get_mcp_tool_details", map[string]string{"name": "shop__list_orders"}),
		call("execute_code", map[string]string{"language": "javascript", "code": script}),
		{Text: answer},
	}
}

// runTask runs the task through the orchestrator, with a catalog of some real
// tools beside the shop's, and returns the requests that its model was sent.
func runTask(t *testing.T, others []realTool) []llm.Request {
	t.Helper()
	catalog := shop{tb: t, tools: []servers.Tool{listOrders.tool()}}
	for _, r := range others {
		catalog.tools = append(catalog.tools, r.tool())
	}
	want, err := json.Marshal(totals(t))
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.NewScript(turns(string(want))...)
	service := newService(t, catalog, model)
	id, err := service.Submit(t.Context(), orchestrator.TaskRequest{User: "ada", Text: pii.NewRaw(task)})
	if err != nil {
		t.Fatal(err)
	}
	done, err := service.Wait(t.Context(), "ada", id)
	if err != nil || done.Status != orchestrator.StatusCompleted {
		t.Fatalf("the task ended %s: %v", done.Status, err)
	}
	requests := model.Requests()
	last := requests[len(requests)-1].Messages
	result, ok := last[len(last)-1].Parts[0].(llm.ToolResult)
	var told struct{ Result map[string]int }
	if !ok || json.Unmarshal([]byte(result.Content.String()), &told) != nil || len(told.Result) != 4 || !maps.Equal(told.Result, totals(t)) {
		t.Fatalf("the script's result is %v, want %s", last[len(last)-1], want)
	}
	return requests
}

// totals are the task's right answer.
func totals(tb testing.TB) map[string]int {
	tb.Helper()
	sums := map[string]int{}
	for n := 1; n <= orders/perPage; n++ {
		var rows []order
		if err := json.Unmarshal([]byte(page(tb, n)), &rows); err != nil {
			tb.Fatal(err)
		}
		for _, o := range rows {
			if o.Status == "paid" {
				sums[o.Region] += o.Cents
			}
		}
	}
	return sums
}

func newService(t *testing.T, upstreams bridge.Upstreams, provider llm.Provider) *orchestrator.Service {
	t.Helper()
	dir := t.TempDir()
	pseudonym := ident.NewPseudonym([]byte("a key for tests, 32 bytes long.."))
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	approvals := orchestrator.NewApprovals(time.Minute)
	guard, err := bridge.New(bridge.Options{
		Secret: []byte("a secret for tests, 32 bytes or more"), TokenTTL: time.Hour, Limits: bridge.DefaultLimits(),
		Upstreams: upstreams, Approver: approvals, Audit: io.Discard, Pseudonym: pseudonym,
	})
	must(err)
	library, err := skills.New(skills.Options{Library: fstest.MapFS{}, UsersDir: dir + "/skills"})
	must(err)
	spaces, err := workspace.New(workspace.Options{Dir: dir})
	must(err)
	detector, err := detect.New(detect.Options{})
	must(err)
	kept, err := state.Open(t.Context(), state.Options{Dir: dir + "/store", Key: make([]byte, state.KeySize)})
	must(err)
	box, err := wasm.New(wasm.Options{Worker: []string{"/proc/self/exe", workerArgument}, Prelude: helpers.JavaScript(), CacheDir: dir + "/wasm"})
	must(err)
	limits := orchestrator.DefaultLimits()
	limits.Execution.Wall = 5 * time.Minute // a busy machine is none of this test's business
	service, err := orchestrator.New(orchestrator.Options{
		Provider: provider, Backends: []sandbox.Backend{box}, Bridge: guard, Approvals: approvals, Skills: library, Workspaces: spaces,
		Vaults: pii.VaultOptions{Detector: detector}, State: orchestrator.State{Queue: kept.Queue(), Events: kept.Events(), Vaults: kept.Vaults(), Tasks: kept.Tasks(), Kept: kept.Kept(), Eraser: kept}, StateKey: make([]byte, 32),
		Pseudonym: pseudonym, StubsDir: dir + "/stubs", Limits: limits,
	})
	must(err)
	t.Cleanup(func() {
		for _, c := range []io.Closer{service, box, spaces, library, kept} {
			if err := c.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
	})
	return service
}

// definitions counts all tools loaded as definitions.
func definitions(tb testing.TB, tools []realTool) int {
	tb.Helper()
	sum := 0
	for _, t := range tools {
		sum += t.function().tokens(tb)
	}
	return sum
}

// classical counts a task whose every step is a call by the model: each request
// repeats the definitions and all that was said before.
func classical(tb testing.TB, defined int) (sum, last int) {
	tb.Helper()
	said := tokens(tb, classicalWay) + defined + tokens(tb, task)
	for n := 1; n <= orders/perPage; n++ {
		sum += said
		said += tokens(tb, "shop__list_orders") + tokens(tb, fmt.Sprintf(`{"page":%d}`, n)) + tokens(tb, page(tb, n))
	}
	return sum + said, said
}

// TestContextCost prints what make bench shows, and holds the goals.
func TestContextCost(t *testing.T) {
	t.Parallel()
	all := realFunctions(t)
	t.Logf("%6s | %12s %12s %8s | %14s %14s %8s", "tools", "first: ours", "definitions", "less", "ten steps: ours", "by calls", "less")
	constant := 0
	for _, n := range []int{10, 100, len(all)} {
		requests := runTask(t, all[:n-1])
		defined := definitions(t, append([]realTool{listOrders}, all[:n-1]...))
		first := requestTokens(t, requests[0])
		whole := 0
		for _, r := range requests {
			whole += requestTokens(t, r)
		}
		calls, largest := classical(t, defined)
		saved := 1 - float64(first)/float64(defined)
		t.Logf("%6d | %12d %12d %7.1f%% | %14d %14d %7.1f%%  (largest request %d against %d)", n, first, defined, 100*saved, whole, calls, 100*(1-float64(whole)/float64(calls)), requestTokens(t, requests[len(requests)-1]), largest)
		if constant == 0 {
			constant = first
		}
		if first != constant || first > maxFirst {
			t.Errorf("with %d tools the first request has %d tokens; with 10 it has %d, and %d are the most", n, first, constant, maxFirst)
		}
		if n >= 900 && saved < minSaved {
			t.Errorf("with %d tools the first request is %.1f %% smaller than all definitions; %.0f %% are the least", n, 100*saved, 100*minSaved)
		}
		if whole >= calls {
			t.Errorf("with %d tools the task costs %d tokens, more than %d by calls", n, whole, calls)
		}
	}
}
