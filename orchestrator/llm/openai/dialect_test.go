package openai

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
)

// dialect is what a file of testdata/dialects says of a turn.
type dialect struct {
	Text  string
	Calls []llm.Call
	Stop  llm.StopReason
	Usage llm.Usage
	// Error is how the turn fails.
	Error *struct {
		Status    int
		Code      string
		Retry     bool
		AfterMs   int64
		Truncated bool
		TooLong   bool
	}
}

// TestDialectsOnTheWire plays what servers really send, byte by byte, over HTTP. Each
// file of testdata/dialects says which server and where the facts are from, and has
// the answer ("turn", with "status" if it is not 200), what the turn is ("want.json"),
// and the assistant's message as it goes back with the next request ("back.json").
func TestDialectsOnTheWire(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/dialects/*.txtar")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string][]byte{}
			for _, f := range archive.Files {
				parts[f.Name] = f.Data
			}
			checkDialect(t, parts)
		})
	}
}

func checkDialect(t *testing.T, parts map[string][]byte) {
	t.Helper()
	var want dialect
	if err := json.Unmarshal(parts["want.json"], &want); err != nil {
		t.Fatal(err)
	}
	server := newRecorded(t, parts)
	p := newProvider(t, llmtest.Target{OpenAIURL: server.url + "/v1", Client: server.client})
	asked := llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.Text{Text: pii.Static("Go on.")}}}}}
	got := llmtest.Collect(p.Stream(t.Context(), asked))
	if want.Error != nil {
		checkDialectError(t, got, want)
		return
	}
	if got.Err != nil || got.Text != want.Text || got.Stop != want.Stop || got.Usage != want.Usage || !reflect.DeepEqual(got.Calls, want.Calls) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	llmtest.Collect(p.Stream(t.Context(), nextRequest(asked, got)))
	server.checkBack(t, parts["back.json"])
}

func checkDialectError(t *testing.T, got llmtest.Answer, want dialect) {
	t.Helper()
	if len(got.Calls) > 0 {
		t.Errorf("calls of a broken turn: %+v", got.Calls)
	}
	e := want.Error
	if e.Truncated {
		if got.Err != llm.ErrTruncated { //nolint:errorlint // it holds nothing else
			t.Errorf("got %v, want a truncated turn", got.Err)
		}
		return
	}
	fault, ok := got.Err.(*llm.Error) //nolint:errorlint // nothing is wrapped around it
	if !ok || fault.Status != e.Status || fault.Code != e.Code || fault.Retry != e.Retry || fault.After.Milliseconds() != e.AfterMs || errors.Is(fault, llm.ErrTooLong) != e.TooLong {
		t.Errorf("got %+v, want %+v", got.Err, e)
	}
}

// nextRequest is the request that follows the turn, with a result for each call.
func nextRequest(r llm.Request, turn llmtest.Answer) llm.Request {
	said, results := llm.Message{Role: llm.Assistant}, llm.Message{Role: llm.User}
	for _, block := range turn.Reasoning {
		said.Parts = append(said.Parts, block)
	}
	var vault pii.Vault // what the model wrote needs no values here
	if turn.Text != "" {
		said.Parts = append(said.Parts, llm.Text{Text: vault.FromModel(turn.Text)})
	}
	for _, c := range turn.Calls {
		said.Parts = append(said.Parts, llm.ToolUse{ID: c.ID, Name: c.Name, Arguments: vault.FromModel(c.Arguments)})
		results.Parts = append(results.Parts, llm.ToolResult{ID: c.ID, Content: pii.Static("1")})
	}
	results.Parts = append(results.Parts, llm.Text{Text: pii.Static("Go on.")})
	r.Messages = append(r.Messages, said, results)
	return r
}

// recorded is a server that answers as a file says.
type recorded struct {
	url    string
	client *http.Client

	mu   sync.Mutex // guards last
	last []byte
}

func newRecorded(t *testing.T, parts map[string][]byte) *recorded {
	t.Helper()
	r := &recorded{}
	status := http.StatusOK
	if text := strings.TrimSpace(string(parts["status"])); text != "" {
		var err error
		if status, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var body json.RawMessage
		if err := json.NewDecoder(request.Body).Decode(&body); err != nil {
			t.Errorf("the request is not JSON: %v", err)
		}
		r.mu.Lock()
		r.last = body
		r.mu.Unlock()
		w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream; charset=utf-8", false: "application/json"}[status == http.StatusOK])
		w.WriteHeader(status)
		_, _ = w.Write(parts["turn"]) // a client that left shows in the test's answer
	}))
	t.Cleanup(server.Close)
	r.url, r.client = server.URL, server.Client()
	return r
}

// checkBack compares the assistant's message of the last request.
func (r *recorded) checkBack(t *testing.T, want []byte) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var body struct{ Messages []map[string]any }
	var expected map[string]any
	if err := json.Unmarshal(want, &expected); err != nil {
		t.Fatalf("back.json: %v", err)
	}
	if err := json.Unmarshal(r.last, &body); err != nil || len(body.Messages) < 2 {
		t.Fatalf("the next request: %v\n%s", err, r.last)
	}
	if !reflect.DeepEqual(body.Messages[1], expected) {
		got, _ := json.Marshal(body.Messages[1]) // of decoded JSON
		t.Errorf("what goes back is\n%s\nwant\n%s", got, want)
	}
}
