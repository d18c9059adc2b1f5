package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"go.uber.org/zap"

	"airlock/discovery"
	"airlock/pii"
	"airlock/servers"
)

// Describe tells all about one tool: the JSON {"name","title","description",
// "inputSchema","outputSchema","annotations","signature","resultType"}. An *Error
// says that there is none of this name, with the nearest ones, or that its server
// failed.
func (b *Bridge) Describe(ctx context.Context, v Viewer, name string) (pii.Tokenized, error) {
	if !v.Scope.Allows(name) {
		return pii.Tokenized{}, refusal(v.Vault, originScript, scopeRefusal(v.Vault, name))
	}
	tool, err := b.options.Upstreams.Tool(ctx, servers.Caller{User: v.User, Session: v.Session}, name)
	switch {
	case errors.Is(err, servers.ErrUnknownTool), err == nil && tool.FullName() != name:
		return pii.Tokenized{}, b.unknownTool(ctx, v, name)
	case ctx.Err() != nil:
		return pii.Tokenized{}, fmt.Errorf("describe a tool: %w", context.Cause(ctx))
	case errors.Is(err, servers.ErrTimeout):
		return pii.Tokenized{}, errTooSlow()
	case err != nil:
		return pii.Tokenized{}, serverFailed(v.Vault, err)
	}
	return b.describe(v, found{tool: tool})
}

// unknownTool names the tools that could have been meant, of those that the
// viewer may see.
func (b *Bridge) unknownTool(ctx context.Context, v Viewer, name string) *Error {
	hint := "list the tools with list_mcp_tools"
	seen, _ := b.see(ctx, v)
	index, err := seen.indexed()
	if err != nil {
		b.logOf(v).Warn("tools cannot be indexed", zap.Error(err))
	} else if near := index.Nearest(name, maxNearest); len(near) > 0 {
		hint = "nearest names: " + listed(near) + "; " + hint
	}
	return refusal(v.Vault, originScript, Error{http.StatusNotFound, "unknown_tool", "there is no tool " + echo(v.Vault, name), hint})
}

// description is everything about one tool. Absent parts are left out.
type description struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  annotations     `json:"annotations,omitzero"`
	Signature    string          `json:"signature"`
	ResultType   resultType      `json:"resultType,omitempty"`
	*rank
}

// resultType says where the type of the result in a signature comes from.
type resultType string

const (
	declaredResult resultType = "declared" // by the server
	observedResult resultType = "observed" // in results so far
)

type annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// describe tokenizes the schemas before they become a signature, since that is
// made of their text, and the whole once more: tokenizing changes no token.
func (b *Bridge) describe(v Viewer, f found) (pii.Tokenized, error) {
	d, err := b.definition(v, f.tool)
	if err != nil {
		return pii.Tokenized{}, err
	}
	told := description{
		Name: f.tool.FullName(), Title: d.Title, Description: d.Description,
		InputSchema: jsonOrNothing(d.InputSchema), OutputSchema: jsonOrNothing(d.OutputSchema),
		Annotations: annotations(f.tool.Annotations), rank: f.rank,
		Signature: discovery.Signature(f.tool.FullName(), d.InputSchema, d.OutputSchema),
	}
	switch {
	case told.OutputSchema != nil:
		told.ResultType = declaredResult
	case d.Observed != "":
		told.ResultType = observedResult
		told.Signature = discovery.ObservedSignature(told.Name, d.InputSchema, d.Observed)
	}
	return tokenizeJSON(v.Vault, f.tool.Server, told)
}

// definition is a tool as it may be shown, but for tokenizing of its title and
// description: cleaned of what no reader sees, with tokens in its schemas.
func (b *Bridge) definition(v Viewer, tool servers.Tool) (discovery.Definition, error) {
	from := pii.OriginServer(tool.Server)
	var schemas [2]pii.Tokenized
	for i, raw := range []pii.Raw{tool.InputSchema, tool.OutputSchema} {
		var err error
		if schemas[i], err = v.Vault.Tokenize(pii.NewRaw(string(discovery.CleanSchema([]byte(inClear(raw))))), from); err != nil {
			return discovery.Definition{}, err
		}
	}
	d := discovery.Definition{
		Name:  tool.Name,
		Title: discovery.CleanDescription(inClear(tool.Title)), Description: discovery.CleanDescription(inClear(tool.Description)),
		InputSchema: []byte(schemas[0].String()), OutputSchema: []byte(schemas[1].String()),
	}
	if !declaresResult(tool) {
		d.OutputSchema, d.Observed = nil, b.shapes.of(v.User, tool.FullName())
	}
	return d, nil
}

func jsonOrNothing(text []byte) json.RawMessage {
	if json.Valid(text) {
		return text
	}
	return nil
}
