package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
)

// openSystem wires the whole program as its commands do, with real sandboxes and
// the sample shop.
func openSystem(t testing.TB, change ...func(*Config)) *client {
	t.Helper()
	c := &Config{
		Host: "127.0.0.1", Port: 3000, DataDir: t.TempDir(), Catalog: "../../catalog.json", Auth: "none",
		SandboxBackend: "wasm", SandboxTimeoutMs: 30_000, SandboxMemoryMB: 256, SandboxCPUQuota: 100_000, TokenExpiration: 3600, ApprovalTimeoutMs: 60_000, ModelContextTokens: 120_000,
		TaskMaxTurns: 30, TaskTimeoutMs: 600_000, TaskMaxTokens: 4_000_000, TaskMaxToolCalls: 5000,
		PIIMode: "sealed", LogLevel: "error", LogFormat: "json",
	}
	for _, f := range change {
		f(c)
	}
	cl, err := c.connect(streams{strings.NewReader(""), os.Stdout, os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.close)
	return cl
}

type taskAnswer struct {
	TaskID, SessionID, Status, Message string
	Output                             json.RawMessage
	Error                              *apiError
	Artifacts                          []artifact
}

func (c *client) task(t testing.TB, user, text string) taskAnswer {
	t.Helper()
	var answer taskAnswer
	if err := c.do(t.Context(), "/task", map[string]any{"userId": user, "task": text}, &answer); err != nil {
		t.Fatalf("task: %v", err)
	}
	return answer
}

func (c *client) execute(t testing.TB, user, code string, detokenize bool) executed {
	t.Helper()
	var out executed
	body := map[string]any{"userId": user, "language": "javascript", "code": code, "detokenize": detokenize}
	if err := c.do(t.Context(), "/execute", body, &out); err != nil {
		t.Fatalf("execute: %v", err)
	}
	if out.Error != nil {
		t.Fatalf("script ended with %s: %s: %s (line %d)", out.Status, out.Error.Name, out.Error.Message, out.Error.Line)
	}
	return out
}

func (c *client) download(t *testing.T, user, name string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+"/artifacts/"+user+"/"+name, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := c.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("download %s: %d %v", name, answer.StatusCode, err)
	}
	return string(text)
}

// query runs SQL past all scripts, straight through a tool call.
func (c *client) query(t *testing.T, sql string, into any) {
	t.Helper()
	text, err := json.Marshal(sql)
	if err != nil {
		t.Fatal(err)
	}
	out := c.execute(t, "auditor", `return await callMCPTool("database__query", {query: `+string(text)+`})`, true)
	if err := json.Unmarshal(out.Result, into); err != nil {
		t.Fatalf("decode the rows of %q: %v", sql, err)
	}
}

var amount = regexp.MustCompile(`[0-9][0-9,]*\.[0-9]{2}`)

func TestSalesReportIsRight(t *testing.T) {
	t.Parallel()
	c := openSystem(t)
	answer := c.task(t, "user123", "Analyze the latest sales data and create a summary report")
	if answer.Status != "completed" || answer.Message == "" || len(answer.Artifacts) == 0 {
		t.Fatalf("answered %s %+v with %d artifacts: %s", answer.Status, answer.Error, len(answer.Artifacts), answer.Message)
	}
	var rows []struct {
		Month string
		Total float64
		N     int
	}
	c.query(t, `SELECT substr(date,1,7) AS month, SUM(amount) AS total, COUNT(*) AS n FROM sales GROUP BY 1 ORDER BY 1 DESC`, &rows)
	if !namesAmount(answer.Message, rows[0].Total) {
		t.Errorf("the report does not name the total of %s, %.2f:\n%s", rows[0].Month, rows[0].Total, answer.Message)
	}
	report := c.download(t, "user123", answer.Artifacts[0].Name)
	if !namesAmount(report, rows[0].Total) {
		t.Errorf("the artifact %s does not name the total %.2f", answer.Artifacts[0].Name, rows[0].Total)
	}
}

func namesAmount(text string, want float64) bool {
	for _, found := range amount.FindAllString(text, -1) {
		if n, err := strconv.ParseFloat(strings.ReplaceAll(found, ",", ""), 64); err == nil && n-want < 0.005 && want-n < 0.005 {
			return true
		}
	}
	return false
}

