package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"airlock/bridge"
	"airlock/orchestrator"
	"airlock/pii"
	"airlock/workspace"
)

// text is a block of text for the host's model.
func text(t pii.Tokenized) mcp.TextContent {
	return mcp.TextContent{Type: mcp.ContentTypeText, Text: t.String()}
}

// structured is a result that is a JSON object, beside the same as text for hosts
// that show text only.
func structured(object pii.Tokenized) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{text(object)}, StructuredContent: json.RawMessage(object.String())}
}

// object puts fields into a JSON object. The fields' texts are tokenized, so that
// what they make together is.
func (s *session) object(fields any) (pii.Tokenized, error) {
	data, err := json.Marshal(fields)
	if err != nil {
		return pii.Tokenized{}, fmt.Errorf("encode a result: %w", err)
	}
	return s.talks.Tell(pii.NewRaw(string(data)))
}

// refusal is a result that says what went wrong and what to do, for the model to mend.
// The words may hold something of the model's, or of a server's.
func (s *session) refusal(message, hint string) *mcp.CallToolResult {
	if hint != "" {
		message += ". Hint: " + hint
	}
	told, err := s.talks.Tell(pii.NewRaw(message))
	if err != nil {
		told = pii.Static("the call failed, and why cannot be told")
	}
	return &mcp.CallToolResult{Content: []mcp.Content{text(told)}, IsError: true}
}

// failed puts an error of the conversation into words for the model. One that is not
// known is told in general terms, and in the log.
func (s *session) failed(ctx context.Context, what string, err error) *mcp.CallToolResult {
	var refused *bridge.Error
	switch {
	case ctx.Err() != nil:
		return s.refusal(what+": cancelled", "")
	case errors.As(err, &refused):
		return s.refusal(refused.Message, refused.Hint)
	case errors.Is(err, orchestrator.ErrLanguage):
		return s.refusal(what+": no sandbox here runs that language", languageHint)
	case errors.Is(err, orchestrator.ErrFull), errors.Is(err, orchestrator.ErrClosed), errors.Is(err, orchestrator.ErrCutOff), errors.Is(err, orchestrator.ErrMoved):
		return s.refusal(what+": "+err.Error(), "try again in a minute")
	case errors.Is(err, orchestrator.ErrInvalid), errors.Is(err, orchestrator.ErrTooLarge):
		return s.refusal(what+": "+err.Error(), "")
	case errors.Is(err, orchestrator.ErrBinary):
		return s.refusal(what+": the file is not text", "read it by a script with execute_code")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrInvalid), errors.Is(err, fs.ErrExist),
		errors.Is(err, workspace.ErrTooLarge), errors.Is(err, workspace.ErrQuota):
		return s.refusal(what+": "+err.Error(), pathHint)
	}
	s.face.log.Error("a call of a host failed", zap.String("what", what), zap.Error(err))
	return s.refusal(what+": it failed inside airlock", "try again; the server's log says more")
}

const (
	languageHint = `use javascript, or have the operator set up the docker sandbox (make sandbox-base sandbox-image, then SANDBOX_BACKEND=docker or auto)`
	pathHint     = `paths begin with /workspace, /artifacts, /skills or /tools`
)
