package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	traces "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
)

// receiver takes spans as a collector does.
type receiver struct {
	mu    sync.Mutex // guards all below
	raw   bytes.Buffer
	spans []*traces.Span
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	var sent collector.ExportTraceServiceRequest
	if err != nil || request.URL.Path != "/v1/traces" || proto.Unmarshal(body, &sent) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.raw.Write(body)
	for _, resource := range sent.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
}

// TestTracesTellWhatRanAndNothingPersonal lets a model work with personal values in
// every place that a span could be made of.
func TestTracesTellWhatRanAndNothingPersonal(t *testing.T) {
	t.Parallel()
	const user, value, spoken = "ann.canary@example.org", "bob.canary@example.net", "canary-word"
	script, err := json.Marshal(map[string]string{"language": "javascript", "code": `
		await callMCPTool("database__query", {query: "SELECT '` + value + `' AS x"});
		try { await callMCPTool("` + spoken + `", {}) } catch {}
		console.log("` + value + `"); throw new Error("` + spoken + ` ` + value + `")`})
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.NewServer(t,
		llmtest.Turn{Calls: []llm.Call{{ID: "c1", Name: "execute_code", Arguments: string(script)}}},
		llmtest.Turn{Text: "It is " + spoken + "."},
	)
	r := &receiver{}
	listener := httptest.NewServer(r)
	defer listener.Close()
	c := openSystem(t, func(c *Config) {
		c.LLMProvider, c.LLMAPIKey, c.LLMBaseURL, c.LLMModel = "openai", "key", model.OpenAIURL(), "m"
		c.OTLPEndpoint = listener.URL
	})
	if answer := c.task(t, user, "Write to "+value+" of the "+spoken); answer.Status != "completed" {
		t.Fatalf("ended %s: %+v", answer.Status, answer.Error)
	}
	c.close() // sends what is left
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, canary := range []string{user, value, spoken, "ann.canary", "bob.canary", "SELECT"} {
		if bytes.Contains(r.raw.Bytes(), []byte(canary)) {
			t.Errorf("the spans hold %q", canary)
		}
	}
	parents := map[string]string{}
	byID := map[string]string{}
	for _, s := range r.spans {
		byID[string(s.GetSpanId())] = s.GetName()
	}
	for _, s := range r.spans {
		parents[s.GetName()] = byID[string(s.GetParentSpanId())]
	}
	for name, parent := range map[string]string{
		"invoke_agent airlock": "", "chat m": "invoke_agent airlock", "execute_code": "invoke_agent airlock",
		"execute_tool database__query": "execute_code",
	} {
		if got, ok := parents[name]; !ok || got != parent {
			t.Errorf("the span %q is there: %v, in %q; want it in %q; all: %v", name, ok, got, parent, parents)
		}
	}
	var about strings.Builder
	for _, s := range r.spans {
		about.WriteString(s.GetName() + ": ")
		for _, a := range s.GetAttributes() {
			about.WriteString(a.GetKey() + "=" + a.GetValue().String() + " ")
		}
		about.WriteString("\n")
	}
	for _, want := range []string{`gen_ai.operation.name=string_value:"chat"`, `gen_ai.usage.output_tokens=`, `airlock.execution.status=string_value:"error"`, `gen_ai.tool.name=string_value:"database__query"`} {
		if !strings.Contains(strings.ReplaceAll(about.String(), `:  "`, `:"`), want) {
			t.Errorf("no span has %s: %s", want, about.String())
		}
	}
}
