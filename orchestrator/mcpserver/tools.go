package mcpserver

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// call is one call of a tool by a host.
type call struct {
	*session
	request mcp.CallToolRequest
}

// handler serves a tool. The text of an error is told to the host as it is, so
// handlers return none but in results.
func handler(serve func(context.Context, call) *mcp.CallToolResult) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return serve(ctx, call{server.ClientSessionFromContext(ctx).(*session), r}), nil
	}
}

// decode reads the call's arguments, which fit the tool's schema.
func (c call) decode(into any) *mcp.CallToolResult {
	if err := c.request.BindArguments(into); err != nil {
		return c.refusal("the arguments do not fit the tool's schema", "numbers without quotes, and names as in the schema")
	}
	return nil
}

// tools are all that hosts are offered. Their descriptions and schemas are what each
// host pays for with each conversation, so they are short; a test counts them.
func (f *Server) tools() []server.ServerTool {
	no, yes := false, true
	reads := mcp.ToolAnnotation{ReadOnlyHint: &yes}
	changes := mcp.ToolAnnotation{DestructiveHint: &no}
	works := mcp.ToolAnnotation{} // may do all that the tools of the catalog do
	return []server.ServerTool{
		f.tool("execute_code", `Run a script in the sandbox, with the MCP tools as await callMCPTool(name, args). In JavaScript, return the result; in Python, assign it to result.`,
			`{"type":"object","properties":{"language":`+f.languages()+`,"code":{"type":"string"},"timeout":`+seconds+`},"required":["code"]}`,
			executionSchema, works, executeCode),
		f.tool("execute_bash", `Run a bash command in the sandbox; mcp list, mcp show and mcp call reach the MCP tools.`,
			`{"type":"object","properties":{"command":{"type":"string"},"timeout":`+seconds+`},"required":["command"]}`,
			executionSchema, works, executeBash),
		f.tool("read_file", `Read lines of a text file below /workspace, /artifacts, /skills or /tools.`,
			`{"type":"object","properties":{"file_path":{"type":"string"},"offset":{"type":"integer","minimum":0,"description":"lines to skip"},"line_count":{"type":"integer","minimum":1}},"required":["file_path"]}`,
			`{"type":"object","properties":{"text":{"type":"string"},"first_line":{"type":"integer"},"lines":{"type":"integer"},"total_lines":{"type":"integer"}},"required":["text"]}`,
			reads, readFile),
		f.tool("write_file", `Create or replace a text file below /workspace, /artifacts or /skills.`,
			`{"type":"object","properties":{"file_path":{"type":"string"},"content":{"type":"string"}},"required":["file_path","content"]}`,
			`{"type":"object","properties":{"written":{"type":"boolean"},"skills_refused":{"type":"array","items":{"type":"object"}}},"required":["written"]}`,
			changes, writeFile),
		f.tool("read_docstring", `Signature and documentation of one function of a source file, or of a tool declared in /tools/<server>.d.ts or .py.`,
			`{"type":"object","properties":{"file_path":{"type":"string"},"function_name":{"type":"string"}},"required":["file_path","function_name"]}`,
			`{"type":"object","properties":{"docstring":{"type":"string"}},"required":["docstring"]}`,
			reads, readDocstring),
		f.tool("list_mcp_tools", `List or search the MCP tools that scripts can call. With a query, the best; fits=false says that none seems right.`,
			`{"type":"object","properties":{"query":{"type":"string"},"server":{"type":"string"},"limit":{"type":"integer","minimum":1},"detail":{"enum":["name","summary","full"]},"cursor":{"type":"string"}}}`,
			`{"type":"object","properties":{"tools":{"type":"array"},"total":{"type":"integer"},"fits":{"type":"boolean"},"nextCursor":{"type":"string"}}}`,
			reads, listTools),
		f.tool("get_mcp_tool_details", `Describe one MCP tool: schemas and a TypeScript signature.`,
			`{"type":"object","properties":{"name":{"type":"string","description":"server__tool"}},"required":["name"]}`,
			`{"type":"object"}`,
			reads, toolDetails),
	}
}

const (
	seconds         = `{"type":"number","exclusiveMinimum":0,"description":"seconds"}`
	executionSchema = `{"type":"object","properties":{"status":{"type":"string"},"result":{},"stdout":{"type":"string"},"stderr":{"type":"string"},"error":{"type":"object"},"artifacts":{"type":"array","items":{"type":"string"}},"note":{"type":"string"}},"required":["status"]}`
)

func (f *Server) tool(name, description, input, output string, hints mcp.ToolAnnotation, serve func(context.Context, call) *mcp.CallToolResult) server.ServerTool {
	return server.ServerTool{
		Tool: mcp.Tool{
			Name: name, Description: description, RawInputSchema: json.RawMessage(input), RawOutputSchema: json.RawMessage(output), Annotations: hints,
		},
		Handler: handler(serve),
	}
}

// languages is the schema of the languages that run here, the default first.
func (f *Server) languages() string {
	all := []string{}
	for _, l := range f.opts.Service.Languages() {
		if l != "bash" { // has a tool of its own
			all = append(all, string(l))
		}
	}
	slices.SortStableFunc(all, func(a, b string) int {
		switch {
		case a == "javascript":
			return -1
		case b == "javascript":
			return 1
		}
		return 0
	})
	names, _ := json.Marshal(all) // strings always marshal
	return `{"enum":` + string(names) + `,"default":"javascript"}`
}
