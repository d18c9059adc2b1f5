package mcpserver

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The tools, resources and prompts that the protocol's conformance suite asks a server
// for, beside airlock's own. What they prove is how messages travel.

var (
	onePixel = base64.StdEncoding.EncodeToString([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x02\x00\x00\x00\x90wS\xde\x00\x00\x00\x0cIDATx\x9cc\xf8\xcf\xc0\x00\x00\x03\x01\x01\x00\xc9\xfe\x92\xef\x00\x00\x00\x00IEND\xaeB`\x82"))
	silence  = base64.StdEncoding.EncodeToString([]byte("RIFF$\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00D\xac\x00\x00\x88X\x01\x00\x02\x00\x10\x00data\x00\x00\x00\x00"))
)

// addFixtures adds what the suite asks for.
func addFixtures(f *Server) {
	server.WithCompletions()(f.mcp)
	none := `{"type":"object","properties":{}}`
	for _, tool := range []struct {
		name, schema string
		serve        func(context.Context, call) (*mcp.CallToolResult, error)
	}{
		{"test_simple_text", none, contents(said("This is a simple text response for testing."))},
		{"test_image_content", none, contents(mcp.NewImageContent(onePixel, "image/png"))},
		{"test_audio_content", none, contents(mcp.NewAudioContent(silence, "audio/wav"))},
		{"test_embedded_resource", none, contents(embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."))},
		{"test_multiple_content_types", none, contents(
			said("Multiple content types test:"), mcp.NewImageContent(onePixel, "image/png"),
			embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`),
		)},
		{"test_tool_with_logging", none, logs},
		{"test_tool_with_progress", none, progresses},
		{"test_error_handling", none, func(context.Context, call) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultError("This tool intentionally returns an error for testing"), nil
		}},
		{"test_sampling", `{"type":"object","properties":{"prompt":{"type":"string"}},"required":["prompt"]}`, samples},
		{"test_elicitation", `{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}`, func(ctx context.Context, c call) (*mcp.CallToolResult, error) {
			return elicits(ctx, c, c.request.GetString("message", ""), "User response: %s",
				`{"type":"object","properties":{"username":{"type":"string","description":"User's response"},"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`)
		}},
		{"test_elicitation_sep1034_defaults", none, func(ctx context.Context, c call) (*mcp.CallToolResult, error) {
			return elicits(ctx, c, "Please confirm", "Elicitation completed: %s",
				`{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}`)
		}},
		{"test_elicitation_sep1330_enums", none, func(ctx context.Context, c call) (*mcp.CallToolResult, error) {
			return elicits(ctx, c, "Please choose", "Elicitation completed: %s", enumsSchema)
		}},
		{"test_reconnection", none, func(_ context.Context, c call) (*mcp.CallToolResult, error) {
			detach(c.session)
			return mcp.NewToolResultText("Reconnection test completed successfully"), nil
		}},
		{"json_schema_2020_12_tool", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false}`, contents(said("ok"))},
	} {
		f.mcp.AddTool(mcp.Tool{Name: tool.name, Description: "A tool of the conformance suite.", RawInputSchema: json.RawMessage(tool.schema)},
			func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return tool.serve(ctx, call{server.ClientSessionFromContext(ctx).(*session), r})
			})
	}
	addFixtureResources(f)
	addFixturePrompts(f)
}

const enumsSchema = `{"type":"object","properties":{
	"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
	"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
	"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
	"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
	"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}`

func said(text string) mcp.Content { return mcp.NewTextContent(text) }

func embedded(uri, kind, text string) mcp.Content {
	return mcp.NewEmbeddedResource(mcp.TextResourceContents{URI: uri, MIMEType: kind, Text: text})
}

func contents(all ...mcp.Content) func(context.Context, call) (*mcp.CallToolResult, error) {
	return func(context.Context, call) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: all}, nil
	}
}

// between is the pause that the suite asks for between two notifications.
const between = 50 * time.Millisecond

func logs(ctx context.Context, c call) (*mcp.CallToolResult, error) {
	for i, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
		if i > 0 {
			time.Sleep(between) //nolint:forbidigo // the suite asks for notifications with time between them
		}
		if mcp.LoggingLevelInfo.ShouldSendTo(c.GetLogLevel()) {
			c.notify(ctx, string(mcp.MethodNotificationMessage), map[string]any{"level": mcp.LoggingLevelInfo, "data": line})
		}
	}
	return mcp.NewToolResultText("done"), nil
}

func progresses(ctx context.Context, c call) (*mcp.CallToolResult, error) {
	for i, progress := range []int{0, 50, 100} {
		if i > 0 {
			time.Sleep(between) //nolint:forbidigo // the suite asks for notifications with time between them
		}
		if meta := c.request.Params.Meta; meta != nil && meta.ProgressToken != nil {
			c.notify(ctx, string(mcp.MethodNotificationProgress), map[string]any{"progressToken": meta.ProgressToken, "progress": progress, "total": 100})
		}
	}
	return mcp.NewToolResultText("done"), nil
}

