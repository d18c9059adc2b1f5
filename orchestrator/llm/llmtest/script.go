package llmtest

import (
	"context"
	"iter"
	"slices"
	"sync"

	"airlock/orchestrator/llm"
)

// Script is an llm.Provider that answers from a list of turns. It may be asked
// from any number of goroutines; turns go out in the order of the requests.
type Script struct {
	answer func(n int, r llm.Request) (Turn, error)

	mu       sync.Mutex // guards requests
	requests []llm.Request
}

// NewScript answers the n-th request with the n-th turn, and any further one
// with ErrScriptOver.
func NewScript(turns ...Turn) *Script {
	return &Script{answer: func(n int, _ llm.Request) (Turn, error) {
		if n >= len(turns) {
			return Turn{}, ErrScriptOver
		}
		return turns[n], nil
	}}
}

// NewScriptFunc answers each request with what answer makes of it, for tests in
// which several conversations share a provider. It must be safe for concurrent use.
func NewScriptFunc(answer func(r llm.Request) Turn) *Script {
	return &Script{answer: func(_ int, r llm.Request) (Turn, error) { return answer(r), nil }}
}

// Requests returns what was asked so far, in order.
func (s *Script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// record keeps r and returns how many came before it. The messages are cloned,
// since an agent may go on appending to its slice.
func (s *Script) record(r llm.Request) int {
	r.Messages = slices.Clone(r.Messages)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	return len(s.requests) - 1
}

// Stream answers with the next turn. Text comes in small pieces.
func (s *Script) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		n := s.record(r)
		turn, err := s.answer(n, r)
		if err == nil {
			err = turn.hold(ctx)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for _, e := range turn.events(n) {
			if !yield(e, nil) {
				return
			}
		}
		if turn.Err != nil {
			yield(nil, turn.Err)
			return
		}
		yield(llm.Stop{Reason: turn.stop()}, nil)
	}
}

// hold waits as the turn asks, and not longer than ctx lasts.
func (t Turn) hold(ctx context.Context) error {
	if t.Hold != nil {
		select {
		case <-t.Hold:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// events are those of the turn but its end.
func (t Turn) events(n int) []llm.Event {
	var events []llm.Event
	if t.Reasoning != "" {
		events = append(events, llm.Reasoning{Block: llm.NewOpaque("script", []byte(t.Reasoning))})
	}
	for _, piece := range pieces(t.Text, pieceBytes) {
		events = append(events, llm.TextDelta{Text: piece})
	}
	for i, call := range t.Calls {
		if call.ID == "" {
			call.ID = callID(n, i)
		}
		events = append(events, call)
	}
	return append(events, t.usage())
}
