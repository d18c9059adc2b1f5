package openai

import (
	"encoding/json"
	"maps"
	"slices"

	sdk "github.com/openai/openai-go/v3"
)

// kept is what a server sent beside text and calls and wants back as it was. It
// is the content of this driver's opaque blocks.
type kept struct {
	// Message has the fields of the assistant's message for reasoning.
	Message map[string]json.RawMessage `json:"message,omitempty"`
	// Calls has, by the call's id, its extra_content: Gemini signs calls there, and
	// refuses them without.
	Calls map[string]json.RawMessage `json:"calls,omitempty"`
}

func (k kept) empty() bool { return len(k.Message) == 0 && len(k.Calls) == 0 }

// restore puts everything back where it was.
func (k kept) restore(m *sdk.ChatCompletionAssistantMessageParam) {
	if len(k.Message) > 0 {
		m.SetExtraFields(anyOf(k.Message))
	}
	for _, call := range m.ToolCalls {
		if extra, ok := k.Calls[call.OfFunction.ID]; ok {
			call.OfFunction.SetExtraFields(map[string]any{"extra_content": extra})
		}
	}
}

// unsigned is what Gemini takes in place of the signature of a call that another model
// made: without any it refuses the conversation
// (https://ai.google.dev/gemini-api/docs/thought-signatures).
var unsigned = map[string]any{"google": map[string]string{"thought_signature": "skip_thought_signature_validator"}}

// excuse marks the first call of a message from elsewhere. Gemini signs the first call
// of a message only, and its messages have kept something.
func (k kept) excuse(m *sdk.ChatCompletionAssistantMessageParam) {
	if k.empty() && len(m.ToolCalls) > 0 {
		m.ToolCalls[0].OfFunction.SetExtraFields(map[string]any{"extra_content": unsigned})
	}
}

func anyOf(fields map[string]json.RawMessage) map[string]any {
	values := make(map[string]any, len(fields))
	for name, value := range fields {
		values[name] = value
	}
	return values
}

// reasoning gathers the pieces of the fields that servers send reasoning in:
// texts (vLLM, DeepSeek, Ollama) and lists of blocks (LiteLLM, OpenRouter).
type reasoning struct {
	texts map[string]string
	lists map[string][]block
}

// block is one block of a list, whatever its fields are.
type block map[string]any

// add takes one piece of a field; what is neither text nor list is left out.
func (r *reasoning) add(field string, piece json.RawMessage) {
	var text string
	if json.Unmarshal(piece, &text) == nil {
		if text != "" {
			r.texts[field] += text
		}
		return
	}
	var list []block
	if json.Unmarshal(piece, &list) != nil {
		return
	}
	for _, next := range list {
		if n := len(r.lists[field]); n == 0 || !r.lists[field][n-1].grow(next) {
			r.lists[field] = append(r.lists[field], next)
		}
	}
}

// streamed are the fields of blocks that come in pieces.
var streamed = []string{"text", "thinking", "summary", "data", "signature"}

// grow adds next to b if both are pieces of one block: a signature ends one.
func (b block) grow(next block) bool {
	if b["type"] != next["type"] || !sameIndex(b, next) || text(b["signature"]) != "" {
		return false
	}
	for field, value := range next {
		if slices.Contains(streamed, field) {
			value = text(b[field]) + text(value)
		}
		if value != nil {
			b[field] = value
		}
	}
	return true
}

// sameIndex compares numbers, so that values of odd types are not compared.
func sameIndex(a, b block) bool {
	x, _ := a["index"].(float64)
	y, _ := b["index"].(float64)
	return x == y
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// fields are the whole fields, in JSON.
func (r *reasoning) fields() map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	put := func(name string, value any) {
		if data, err := json.Marshal(value); err == nil {
			fields[name] = data
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.texts)) {
		put(name, r.texts[name])
	}
	for _, name := range slices.Sorted(maps.Keys(r.lists)) {
		put(name, r.lists[name])
	}
	return fields
}