func samples(ctx context.Context, c call) (*mcp.CallToolResult, error) {
	answer, err := c.ask(ctx, string(mcp.MethodSamplingCreateMessage), map[string]any{
		"messages":  []any{map[string]any{"role": "user", "content": said(c.request.GetString("prompt", ""))}},
		"maxTokens": 100,
	})
	if err != nil {
		return nil, err
	}
	var got struct{ Content struct{ Text string } }
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, err
	}
	return mcp.NewToolResultText("LLM response: " + got.Content.Text), nil
}

func elicits(ctx context.Context, c call, message, format, schema string) (*mcp.CallToolResult, error) {
	answer, err := c.ask(ctx, string(mcp.MethodElicitationCreate), map[string]any{"message": message, "requestedSchema": json.RawMessage(schema)})
	if err != nil {
		return nil, err
	}
	var got struct {
		Action  string
		Content json.RawMessage
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return nil, err
	}
	return mcp.NewToolResultText(fmt.Sprintf(format, fmt.Sprintf("action=%s, content=%s", got.Action, got.Content))), nil
}

func addFixtureResources(f *Server) {
	read := func(c mcp.ResourceContents) server.ResourceHandlerFunc {
		return func(context.Context, mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			return []mcp.ResourceContents{c}, nil
		}
	}
	f.mcp.AddResource(mcp.NewResource("test://static-text", "static text", mcp.WithResourceDescription("A text"), mcp.WithMIMEType("text/plain")),
		read(mcp.TextResourceContents{URI: "test://static-text", MIMEType: "text/plain", Text: "This is the content of the static text resource."}))
	f.mcp.AddResource(mcp.NewResource("test://static-binary", "static picture", mcp.WithResourceDescription("A picture"), mcp.WithMIMEType("image/png")),
		read(mcp.BlobResourceContents{URI: "test://static-binary", MIMEType: "image/png", Blob: onePixel}))
	f.mcp.AddResource(mcp.NewResource("test://watched-resource", "watched", mcp.WithResourceDescription("A text to watch"), mcp.WithMIMEType("text/plain")),
		read(mcp.TextResourceContents{URI: "test://watched-resource", MIMEType: "text/plain", Text: "watched"}))
	f.mcp.AddResourceTemplate(mcp.NewResourceTemplate("test://template/{id}/data", "template", mcp.WithTemplateMIMEType("application/json")),
		func(_ context.Context, r mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
			id, ok := r.Params.Arguments["id"].([]string)
			if !ok || len(id) != 1 {
				return nil, errors.New("no id")
			}
			text := fmt.Sprintf(`{"id":%q,"templateTest":true,"data":"Data for ID: %s"}`, id[0], id[0])
			return []mcp.ResourceContents{mcp.TextResourceContents{URI: r.Params.URI, MIMEType: "application/json", Text: text}}, nil
		})
}

func addFixturePrompts(f *Server) {
	prompt := func(name string, make func(map[string]string) []mcp.Content, arguments ...string) {
		options := []mcp.PromptOption{mcp.WithPromptDescription("A prompt of the conformance suite.")}
		for _, a := range arguments {
			options = append(options, mcp.WithArgument(a, mcp.RequiredArgument(), mcp.ArgumentDescription("An argument.")))
		}
		f.mcp.AddPrompt(mcp.NewPrompt(name, options...), func(_ context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			result := &mcp.GetPromptResult{}
			for _, c := range make(r.Params.Arguments) {
				result.Messages = append(result.Messages, mcp.PromptMessage{Role: mcp.RoleUser, Content: c})
			}
			return result, nil
		})
	}
	prompt("test_simple_prompt", func(map[string]string) []mcp.Content {
		return []mcp.Content{said("This is a simple prompt for testing.")}
	})
	prompt("test_prompt_with_arguments", func(a map[string]string) []mcp.Content {
		return []mcp.Content{said(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))}
	}, "arg1", "arg2")
	prompt("test_prompt_with_embedded_resource", func(a map[string]string) []mcp.Content {
		return []mcp.Content{
			embedded(a["resourceUri"], "text/plain", "Embedded resource content for testing."),
			said("Please process the embedded resource above."),
		}
	}, "resourceUri")
	prompt("test_prompt_with_image", func(map[string]string) []mcp.Content {
		return []mcp.Content{mcp.NewImageContent(onePixel, "image/png"), said("Please analyze the image above.")}
	})
}

// detach closes the connection of the session's newest call, as a network does.
func detach(s *session) {
	s.mu.Lock()
	newest := s.streams[len(s.streams)-1]
	s.mu.Unlock()
	newest.mu.Lock()
	defer newest.mu.Unlock()
	newest.taken()
}
