package servers

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"airlock/pii"
)

// Answerer answers what a server asks while it serves a call: the user by an
// elicitation, the model by sampling. It may be called concurrently.
type Answerer interface {
	// Answer returns the result to send, in the form that MCP gives for the kind.
	// It goes to the server as it is, so what it may hold is the implementation's
	// decision. The server is told of an error without its text. It returns soon
	// after ctx ends, which over streamable HTTP it does after 30 s.
	Answer(ctx context.Context, q Question) (json.RawMessage, error)
}

// Question is a server's own request.
type Question struct {
	Server string
	// Caller is whose instance asks. An instance for all cannot say on whose
	// behalf, so it is always refused.
	Caller Caller
	Kind   QuestionKind
	Params pii.Raw
}

// QuestionKind says who is asked.
type QuestionKind string

// The kinds of questions, by the names of MCP's methods.
const (
	Elicitation QuestionKind = "elicitation/create"
	Sampling    QuestionKind = "sampling/createMessage"
)

// mayAsk reports whether the server's questions reach anybody. Only then does it
// hear at the handshake that it may ask.
func (c *connection) mayAsk() bool {
	return c.up.manager.options.Answerer != nil && c.up.entry.Instance != instanceShared
}

func (c *connection) capabilities() mcp.ClientCapabilities {
	if !c.mayAsk() {
		return mcp.ClientCapabilities{}
	}
	return mcp.ClientCapabilities{Sampling: &mcp.SamplingCapability{}, Elicitation: &mcp.ElicitationCapability{}}
}

// The reasons for a refusal, in our words.
const (
	notOffered = "this client does not offer that; go on without it"
	tooMany    = "too many requests at once; go on without it"
	noAnswer   = "nobody answered; go on without it"
)

// asked answers a server's own request. Roots are not offered: what a server may
// reach is for its catalog entry to say.
func (c *connection) asked(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	kind := QuestionKind(r.Method)
	switch {
	case r.Method == string(mcp.MethodPing):
		return respond(r, json.RawMessage(`{}`)), nil
	case kind != Elicitation && kind != Sampling, !c.mayAsk():
		return transport.NewJSONRPCErrorResponse(r.ID, mcp.METHOD_NOT_FOUND, notOffered, nil), nil
	}
	select {
	case c.questions <- struct{}{}:
		defer func() { <-c.questions }()
	default:
		return transport.NewJSONRPCErrorResponse(r.ID, mcp.INTERNAL_ERROR, tooMany, nil), nil
	}
	result, err := c.answer(ctx, kind, r.Params)
	if err != nil {
		return transport.NewJSONRPCErrorResponse(r.ID, mcp.INTERNAL_ERROR, noAnswer, nil), nil
	}
	return respond(r, result), nil
}

func respond(r transport.JSONRPCRequest, result json.RawMessage) *transport.JSONRPCResponse {
	return &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: r.ID, Result: result}
}

var errNotJSON = errors.New("the answer is no JSON")

func (c *connection) answer(ctx context.Context, kind QuestionKind, params any) (json.RawMessage, error) {
	text, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	result, err := c.up.manager.options.Answerer.Answer(ctx, Question{
		Server: c.up.entry.Name, Caller: c.owner, Kind: kind, Params: pii.NewRaw(string(text)),
	})
	if err == nil && !json.Valid(result) {
		err = errNotJSON
	}
	return result, err
}
