package llmtest

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"airlock/orchestrator/llm"
)

func (c contract) endings(t *testing.T) {
	t.Parallel()
	for _, reason := range []llm.StopReason{llm.StopEnd, llm.StopLength, llm.StopRefusal, llm.StopOther} {
		if got := c.ask(t, Turn{Text: "So far", Stop: reason}); got.Stop != reason || got.Text != "So far" {
			t.Errorf("ended by %q, got %+v", reason, got)
		}
	}
	if got := c.ask(t, Turn{Text: "I will", Stop: llm.StopTools}); got.Stop != llm.StopEnd {
		t.Errorf("tools were reported and none called: stop reason %q", got.Stop)
	}
	cut := c.ask(t, Turn{Text: "Look:", Stop: llm.StopLength, Calls: []llm.Call{{ID: "a", Name: "execute_code", Arguments: `{"code":"retu`}}})
	if cut.Stop != llm.StopLength || len(cut.Calls) != 0 {
		t.Errorf("a call cut at the length limit: %+v", cut)
	}
}

// whole is a turn that a fault spoils at its very end.
func whole(f Fault) Turn {
	return Turn{Text: "Look:", Calls: []llm.Call{{ID: "a", Name: "execute_code", Arguments: `{"code":"return 1"}`}}, Fault: f}
}

func (c contract) faults(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]Fault{"ends": {Truncate: true}, "breaks": {Break: true}} {
		t.Run("a stream that "+name+" early is truncated", func(t *testing.T) {
			t.Parallel()
			if got := c.ask(t, whole(fault)); !errors.Is(got.Err, llm.ErrTruncated) || got.Text != "Look:" {
				t.Errorf("got %+v", got)
			}
		})
	}
	unparsed := whole(Fault{})
	unparsed.Calls[0].Arguments = `{"code":"canary-7f3a`
	list := whole(Fault{})
	list.Calls[0].Arguments = `["canary-7f3a"]`
	for name, tt := range map[string]struct {
		turn  Turn
		code  string
		retry bool
	}{
		"an error within the stream":         {whole(Fault{ErrorEvent: true, Code: "overloaded_error", Message: Canary}), "overloaded_error", true},
		"an unknown error within":            {whole(Fault{ErrorEvent: true, Code: "what canary-7f3a says", Message: Canary}), "", true},
		"a lasting error within":             {whole(Fault{ErrorEvent: true, Code: "invalid_request_error"}), "invalid_request_error", false},
		"a chunk that is not JSON":           {whole(Fault{Garbage: true}), "invalid_response", true},
		"arguments that are not JSON":        {unparsed, "invalid_response", true},
		"arguments that are not an object":   {list, "invalid_response", true},
		"arguments of a call without a name": {Turn{Calls: []llm.Call{{ID: "a", Arguments: `{}`}}}, "invalid_response", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.ask(t, tt.turn)
			fault := asError(t, got.Err)
			if fault.Status != http.StatusOK || fault.Retry != tt.retry || fault.Hint == "" {
				t.Errorf("got %+v", fault)
			}
			if tt.code != "" && fault.Code != tt.code {
				t.Errorf("code %q, want %q", fault.Code, tt.code)
			}
		})
	}
}

func asError(t *testing.T, err error) *llm.Error {
	t.Helper()
	fault := (*llm.Error)(nil)
	if !errors.As(err, &fault) {
		t.Fatalf("error %v (%T), want *llm.Error", err, err)
	}
	if fault.Provider == "" {
		t.Errorf("the error does not name its provider: %+v", fault)
	}
	return fault
}

