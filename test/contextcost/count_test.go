// Package contextcost counts what a model must read: before it says its first
// word, and over a whole task, with airlock and with all tools loaded as
// definitions. The requests are those that the orchestrator really makes; tokens
// are counted by a real tokenizer.
package contextcost

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"airlock/orchestrator/llm"
)

// The vocabulary of OpenAI's current models. Those of other providers split text
// otherwise, but both ways are counted by the same one.
var codec = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.O200kBase) })

func tokens(tb testing.TB, text string) int {
	tb.Helper()
	c, err := codec()
	if err != nil {
		tb.Fatal(err)
	}
	n, err := c.Count(text)
	if err != nil {
		tb.Fatal(err)
	}
	return n
}

// function is a tool as a model is told of it. The same form is counted on both
// sides; providers differ in its names only.
type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

func (f function) tokens(tb testing.TB) int {
	tb.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		tb.Fatal(err)
	}
	return tokens(tb, string(text))
}

// requestTokens counts all that one request tells a model.
func requestTokens(tb testing.TB, r llm.Request) int {
	tb.Helper()
	sum := tokens(tb, r.System.String())
	for _, t := range r.Tools {
		sum += function{t.Name, t.Description.String(), json.RawMessage(t.InputSchema.String())}.tokens(tb)
	}
	for _, m := range r.Messages {
		for _, part := range m.Parts {
			switch p := part.(type) {
			case llm.Text:
				sum += tokens(tb, p.Text.String())
			case llm.ToolUse:
				sum += tokens(tb, p.Name) + tokens(tb, p.Arguments.String())
			case llm.ToolResult:
				sum += tokens(tb, p.Content.String())
			default:
				tb.Fatalf("a part of type %T is not counted", part)
			}
		}
	}
	return sum
}
