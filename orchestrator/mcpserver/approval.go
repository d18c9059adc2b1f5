package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"airlock/bridge"
	"airlock/pii"
)

// maxAskedBytes bounds what of a call's arguments its user is shown.
const maxAskedBytes = 4 << 10

// errUndecided refuses a call whose question the user closed.
var errUndecided = errors.New("the user did not decide")

// approve asks the host's user before a call that needs consent, where the host can
// ask. The user is shown tokens, as the host's model is: what the host shows and
// keeps is not ours.
func (c call) approve(ctx context.Context, r bridge.ApprovalRequest) error {
	if c.GetClientCapabilities().Elicitation == nil {
		return bridge.ErrNobodyToAsk
	}
	question, err := c.question(r)
	if err != nil {
		return err
	}
	answer, err := c.ask(ctx, string(mcp.MethodElicitationCreate), map[string]any{
		"message": question, "requestedSchema": json.RawMessage(`{"type":"object","properties":{}}`),
	})
	switch {
	case errors.Is(err, errNoWay), errors.Is(err, errFailed):
		return bridge.ErrNobodyToAsk
	case err != nil:
		return err
	}
	var decided struct {
		Action mcp.ElicitationResponseAction `json:"action"`
	}
	if err := json.Unmarshal(answer, &decided); err != nil {
		return fmt.Errorf("the host's answer to a question: %w", errUndecided)
	}
	switch decided.Action {
	case mcp.ElicitationResponseActionAccept:
		return nil
	case mcp.ElicitationResponseActionDecline:
		return bridge.ErrDenied
	default:
		return errUndecided
	}
}

// question says what is asked for and what it would give away.
func (c call) question(r bridge.ApprovalRequest) (pii.Tokenized, error) {
	words := fmt.Sprintf("A script wants to call the tool %s of the server %s.", r.Tool, r.Server)
	if len(r.Releases) > 0 {
		words += fmt.Sprintf(" The server would get real values of: %v, which came from: %v.", r.Releases, r.Origins)
	}
	head, err := c.talks.Tell(pii.NewRaw(words + " Accept to allow this call. Its arguments: "))
	if err != nil {
		return pii.Tokenized{}, err
	}
	return pii.Join(head, pii.Cut(r.Arguments, maxAskedBytes)), nil
}
