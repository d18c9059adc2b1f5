package bridge

import (
	"errors"
	"net/http"
	"slices"

	"airlock/pii"
)

// approve asks the user when the catalog says so. The script's time stands still
// until the answer is there.
func (c *call) approve() *Error {
	if !c.entry.Approval(c.tool.Name).Asks(c.tool.Annotations) {
		return nil
	}
	approver := c.bridge.options.Approver
	if approver == nil {
		return c.nobodyToAsk()
	}
	resume := c.access.pause()
	defer resume()
	err := approver.Approve(c.ctx(), c.approvalRequest())
	switch {
	case err == nil:
		return nil
	case c.ctx().Err() != nil:
		return errCancelled()
	case errors.Is(err, ErrNobodyToAsk):
		return c.nobodyToAsk()
	case errors.Is(err, ErrDenied):
		return c.refuse(Error{http.StatusConflict, "approval_denied", "the user denied the call of " + brief(c.name), "do not try the same again; ask the user what to do instead"})
	}
	return c.refuse(Error{http.StatusConflict, "approval_missing", "the user did not approve the call of " + brief(c.name), "ask the user whether it is wanted, then try again"})
}

func (c *call) nobodyToAsk() *Error {
	return c.refuse(Error{http.StatusConflict, "approval_unavailable", "the tool " + brief(c.name) + " needs the user's approval, and nobody can be asked",
		`call it from a task, whose events ask the user, or have the operator set the tool's "approval" in catalog.json`})
}

func (c *call) approvalRequest() ApprovalRequest {
	g := c.access.grant
	return ApprovalRequest{
		User: g.User, Session: g.Session, Task: g.Task, Execution: g.Execution,
		Tool: c.name, Server: c.tool.Server, Arguments: c.arguments,
		Releases: slices.Clone(c.released), Origins: slices.Clone(c.origins),
	}
}

// originsOf lists where the values of the uses came from, each origin once.
func originsOf(uses []pii.Use) []pii.Origin {
	var all []pii.Origin
	for _, u := range uses {
		all = append(all, u.Origins...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
