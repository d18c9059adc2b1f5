package llmtest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"airlock/orchestrator/llm"
)

// openaiWire writes the chunks of OpenAI's chat completions; reasoning goes as
// "reasoning_content", as vLLM and others send it.
type openaiWire struct{}

func (openaiWire) opening(_ int, t Turn) []chunk {
	chunks := []chunk{openaiChunk(object{"role": "assistant", "content": ""}, nil)}
	for _, piece := range pieces(t.Reasoning, pieceBytes) {
		chunks = append(chunks, openaiChunk(object{"reasoning_content": piece}, nil))
	}
	for _, piece := range pieces(t.Text, pieceBytes) {
		chunks = append(chunks, openaiChunk(object{"content": piece}, nil))
	}
	for i, call := range t.Calls {
		chunks = append(chunks, t.openaiCall(i, call)...)
	}
	return chunks
}

func openaiChunk(delta object, finish any) chunk {
	return chunk{data: object{
		"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1, "model": "scripted",
		"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
	}}
}

// openaiCall starts with id and name; the pieces that follow have an index only.
func (t Turn) openaiCall(index int, call llm.Call) []chunk {
	first := object{"index": index, "type": "function", "function": object{"name": call.Name, "arguments": ""}}
	if call.ID != "" {
		first["id"] = call.ID
	}
	if t.Fault.ArgumentsAsObject {
		first["function"] = object{"name": call.Name, "arguments": json.RawMessage(call.Arguments)}
		return []chunk{openaiChunk(object{"tool_calls": []any{first}}, nil)}
	}
	chunks := []chunk{openaiChunk(object{"tool_calls": []any{first}}, nil)}
	for _, piece := range t.argumentPieces(call) {
		next := object{"index": index, "function": object{"arguments": piece}}
		chunks = append(chunks, openaiChunk(object{"tool_calls": []any{next}}, nil))
	}
	return chunks
}

func (openaiWire) closing(t Turn, usage bool) []chunk {
	reason := map[llm.StopReason]string{
		llm.StopEnd: "stop", llm.StopTools: "tool_calls", llm.StopLength: "length",
		llm.StopRefusal: "content_filter", llm.StopOther: "unheard_of",
	}[t.stop()]
	chunks := []chunk{openaiChunk(object{}, cmp.Or(t.Fault.FinishReason, reason))}
	if u := t.usage(); usage {
		chunks = append(chunks, chunk{data: object{
			"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "choices": []any{},
			"usage": object{
				"prompt_tokens": u.InputTokens, "completion_tokens": u.OutputTokens, "total_tokens": u.InputTokens + u.OutputTokens,
				"prompt_tokens_details": object{"cached_tokens": u.CachedTokens},
			},
		}})
	}
	return append(chunks, chunk{data: "[DONE]"})
}

func (openaiWire) failure(status int, f Fault) chunk {
	code := map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "invalid_api_key",
		http.StatusNotFound: "model_not_found", http.StatusTooManyRequests: "rate_limit_exceeded",
	}[status]
	code = cmp.Or(f.Code, code, "server_error")
	kind := code
	if !strings.HasSuffix(kind, "_error") {
		kind = "requests"
	}
	return chunk{data: object{"error": object{
		"message": cmp.Or(f.Message, "scripted failure"), "type": kind, "param": nil, "code": code,
	}}}
}
