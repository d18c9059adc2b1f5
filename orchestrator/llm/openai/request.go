package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"

	"airlock/orchestrator/llm"
)

// params translates a request. Nothing is set that the request or the provider
// does not need: servers and models refuse settings they do not know.
func (p *Provider) params(r llm.Request) (sdk.ChatCompletionNewParams, error) {
	params := sdk.ChatCompletionNewParams{
		Model:         r.Model,
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: sdk.Bool(true)},
	}
	if params.Model == "" {
		params.Model = p.model
	}
	p.bound(&params, r.MaxTokens)
	for _, t := range r.Tools {
		tool, err := toolParam(t)
		if err != nil {
			return sdk.ChatCompletionNewParams{}, err
		}
		params.Tools = append(params.Tools, tool)
	}
	if !r.System.IsZero() {
		params.Messages = append(params.Messages, sdk.SystemMessage(r.System.String()))
	}
	for _, m := range r.Messages {
		if m.Role == llm.Assistant {
			params.Messages = append(params.Messages, p.assistantMessage(m, p.origin(params.Model))...)
		} else {
			params.Messages = append(params.Messages, userMessages(m)...)
		}
	}
	return params, nil
}

// bound sets the length of the answer by the name that the server knows: OpenAI's
// newer models refuse max_tokens, older servers do not know the other.
func (p *Provider) bound(params *sdk.ChatCompletionNewParams, tokens int) {
	if tokens == 0 {
		tokens = p.maxTokens
	}
	switch {
	case tokens == 0:
	case p.official():
		params.MaxCompletionTokens = sdk.Int(int64(tokens))
	default:
		params.MaxTokens = sdk.Int(int64(tokens))
	}
}

func toolParam(t llm.Tool) (sdk.ChatCompletionToolUnionParam, error) {
	function := shared.FunctionDefinitionParam{Name: t.Name}
	if err := json.Unmarshal([]byte(t.InputSchema.String()), &function.Parameters); err != nil || function.Parameters == nil {
		return sdk.ChatCompletionToolUnionParam{}, fmt.Errorf("tool %q: its input schema is not a JSON object", t.Name)
	}
	if !t.Description.IsZero() {
		function.Description = sdk.String(t.Description.String())
	}
	return sdk.ChatCompletionFunctionTool(function), nil
}

// userMessages are the results of tools, a message each, and then what was said.
func userMessages(m llm.Message) []sdk.ChatCompletionMessageParamUnion {
	var messages []sdk.ChatCompletionMessageParamUnion
	var said []string
	for _, part := range m.Parts {
		switch part := part.(type) {
		case llm.Text:
			said = appendText(said, part)
		case llm.ToolResult:
			content := part.Content.String()
			if part.IsError { // the protocol has no field for it
				content = "Error: " + content
			}
			messages = append(messages, sdk.ToolMessage(content, part.ID))
		}
	}
	if len(said) > 0 {
		messages = append(messages, sdk.UserMessage(strings.Join(said, "\n\n")))
	}
	return messages
}

func appendText(said []string, t llm.Text) []string {
	if strings.TrimSpace(t.Text.String()) == "" {
		return said
	}
	return append(said, t.Text.String())
}

// assistantMessage is one message, or none if there is nothing in it.
func (p *Provider) assistantMessage(m llm.Message, origin string) []sdk.ChatCompletionMessageParamUnion {
	var message sdk.ChatCompletionAssistantMessageParam
	var said []string
	var kept kept
	for _, part := range m.Parts {
		switch part := part.(type) {
		case llm.Text:
			said = appendText(said, part)
		case llm.ToolUse:
			message.ToolCalls = append(message.ToolCalls, callParam(part))
		case llm.Opaque:
			if data, ours := part.For(origin); ours {
				_ = json.Unmarshal(data, &kept) // made by keep
			}
		}
	}
	if len(said) == 0 && len(message.ToolCalls) == 0 {
		return nil
	}
	if len(said) > 0 {
		message.Content.OfString = sdk.String(strings.Join(said, "\n\n"))
	}
	kept.restore(&message)
	if p.host == googleHost {
		kept.excuse(&message)
	}
	return []sdk.ChatCompletionMessageParamUnion{{OfAssistant: &message}}
}

func callParam(u llm.ToolUse) sdk.ChatCompletionMessageToolCallUnionParam {
	arguments := u.Arguments.String()
	if strings.TrimSpace(arguments) == "" {
		arguments = "{}"
	}
	return sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
		ID:       u.ID,
		Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: u.Name, Arguments: arguments},
	}}
}