func (c contract) statuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault Fault
		want  llm.Error
	}{
		"too many requests":        {RateLimited(7 * time.Second), llm.Error{Status: 429, Retry: true, After: 7 * time.Second}},
		"a very long wait":         {RateLimited(1000 * time.Hour), llm.Error{Status: 429, Retry: true, After: 24 * time.Hour}},
		"overloaded":               {Overloaded(), llm.Error{Status: 529, Retry: true}},
		"server error":             {Fault{Status: 500}, llm.Error{Status: 500, Retry: true}},
		"bad gateway":              {Fault{Status: 502}, llm.Error{Status: 502, Retry: true}},
		"bad key":                  {Fault{Status: 401}, llm.Error{Status: 401}},
		"forbidden":                {Fault{Status: 403}, llm.Error{Status: 403}},
		"bad request":              {Fault{Status: 400}, llm.Error{Status: 400}},
		"no such model":            {Fault{Status: 404}, llm.Error{Status: 404}},
		"no quota":                 {Fault{Status: 429, Code: "insufficient_quota"}, llm.Error{Status: 429, Code: "insufficient_quota"}},
		"context length":           {Fault{Status: 400, Message: "prompt is too long: 210000 tokens > 200000 maximum"}, llm.Error{Status: 400, Code: "context_length_exceeded"}},
		"context length of a body": {Fault{Status: 413}, llm.Error{Status: 413, Code: "context_length_exceeded"}},
		"context length by code":   {Fault{Status: 400, Code: "context_length_exceeded"}, llm.Error{Status: 400, Code: "context_length_exceeded"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.fault.Message += " " + Canary
			fault := asError(t, c.ask(t, Turn{Fault: tt.fault}).Err)
			if fault.Status != tt.want.Status || fault.Retry != tt.want.Retry || fault.After != tt.want.After || fault.Hint == "" {
				t.Errorf("got %+v", fault)
			}
			if tt.want.Code != "" && fault.Code != tt.want.Code {
				t.Errorf("code %q, want %q", fault.Code, tt.want.Code)
			}
			if long := strings.HasPrefix(name, "context length"); errors.Is(fault, llm.ErrTooLong) != long {
				t.Errorf("too long a conversation: %v, want %v", !long, long)
			}
		})
	}
}

func (c contract) waiting(t *testing.T) {
	t.Parallel()
	held := func() *Server { return NewServer(t, Turn{Hold: make(chan struct{})}) }

	patience := target(held())
	patience.Idle = 50 * time.Millisecond
	got := Collect(c.build(t, patience).Stream(t.Context(), question()))
	if fault := asError(t, got.Err); !fault.Retry || fault.Code != "timeout" {
		t.Errorf("silence: %+v", fault)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if got := Collect(c.build(t, target(held())).Stream(ctx, question())); !errors.Is(got.Err, context.DeadlineExceeded) {
		t.Errorf("deadline: %v", got.Err)
	}

	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	stream := c.build(t, target(NewServer(t, Turn{Text: "long enough to come in pieces"}))).Stream(ctx, question())
	texts, last := 0, error(nil)
	for event, err := range stream {
		if _, ok := event.(llm.TextDelta); ok && texts == 0 {
			texts++
			leave()
		}
		last = err
	}
	if last != nil && !errors.Is(last, context.Canceled) {
		t.Errorf("cancelled: %v", last)
	}

	s := NewServer(t, Turn{Text: "long enough to come in pieces"})
	for _, err := range c.build(t, target(s)).Stream(t.Context(), question()) {
		if err != nil {
			t.Errorf("left early: %v", err)
		}
		break // the server's end would wait for a request that did not end
	}
}

func (c contract) addresses(t *testing.T) {
	t.Parallel()
	s := NewServer(t, Turn{Text: "unwanted"})
	answer := func(handler http.HandlerFunc) *llm.Error {
		other := httptest.NewServer(handler)
		defer other.Close()
		at := Target{AnthropicURL: other.URL, OpenAIURL: other.URL + "/v1", Client: other.Client()}
		got := Collect(c.build(t, at).Stream(t.Context(), question()))
		checkAnswer(t, got)
		return asError(t, got.Err)
	}
	moved := answer(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, s.AnthropicURL()+r.URL.Path, http.StatusTemporaryRedirect)
	})
	if moved.Code != "redirect" || moved.Retry || len(s.Requests()) != 0 {
		t.Errorf("a redirect: %+v; %d requests followed it", moved, len(s.Requests()))
	}
	page := answer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<p>Welcome</p>"))
	})
	if page.Code != "not_a_stream" || page.Retry {
		t.Errorf("a web page: %+v", page)
	}
	gone := httptest.NewServer(nil)
	gone.Close()
	at := Target{AnthropicURL: gone.URL, OpenAIURL: gone.URL + "/v1", Client: &http.Client{Transport: &http.Transport{}}}
	got := Collect(c.build(t, at).Stream(t.Context(), question()))
	checkAnswer(t, got)
	if fault := asError(t, got.Err); fault.Status != 0 || !fault.Retry || fault.Cause == nil {
		t.Errorf("nobody there: %+v", fault)
	}
}
