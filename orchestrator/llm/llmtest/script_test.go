package llmtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"airlock/orchestrator/llm"
	"airlock/pii"
)

func TestScriptAnswersTurnByTurnAndRecordsTheRequests(t *testing.T) {
	t.Parallel()
	script := NewScript(
		Turn{Text: "Let me look.", Calls: []llm.Call{{Name: "execute_code", Arguments: `{}`}}},
		Turn{Text: "größer als zuvor"},
	)
	first := Collect(script.Stream(t.Context(), llm.Request{System: pii.Static("one")}))
	if first.Text != "Let me look." || first.Stop != llm.StopTools || first.Err != nil {
		t.Errorf("first turn: %+v", first)
	}
	if len(first.Calls) != 1 || first.Calls[0].ID == "" {
		t.Errorf("a call without an id got none: %+v", first.Calls)
	}
	second := Collect(script.Stream(t.Context(), llm.Request{System: pii.Static("two")}))
	if second.Text != "größer als zuvor" || second.Stop != llm.StopEnd {
		t.Errorf("second turn: %+v", second)
	}
	third := Collect(script.Stream(t.Context(), llm.Request{}))
	if !errors.Is(third.Err, ErrScriptOver) {
		t.Errorf("third turn: error %v, want ErrScriptOver", third.Err)
	}
	requests := script.Requests()
	if len(requests) != 3 || requests[1].System.String() != "two" {
		t.Errorf("recorded %d requests", len(requests))
	}
}

func TestScriptKeepsMessagesAsTheyWereWhenAsked(t *testing.T) {
	t.Parallel()
	script := NewScript(Turn{Text: "a"})
	messages := []llm.Message{{Role: llm.User}}
	Collect(script.Stream(t.Context(), llm.Request{Messages: messages}))
	messages[0].Role = llm.Assistant
	if got := script.Requests()[0].Messages[0].Role; got != llm.User {
		t.Errorf("the recorded message changed with the caller's slice: %s", got)
	}
}

func TestScriptEndsWithItsErrorAfterItsText(t *testing.T) {
	t.Parallel()
	got := Collect(NewScript(Turn{Text: "half of", Err: llm.ErrTruncated}).Stream(t.Context(), llm.Request{}))
	if got.Text != "half of" || !errors.Is(got.Err, llm.ErrTruncated) || got.Stop != "" {
		t.Errorf("got %+v", got)
	}
}

func TestScriptHoldsUntilToldOrUntilTheRequestEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never := make(chan struct{})
	if got := Collect(NewScript(Turn{Hold: never}).Stream(ctx, llm.Request{})); !errors.Is(got.Err, context.Canceled) {
		t.Errorf("cancelled while held: %v", got.Err)
	}
	done := make(chan struct{})
	close(done)
	if got := Collect(NewScript(Turn{Hold: done, Text: "now"}).Stream(t.Context(), llm.Request{})); got.Text != "now" {
		t.Errorf("released: %+v", got)
	}
}

func TestScriptFuncSeesTheRequest(t *testing.T) {
	t.Parallel()
	script := NewScriptFunc(func(r llm.Request) Turn { return Turn{Text: "model " + r.Model} })
	if got := Collect(script.Stream(t.Context(), llm.Request{Model: "m"})); got.Text != "model m" {
		t.Errorf("got %q", got.Text)
	}
}

func TestPiecesJoinToTheWholeAndKeepRunes(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "a", "1234567", "12345678", "ääääääää", "日本語のテキスト"} {
		for size := 1; size < 9; size++ {
			parts := pieces(s, size)
			if strings.Join(parts, "") != s {
				t.Errorf("pieces(%q, %d) = %q", s, size, parts)
			}
			for _, part := range parts {
				if !utf8.ValidString(part) {
					t.Errorf("pieces(%q, %d) tears a rune: %q", s, size, part)
				}
			}
		}
	}
}
