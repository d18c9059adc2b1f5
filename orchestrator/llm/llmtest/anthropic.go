package llmtest

import (
	"cmp"
	"encoding/json"
	"net/http"

	"airlock/orchestrator/llm"
)

// anthropicWire writes the events of Anthropic's Messages API.
type anthropicWire struct{}

func (anthropicWire) opening(n int, t Turn) []chunk {
	usage := t.usage()
	chunks := []chunk{typed("message_start", object{"message": object{
		"id": callID(n, 0), "type": "message", "role": "assistant", "model": "scripted", "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": object{"input_tokens": usage.InputTokens - usage.CachedTokens, "cache_read_input_tokens": usage.CachedTokens, "cache_creation_input_tokens": 0, "output_tokens": 1},
	}}), typed("ping", object{})}
	index := 0
	add := func(start object, deltas ...object) {
		chunks = append(chunks, anthropicBlock(index, start, deltas)...)
		index++
	}
	if t.Reasoning != "" {
		add(object{"type": "thinking", "thinking": "", "signature": ""}, thinkingDeltas(t.Reasoning)...)
	}
	if t.Redacted != "" {
		add(object{"type": "redacted_thinking", "data": t.Redacted})
	}
	if t.Text != "" {
		add(object{"type": "text", "text": ""}, deltas("text_delta", "text", pieces(t.Text, pieceBytes))...)
	}
	for _, call := range t.Calls {
		start, rest := t.anthropicCall(call)
		add(start, rest...)
	}
	return chunks
}

// Signature is what a Server signs reasoning with.
const Signature = "c2lnbmVkK2FuZC9zZWFsZWQ="

func thinkingDeltas(thought string) []object {
	return append(deltas("thinking_delta", "thinking", pieces(thought, pieceBytes)),
		deltas("signature_delta", "signature", pieces(Signature, pieceBytes))...)
}

func deltas(kind, field string, texts []string) []object {
	list := make([]object, len(texts))
	for i, text := range texts {
		list[i] = object{"type": kind, field: text}
	}
	return list
}

func (t Turn) anthropicCall(call llm.Call) (object, []object) {
	start := object{"type": "tool_use", "name": call.Name, "input": object{}}
	if call.ID != "" {
		start["id"] = call.ID
	}
	if t.Fault.ArgumentsAsObject {
		start["input"] = json.RawMessage(call.Arguments)
		return start, nil
	}
	// The first piece is empty, as the real API sends it.
	return start, append(deltas("input_json_delta", "partial_json", []string{""}), deltas("input_json_delta", "partial_json", t.argumentPieces(call))...)
}

func anthropicBlock(index int, start object, deltas []object) []chunk {
	chunks := []chunk{typed("content_block_start", object{"index": index, "content_block": start})}
	for _, delta := range deltas {
		chunks = append(chunks, typed("content_block_delta", object{"index": index, "delta": delta}))
	}
	return append(chunks, typed("content_block_stop", object{"index": index}))
}

func (anthropicWire) closing(t Turn, _ bool) []chunk {
	reason := map[llm.StopReason]string{
		llm.StopEnd: "end_turn", llm.StopTools: "tool_use", llm.StopLength: "max_tokens",
		llm.StopRefusal: "refusal", llm.StopOther: "pause_turn",
	}[t.stop()]
	return []chunk{
		typed("message_delta", object{
			"delta": object{"stop_reason": cmp.Or(t.Fault.FinishReason, reason), "stop_sequence": nil},
			"usage": object{"output_tokens": t.usage().OutputTokens},
		}),
		typed("message_stop", object{}),
	}
}

func (anthropicWire) failure(status int, f Fault) chunk {
	code := map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error",
		http.StatusForbidden: "permission_error", http.StatusNotFound: "not_found_error",
		http.StatusTooManyRequests: "rate_limit_error", http.StatusOK: "overloaded_error", statusOverloaded: "overloaded_error",
	}[status]
	return typed("error", object{"error": object{
		"type": cmp.Or(f.Code, code, "api_error"), "message": cmp.Or(f.Message, "scripted failure"),
	}})
}

// typed is an event whose data repeats its type.
func typed(event string, data object) chunk {
	data["type"] = event
	return chunk{event: event, data: data}
}
