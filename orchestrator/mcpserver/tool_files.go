package mcpserver

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"airlock/orchestrator"
	"airlock/pii"
)

func readFile(ctx context.Context, c call) *mcp.CallToolResult {
	var in struct {
		Path   string `json:"file_path"`
		Offset int    `json:"offset"`
		Count  int    `json:"line_count"`
	}
	if refused := c.decode(&in); refused != nil {
		return refused
	}
	part, err := c.talks.ReadFile(in.Path, in.Offset, in.Count)
	if err != nil {
		return c.failed(ctx, "read the file", err)
	}
	result, err := c.object(map[string]any{
		"text": part.Text, "first_line": part.First + 1, "lines": part.Lines, "total_lines": part.Total,
	})
	if err != nil {
		return c.failed(ctx, "read the file", err)
	}
	answer := structured(result)
	answer.Content = []mcp.Content{text(part.Text)}
	if note := partNote(part); note != "" {
		told, err := c.talks.Tell(pii.NewRaw(note))
		if err != nil {
			return c.failed(ctx, "read the file", err)
		}
		answer.Content = append(answer.Content, text(told))
	}
	return answer
}

// partNote tells that there is more, and how to get it.
func partNote(p orchestrator.FilePart) string {
	end := p.First + p.Lines
	switch {
	case p.Cut:
		return fmt.Sprintf("Line %d of %d is too long and cut here; read it by a script.", p.First+1, p.Total)
	case end < p.Total:
		return fmt.Sprintf("Lines %d to %d of %d; go on with offset %d.", p.First+1, end, p.Total, end)
	case p.Lines == 0 && p.Total > 0:
		return fmt.Sprintf("The file has %d lines.", p.Total)
	}
	return ""
}

func writeFile(ctx context.Context, c call) *mcp.CallToolResult {
	var in struct {
		Path    string `json:"file_path"`
		Content string `json:"content"`
	}
	if refused := c.decode(&in); refused != nil {
		return refused
	}
	written, err := c.talks.WriteFile(ctx, in.Path, in.Content)
	if err != nil {
		return c.failed(ctx, "write the file", err)
	}
	if len(written.Artifacts) > 0 || len(written.Saved) > 0 {
		c.face.changed(c.user, written.Artifacts)
	}
	fields := map[string]any{"written": true}
	if len(written.Refused) > 0 {
		fields["skills_refused"] = written.Refused
	}
	result, err := c.object(fields)
	if err != nil {
		return c.failed(ctx, "write the file", err)
	}
	answer := structured(result)
	answer.IsError = len(written.Refused) > 0
	for _, a := range written.Artifacts {
		answer.Content = append(answer.Content, artifactLink(a))
	}
	return answer
}

func readDocstring(ctx context.Context, c call) *mcp.CallToolResult {
	var in struct {
		Path     string `json:"file_path"`
		Function string `json:"function_name"`
	}
	if refused := c.decode(&in); refused != nil {
		return refused
	}
	found, err := c.talks.Docstring(in.Path, in.Function)
	if err != nil {
		return c.failed(ctx, "read the docstring", err)
	}
	result, err := c.object(map[string]any{"docstring": found})
	if err != nil {
		return c.failed(ctx, "read the docstring", err)
	}
	answer := structured(result)
	answer.Content = []mcp.Content{text(found)}
	return answer
}
