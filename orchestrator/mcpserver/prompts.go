package mcpserver

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"airlock/pii"
)

// errPrompt is what a host is told; the reason is in the log.
var errPrompt = errors.New("the prompt cannot be made; the server's log says why")

func (f *Server) prompts() []server.ServerPrompt {
	return []server.ServerPrompt{{
		Prompt: mcp.NewPrompt("agent_system_prompt",
			mcp.WithPromptDescription("How to work with airlock by scripts, and the skills that may fit a task."),
			mcp.WithArgument("task", mcp.ArgumentDescription("What the user wants, to find skills for it.")),
		),
		Handler: f.systemPrompt,
	}}
}

func (f *Server) systemPrompt(ctx context.Context, r mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	s := server.ClientSessionFromContext(ctx).(*session)
	prompt, err := s.talks.SystemPrompt(pii.NewRaw(r.Params.Arguments["task"]))
	if err != nil {
		f.log.Error("the system prompt cannot be made", zap.Error(err))
		return nil, errPrompt
	}
	return &mcp.GetPromptResult{
		Description: "How to work with airlock",
		Messages:    []mcp.PromptMessage{{Role: mcp.RoleUser, Content: text(prompt)}},
	}, nil
}