// TestSeedScript runs the example of the system that airlock replaces, as it is
// written there, and uses the skill it saves from a second task.
func TestSeedScript(t *testing.T) {
	t.Parallel()
	code := seedScript(t)
	c := openSystem(t)
	out := c.execute(t, "user123", code, false)
	var got struct {
		Summary           struct{ Total, Count float64 }
		TotalSales, Count float64
	}
	if err := json.Unmarshal(out.Result, &got); err != nil {
		t.Fatalf("result %s: %v", out.Result, err)
	}
	var rows []struct{ Total, N float64 }
	c.query(t, `SELECT SUM(amount) AS total, COUNT(*) AS n FROM sales WHERE date > '2024-01-01'`, &rows)
	if diff := got.TotalSales - rows[0].Total; got.Count != rows[0].N || got.Summary.Count != got.Count || diff > 0.01 || diff < -0.01 {
		t.Errorf("the script returned %s, SQL says %+v", out.Result, rows[0])
	}
	if len(out.Saved) != 1 || out.Saved[0] != "sales_summary" {
		t.Errorf("saved %v, want sales_summary", out.Saved)
	}
	second := c.execute(t, "user123", `
		const summarize = require("/skills/sales_summary.js");
		return await summarize([{ amount: 2 }, { amount: 40 }]);`, false)
	var summary struct{ Total, Count float64 }
	if err := json.Unmarshal(second.Result, &summary); err != nil || summary.Total != 42 || summary.Count != 2 {
		t.Errorf("the saved skill returned %s", second.Result)
	}
	var others struct {
		Skills []struct{ Name, Scope string }
	}
	if err := c.do(t.Context(), "/skills?userId=somebody", nil, &others); err != nil {
		t.Fatal(err)
	}
	for _, k := range others.Skills {
		if k.Scope == "user" {
			t.Errorf("another user sees the skill %s", k.Name)
		}
	}
}

func testData() string {
	if dir := os.Getenv("AIRLOCK_TESTDATA"); dir != "" {
		return dir
	}
	return "../../../shared/data"
}

// seedScript reads the example, which is not ours to keep here.
func seedScript(t *testing.T) string {
	t.Helper()
	path := filepath.Join(testData(), "..", "seeds", "002_2a76a359ef2ca463.txt")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("CI") == "" {
		t.Skipf("%s is not there; set AIRLOCK_TESTDATA to the folder data beside it", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "The agent writes code like this")
	_, rest, opened := strings.Cut(rest, "```javascript\n")
	code, _, closed := strings.Cut(rest, "\n```")
	// The example's own template literal holds no fence, so the first one ends it.
	if !found || !opened || !closed {
		t.Fatalf("%s holds no example script", path)
	}
	return code
}

// TestModelConversationHoldsNoPersonalValue lets a model work on the customers
// of the shop and looks for each of their values in all that it was sent.
func TestModelConversationHoldsNoPersonalValue(t *testing.T) {
	t.Parallel()
	script := `
		const rows = await callMCPTool("database__query", {query: "SELECT * FROM customers ORDER BY id LIMIT 200"});
		console.log(rows[0], rows.length);
		console.error("first is " + rows[0].email + " at " + rows[0].phone);
		await fs.writeFile("/artifacts/customers.csv", rows.map(r => [r.email, r.phone, r.card_number].join(",")).join("\n"));
		const again = await callMCPTool("database__query", {query: "SELECT id FROM customers WHERE email = '" + rows[7].email + "'"});
		return {rows, again};`
	for name, provider := range map[string]func(*llmtest.Server) func(*Config){
		"anthropic": func(s *llmtest.Server) func(*Config) {
			return func(c *Config) {
				c.LLMProvider, c.LLMAPIKey, c.LLMBaseURL, c.LLMModel = "anthropic", "key", s.AnthropicURL(), "m"
			}
		},
		"openai": func(s *llmtest.Server) func(*Config) {
			return func(c *Config) {
				c.LLMProvider, c.LLMAPIKey, c.LLMBaseURL, c.LLMModel = "openai", "key", s.OpenAIURL(), "m"
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arguments, err := json.Marshal(map[string]string{"language": "javascript", "code": script})
			if err != nil {
				t.Fatal(err)
			}
			model := llmtest.NewServer(t,
				llmtest.Turn{Calls: []llm.Call{{ID: "c1", Name: "list_mcp_tools", Arguments: `{"query":"sql"}`}, {ID: "c2", Name: "get_mcp_tool_details", Arguments: `{"name":"database__query"}`}}},
				llmtest.Turn{Calls: []llm.Call{{ID: "c3", Name: "execute_code", Arguments: string(arguments)}}},
				llmtest.Turn{Text: "The first customer is in the file."},
			)
			c := openSystem(t, provider(model))
			var customers []map[string]any
			c.query(t, "SELECT * FROM customers ORDER BY id LIMIT 200", &customers)
			first, _ := customers[0]["email"].(string)
			answer := c.task(t, "user123", "List our customers. Ask "+first+" first.")
			if answer.Status != "completed" {
				t.Fatalf("ended %s: %+v", answer.Status, answer.Error)
			}
			var sent strings.Builder
			for _, body := range model.Requests() {
				sent.Write(body)
			}
			for _, row := range customers {
				for _, column := range []string{"email", "phone", "ssn", "card_number", "last_login_ip"} {
					if value, ok := row[column].(string); ok && value != "" && strings.Contains(sent.String(), value) {
						t.Errorf("the model was sent a customer's %s", column)
					}
				}
			}
			if !strings.Contains(sent.String(), "[EMAIL_1_") {
				t.Error("the model was sent no token")
			}
			if !strings.Contains(string(answer.Output), first) {
				t.Error("the user's output does not hold the real address")
			}
			if !strings.Contains(string(answer.Output), `"again":[{"id":8}]`) {
				t.Errorf("the tool was not given the real address: %.300s", answer.Output[max(0, len(answer.Output)-300):])
			}
			if file := c.download(t, "user123", "customers.csv"); !strings.Contains(file, first) {
				t.Errorf("the artifact does not hold the real address: %.200s", file)
			}
		})
	}
}
