package anthropic

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/anthropics/anthropic-sdk-go/v2/packages/param"

	"airlock/orchestrator/llm"
)

// params translates a request. Nothing is set that the request or the provider
// does not need: models refuse settings they do not know.
func (p *Provider) params(r llm.Request) (sdk.MessageNewParams, error) {
	params := sdk.MessageNewParams{Model: r.Model, MaxTokens: int64(r.MaxTokens)}
	if params.Model == "" {
		params.Model = p.model
	}
	if params.MaxTokens == 0 {
		params.MaxTokens = int64(p.maxTokens)
	}
	if !r.System.IsZero() {
		params.System = []sdk.TextBlockParam{{Text: r.System.String()}}
	}
	for _, t := range r.Tools {
		tool, err := toolParam(t)
		if err != nil {
			return sdk.MessageNewParams{}, err
		}
		params.Tools = append(params.Tools, sdk.ToolUnionParam{OfTool: tool})
	}
	for _, m := range r.Messages {
		if blocks := blocksOf(m, origin(params.Model)); len(blocks) > 0 {
			params.Messages = append(params.Messages, messageOf(m.Role, blocks))
		}
	}
	markForCache(&params)
	return params, nil
}

func messageOf(role llm.Role, blocks []sdk.ContentBlockParamUnion) sdk.MessageParam {
	if role == llm.Assistant {
		return sdk.NewAssistantMessage(blocks...)
	}
	return sdk.NewUserMessage(blocks...)
}

func toolParam(t llm.Tool) (*sdk.ToolParam, error) {
	schema := t.InputSchema.String()
	if !strings.HasPrefix(strings.TrimSpace(schema), "{") || !json.Valid([]byte(schema)) {
		return nil, fmt.Errorf("tool %q: its input schema is not a JSON object", t.Name)
	}
	tool := &sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](json.RawMessage(schema))}
	if !t.Description.IsZero() {
		tool.Description = sdk.String(t.Description.String())
	}
	return tool, nil
}

// blocksOf translates a message's parts. Results come first, as the API wants;
// blank texts, which it refuses, and other models' blocks are left out.
func blocksOf(m llm.Message, origin string) []sdk.ContentBlockParamUnion {
	var results, others []sdk.ContentBlockParamUnion
	for _, part := range m.Parts {
		switch part := part.(type) {
		case llm.Text:
			if strings.TrimSpace(part.Text.String()) != "" {
				others = append(others, sdk.NewTextBlock(part.Text.String()))
			}
		case llm.ToolUse:
			others = append(others, sdk.NewToolUseBlock(plainID(part.ID), object(part.Arguments.String()), part.Name))
		case llm.ToolResult:
			results = append(results, resultBlock(part))
		case llm.Opaque:
			if data, ours := part.For(origin); ours {
				others = append(others, param.Override[sdk.ContentBlockParamUnion](json.RawMessage(data)))
			}
		}
	}
	return slices.Concat(results, others)
}

func resultBlock(r llm.ToolResult) sdk.ContentBlockParamUnion {
	block := &sdk.ToolResultBlockParam{ToolUseID: plainID(r.ID)}
	if r.IsError {
		block.IsError = sdk.Bool(true)
	}
	if strings.TrimSpace(r.Content.String()) != "" {
		block.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: r.Content.String()}}}
	}
	return sdk.ContentBlockParamUnion{OfToolResult: block}
}

// foreign are the characters that ids must not have; those of calls that another
// provider made may have them.
var foreign = regexp.MustCompile(`[^a-zA-Z0-9_-]`)

func plainID(id string) string { return foreign.ReplaceAllString(id, "_") }

// object is what a tool was called with; what is no object was no call.
func object(arguments string) json.RawMessage {
	if strings.HasPrefix(strings.TrimSpace(arguments), "{") && json.Valid([]byte(arguments)) {
		return json.RawMessage(arguments)
	}
	return json.RawMessage("{}")
}

// markForCache asks to cache what the next turn begins with: tools and system,
// and the conversation up to each of the last two messages of the user. The older
// mark is where this turn finds what the one before it stored.
func markForCache(p *sdk.MessageNewParams) {
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = sdk.NewCacheControlEphemeralParam()
	} else if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	marks := 2
	for _, m := range slices.Backward(p.Messages) {
		if m.OfUser == nil {
			continue
		}
		blocks := m.OfUser.Content
		if control := blocks[len(blocks)-1].GetCacheControl(); control != nil {
			*control = sdk.NewCacheControlEphemeralParam()
		}
		if marks--; marks == 0 {
			return
		}
	}
}
