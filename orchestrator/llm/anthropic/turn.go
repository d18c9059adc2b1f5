package anthropic

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/internal/wire"
)

// turn gathers the blocks of one answer. Text goes out as it comes until the
// first tool is called; from there on everything waits for the turn's end, so
// that no call of a broken turn is ever seen and the order of blocks stays.
type turn struct {
	origin  string
	blocks  map[int64]*block
	waiting []llm.Event
	ids     wire.IDs
	calls   int
	spoke   bool
	usage   llm.Usage
	reason  sdk.StopReason
	bad     error // of a call that did not parse
}

// block is a content block that is under way.
type block struct {
	kind                string
	raw                 json.RawMessage // as it started
	id, name            string
	thinking, signature strings.Builder
	arguments           strings.Builder
}

// newTurn begins an answer of origin that follows so many messages.
func newTurn(origin string, messages int) *turn {
	return &turn{origin: origin, ids: wire.NewIDs(messages), blocks: map[int64]*block{}}
}

// take returns what an event adds to the answer.
func (t *turn) take(e sdk.MessageStreamEventUnion) ([]llm.Event, error) {
	switch e.Type {
	case "message_start":
		t.count(e.Message.Usage)
		return []llm.Event{t.usage}, nil
	case "message_delta":
		t.recount(e.Usage)
		if e.Delta.StopReason != "" {
			t.reason = e.Delta.StopReason
		}
	case "content_block_start":
		return t.start(e.Index, e.ContentBlock)
	case "content_block_delta":
		return t.add(e.Index, e.Delta)
	case "content_block_stop":
		return t.finish(e.Index)
	}
	return nil, nil
}

func (t *turn) count(u sdk.Usage) {
	t.usage.InputTokens = int(u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens)
	t.usage.CachedTokens = int(u.CacheReadInputTokens)
	t.usage.OutputTokens = int(u.OutputTokens)
}

// recount takes totals. Counts of the input are repeated by some servers only.
func (t *turn) recount(u sdk.MessageDeltaUsage) {
	if u.JSON.InputTokens.Valid() && u.InputTokens > 0 {
		t.usage.InputTokens = int(u.InputTokens + u.CacheCreationInputTokens + u.CacheReadInputTokens)
		t.usage.CachedTokens = int(u.CacheReadInputTokens)
	}
	if u.JSON.OutputTokens.Valid() {
		t.usage.OutputTokens = int(u.OutputTokens)
	}
}

func (t *turn) start(index int64, started sdk.ContentBlockStartEventContentBlockUnion) ([]llm.Event, error) {
	b := &block{kind: started.Type, raw: json.RawMessage(started.RawJSON()), id: started.ID, name: started.Name}
	t.blocks[index] = b
	if b.kind == "text" && started.Text != "" {
		return t.text(started.Text), nil
	}
	return nil, nil
}

func (t *turn) add(index int64, d sdk.MessageStreamEventUnionDelta) ([]llm.Event, error) {
	b := t.blocks[index]
	if b == nil {
		return nil, endpoint.Unreadable("a part of a block that had not begun")
	}
	switch d.Type {
	case "text_delta":
		return t.text(d.Text), nil
	case "thinking_delta":
		b.thinking.WriteString(d.Thinking)
	case "signature_delta":
		b.signature.WriteString(d.Signature)
	case "input_json_delta":
		b.arguments.WriteString(d.PartialJSON)
	}
	return nil, nil
}

func (t *turn) text(s string) []llm.Event {
	t.spoke = true
	return t.emit(llm.TextDelta{Text: s})
}

// emit passes an event on, or has it wait behind a call.
func (t *turn) emit(e llm.Event) []llm.Event {
	if t.calling() {
		t.waiting = append(t.waiting, e)
		return nil
	}
	return []llm.Event{e}
}

func (t *turn) calling() bool { return t.calls > 0 || t.bad != nil }

// finish closes a block. Closing one twice adds nothing.
func (t *turn) finish(index int64) ([]llm.Event, error) {
	b := t.blocks[index]
	delete(t.blocks, index)
	switch {
	case b == nil:
		return nil, nil
	case b.kind == "thinking" || b.kind == "redacted_thinking":
		data, err := b.verbatim()
		if err != nil {
			return nil, endpoint.Unreadable("a block that is not JSON")
		}
		return t.emit(llm.Reasoning{Block: llm.NewOpaque(t.origin, data)}), nil
	case b.kind == "tool_use":
		t.call(b)
	}
	return nil, nil
}

// verbatim is the block as the API wants it back: as it started, with what was
// streamed into it.
func (b *block) verbatim() ([]byte, error) {
	if b.thinking.Len() == 0 && b.signature.Len() == 0 {
		return b.raw, nil
	}
	fields := map[string]any{}
	if err := json.Unmarshal(b.raw, &fields); err != nil {
		return nil, err
	}
	for field, streamed := range map[string]string{"thinking": b.thinking.String(), "signature": b.signature.String()} {
		before, _ := fields[field].(string)
		fields[field] = before + streamed
	}
	return json.Marshal(fields)
}

// call adds a call to what waits. One that did not parse fails the turn, unless
// the turn was cut at its length: then it is just not there.
func (t *turn) call(b *block) {
	raw := b.arguments.String()
	if strings.TrimSpace(raw) == "" {
		raw = b.startInput() // from servers that send arguments whole
	}
	arguments, err := wire.Arguments(raw)
	if err != nil || b.name == "" {
		t.bad = endpoint.Unreadable("a tool call whose arguments are not a JSON object")
		return
	}
	t.calls++
	t.waiting = append(t.waiting, llm.Call{ID: t.ids.Of(b.id), Name: b.name, Arguments: arguments})
}

// startInput is the input that the block began with.
func (b *block) startInput() string {
	var started struct {
		Input json.RawMessage `json:"input"`
	}
	_ = json.Unmarshal(b.raw, &started) // what does not parse has no input
	return string(started.Input)
}

// end returns what waited, and how the turn ended.
func (t *turn) end() ([]llm.Event, error) {
	reason := stopReason(t.reason)
	switch {
	case reason == "":
		return nil, llm.ErrTruncated
	case t.reason == sdk.StopReasonModelContextWindowExceeded:
		return nil, endpoint.TooLong()
	}
	for _, index := range slices.Sorted(maps.Keys(t.blocks)) { // not every server closes its blocks
		events, err := t.finish(index)
		if err != nil {
			return nil, err
		}
		t.waiting = append(t.waiting, events...)
	}
	if t.bad != nil && reason != llm.StopLength {
		return nil, t.bad
	}
	return append(t.waiting, t.usage, llm.Stop{Reason: wire.Stop(reason, t.calls, t.spoke)}), nil
}

func stopReason(r sdk.StopReason) llm.StopReason {
	switch r {
	case "":
		return ""
	case sdk.StopReasonEndTurn, sdk.StopReasonStopSequence:
		return llm.StopEnd
	case sdk.StopReasonToolUse:
		return llm.StopTools
	case sdk.StopReasonMaxTokens:
		return llm.StopLength
	case sdk.StopReasonRefusal:
		return llm.StopRefusal
	default:
		return llm.StopOther
	}
}
