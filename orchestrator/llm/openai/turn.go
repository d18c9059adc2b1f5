package openai

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/internal/wire"
)

// completion is one chunk of an answer. Fields that servers fill differently are
// kept raw.
type completion struct {
	Choices []struct {
		Index        int             `json:"index"`
		Delta        json.RawMessage `json:"delta"`
		FinishReason string          `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage          `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type usage struct {
	PromptTokens        int `json:"prompt_tokens"`
	CompletionTokens    int `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
}

// delta is what a chunk adds to the message.
type delta struct {
	Content          *string         `json:"content"`
	Refusal          *string         `json:"refusal"`
	ToolCalls        []callPiece     `json:"tool_calls"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningDetails json.RawMessage `json:"reasoning_details"`
	ThinkingBlocks   json.RawMessage `json:"thinking_blocks"`
}

// turn gathers one answer. Text goes out as it comes; calls are held until the
// turn's end, so that none of a broken turn is ever seen.
type turn struct {
	origin    string
	ids       wire.IDs
	calls     calls
	reasoning reasoning
	usage     llm.Usage
	reason    string
	spoke     bool
	refused   bool
}

func newTurn(origin string, messages int) *turn {
	return &turn{
		origin:    origin,
		ids:       wire.NewIDs(messages),
		reasoning: reasoning{texts: map[string]string{}, lists: map[string][]block{}},
	}
}

// errLeft says that the consumer of the stream wants no more.
var errLeft = errors.New("the consumer left")

// errCall says that a call has no name or its arguments do not parse.
var errCall = errors.New("a tool call is incomplete")

// read takes the stream's events to its end and yields the text.
func (t *turn) read(events ssestream.Decoder, yield func(llm.Event, error) bool) error {
	for events.Next() {
		data := bytes.TrimSpace(events.Event().Data)
		if bytes.Equal(data, []byte("[DONE]")) {
			return nil
		}
		text, err := t.take(data)
		if err != nil {
			return err
		}
		if text != "" && !yield(llm.TextDelta{Text: text}, nil) {
			return errLeft
		}
	}
	return events.Err()
}

// take adds one chunk and returns the text in it.
func (t *turn) take(data []byte) (string, error) {
	if len(data) == 0 {
		return "", nil
	}
	var c completion
	if err := json.Unmarshal(data, &c); err != nil {
		return "", endpoint.Unreadable("a chunk that is not of its form")
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return "", endpoint.EventFault(data)
	}
	if c.Usage != nil {
		t.usage = llm.Usage{InputTokens: c.Usage.PromptTokens, OutputTokens: c.Usage.CompletionTokens, CachedTokens: c.Usage.PromptTokensDetails.CachedTokens}
	}
	for _, choice := range c.Choices {
		if choice.Index != 0 { // we ask for one
			continue
		}
		if choice.FinishReason != "" {
			t.reason = choice.FinishReason
		}
		return t.add(choice.Delta)
	}
	return "", nil
}

// add takes what a chunk adds to the message and returns the text in it.
func (t *turn) add(raw json.RawMessage) (string, error) {
	var d delta
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &d); err != nil {
			return "", endpoint.Unreadable("a message that is not of its form")
		}
	}
	t.reasoning.add("reasoning_content", d.ReasoningContent)
	t.reasoning.add("reasoning", d.Reasoning)
	t.reasoning.add("reasoning_details", d.ReasoningDetails)
	t.reasoning.add("thinking_blocks", d.ThinkingBlocks)
	for _, piece := range d.ToolCalls {
		t.calls.add(piece)
	}
	text := ""
	if d.Content != nil {
		text = *d.Content
	}
	if d.Refusal != nil && *d.Refusal != "" {
		text += *d.Refusal
		t.refused = true
	}
	t.spoke = t.spoke || text != ""
	return text, nil
}

// end yields what was held, and how the turn ended.
func (t *turn) end(yield func(llm.Event, error) bool) {
	events, err := t.rest()
	for _, e := range events {
		if !yield(e, nil) {
			return
		}
	}
	if err != nil {
		yield(nil, err)
	}
}

// rest are the events that follow the text.
func (t *turn) rest() ([]llm.Event, error) {
	reason := t.stopReason()
	if reason == "" {
		return nil, llm.ErrTruncated
	}
	whole, err := t.calls.whole(t.ids)
	if err != nil && reason != llm.StopLength { // cut at its length, a call is just not there
		return nil, endpoint.Unreadable("a tool call whose arguments are not a JSON object")
	}
	var events []llm.Event
	if block, ok := t.keep(whole); ok {
		events = append(events, llm.Reasoning{Block: block})
	}
	for _, c := range whole {
		events = append(events, c.Call)
	}
	return append(events, t.usage, llm.Stop{Reason: wire.Stop(reason, len(whole), t.spoke)}), nil
}

// keep makes the opaque block of what the server wants back.
func (t *turn) keep(whole []finished) (llm.Opaque, bool) {
	k := kept{Message: t.reasoning.fields(), Calls: map[string]json.RawMessage{}}
	for _, c := range whole {
		if c.extra != nil {
			k.Calls[c.ID] = c.extra
		}
	}
	if k.empty() {
		return llm.Opaque{}, false
	}
	data, err := json.Marshal(k)
	if err != nil {
		return llm.Opaque{}, false // of raw JSON that was decoded before
	}
	return llm.NewOpaque(t.origin, data), true
}

func (t *turn) stopReason() llm.StopReason {
	switch {
	case t.reason == "":
		return ""
	case t.refused:
		return llm.StopRefusal
	}
	switch t.reason {
	case "stop", "eos":
		return llm.StopEnd
	case "tool_calls", "function_call":
		return llm.StopTools
	case "length", "max_tokens":
		return llm.StopLength
	case "content_filter":
		return llm.StopRefusal
	default:
		return llm.StopOther
	}
}
