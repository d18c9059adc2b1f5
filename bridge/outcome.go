package bridge

import (
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"airlock/pii"
	"airlock/servers"
)

// upstreamError turns an error of the servers into an answer.
func (c *call) upstreamError(err error) *Error {
	switch {
	case c.ctx().Err() != nil:
		return errCancelled()
	case errors.Is(err, servers.ErrUnknownTool):
		return c.unknownTool()
	case errors.Is(err, servers.ErrTimeout):
		return errTooSlow()
	case errors.Is(err, servers.ErrResultTooLarge):
		return c.resultTooLarge()
	case errors.Is(err, servers.ErrArgumentsTooLarge):
		return tooLarge("the arguments", c.bridge.options.Limits.ArgumentBytes)
	}
	return serverFailed(c.access.grant.Vault, err)
}

// serverFailed tells of a server that did not do what it should. What the server
// itself said about it is foreign text and passes the vault as its result would.
func serverFailed(v *pii.Vault, err error) *Error {
	message, hint, from := err.Error(), "try again; if it stays, ask the operator to look at the server", originScript
	var known *servers.Error
	if errors.As(err, &known) {
		from = pii.OriginServer(known.Server)
		if detail := inClear(known.Detail); detail != "" {
			message += ": " + detail
		}
		if known.Hint != "" {
			hint = known.Hint
		}
	}
	return refusal(v, from, Error{http.StatusBadGateway, "upstream_failed", message, hint})
}

func errTooSlow() *Error {
	return &Error{http.StatusGatewayTimeout, "upstream_timeout", "the tool's server did not answer in time", "ask for less at once; the tool may have done its work all the same"}
}

func (c *call) resultTooLarge() *Error {
	return c.refuse(Error{http.StatusBadGateway, "result_too_large", "the result of " + brief(c.name) + " is too large to be passed on",
		"ask for less at once: page with the tool's limit, offset or cursor, select fewer fields, or add up in the query"})
}

// vaultError tells a script its own mistake, such as a token it made up, and keeps
// everything else in the log.
func (c *call) vaultError(doing string, err error) *Error {
	var unknown *pii.UnknownTokenError
	switch {
	case errors.As(err, &unknown):
		return badRequest("unknown_token", unknown.Error(), "use tokens as they came, whole and unchanged")
	case errors.Is(err, pii.ErrVaultFull):
		return &Error{http.StatusRequestEntityTooLarge, "vault_full", err.Error(), ""}
	}
	c.log().Error("vault failed", zap.String("doing", doing), zap.Error(err))
	return errInternal()
}

// recordRelease writes down that values are about to be given away, while that
// can still be prevented.
func (c *call) recordRelease() *Error {
	if len(c.released) == 0 {
		return nil
	}
	if err := c.record(eventRelease, outcomeOK); err != nil {
		return errAudit()
	}
	return nil
}

// record writes one line of the audit log about the call.
func (c *call) record(event, outcome string) error {
	g, names := c.access.grant, c.bridge.options.Pseudonym
	r := record{
		Event: event, User: names.User(g.User), Session: g.Session, Task: g.Task, Execution: g.Execution,
		Released: c.released, Origins: c.origins, Outcome: outcome,
		Duration: float64(time.Since(c.begun).Microseconds()) / 1000,
	}
	if !c.arguments.IsZero() {
		r.Arguments = names.Text(c.arguments.String())
	}
	if c.tool.Name == "" { // not found: the name is whatever the script wrote
		r.NameHash = names.Text(c.name)
	} else {
		r.Tool, r.Server = c.name, c.tool.Server
	}
	err := c.bridge.audit.write(r)
	if err != nil {
		c.log().Error("call not recorded", zap.Error(err))
	}
	return err
}

func (c *call) observeBegin() {
	c.observed = true
	if observe := c.access.grant.Observe; observe != nil {
		observe(Event{Tool: c.name, Server: c.tool.Server, ArgBytes: c.arguments.Len()})
	}
}

// observeEnd tells of the end of what began, and of refusals of known tools.
func (c *call) observeEnd(outcome string, bytes int) {
	observe := c.access.grant.Observe
	if observe == nil || c.tool.Name == "" {
		return
	}
	end := Event{
		Finished: true, Tool: c.name, Server: c.tool.Server, ArgBytes: c.arguments.Len(),
		Outcome: outcome, Duration: time.Since(c.begun), ResultBytes: bytes, Refused: c.refused, Policy: c.entry.Release,
	}
	if c.observed {
		end.Released, end.Origins = c.released, c.origins
	} else {
		c.observeBegin()
	}
	observe(end)
}
