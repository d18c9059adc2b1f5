package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"go.uber.org/zap"

	"airlock/pii"
	"airlock/servers"
)

// call is one call of a tool on its way through the bridge.
type call struct {
	*request
	name  string // as the script wrote it
	begun time.Time

	tool  servers.Tool // zero until found
	entry servers.Entry

	arguments pii.Tokenized
	released  []pii.Type   // that the tool is given
	origins   []pii.Origin // where they came from
	refused   []pii.Type   // that the policy keeps from the tool
	observed  bool         // that it began
	raw       pii.Raw      // what the tool answered
}

// call answers POST /v1/tools/{name}/call.
func (r *request) call(name string) answer {
	c := &call{request: r, name: name, begun: time.Now()}
	result, toolFailed, e := c.run()
	outcome := outcomeOK
	switch {
	case e != nil:
		outcome = e.Code
	case toolFailed:
		outcome = outcomeToolError
	}
	if err := c.record(eventCall, outcome); err != nil && e == nil {
		result, e, outcome = pii.Tokenized{}, errAudit(), errAudit().Code
	}
	c.observeEnd(outcome, result.Len())
	if e != nil {
		return failure(e)
	}
	return answer{http.StatusOK, c.forScript(result)}
}

// forScript is the result as the script gets it: with tokens, or, where the
// operator lets scripts see values, as the tool gave it.
func (c *call) forScript(result pii.Tokenized) string {
	if c.access.grant.Vault.Mode() == pii.Open {
		return inClear(c.raw)
	}
	return result.String()
}

// run takes the call through all steps, in the order that package bridge promises.
func (c *call) run() (result pii.Tokenized, toolFailed bool, e *Error) {
	if e := c.admit(); e != nil {
		return result, false, e
	}
	for _, step := range []func() *Error{c.readArguments, c.find, c.checkRelease, c.approve} {
		if e := step(); e != nil {
			return result, false, e
		}
	}
	plain, e := c.detokenize()
	if e != nil {
		return result, false, e
	}
	if e := c.validate(plain); e != nil {
		return result, false, e
	}
	if e := c.recordRelease(); e != nil {
		return result, false, e
	}
	raw, e := c.ask(plain)
	if e != nil {
		return result, false, e
	}
	c.raw = raw.JSON
	result, e = c.tokenizeResult(raw.JSON)
	if e == nil && !raw.IsError {
		c.bridge.shapes.learn(c.access.grant.User, c.tool, result)
	}
	return result, raw.IsError, e
}

// admit checks scope and limits, before anything is read.
func (c *call) admit() *Error {
	if !c.access.grant.Scope.Allows(c.name) {
		return c.refuse(scopeRefusal(c.access.grant.Vault, c.name))
	}
	return c.access.countCall()
}

// scopeRefusal is the same whether there is such a tool or not.
func scopeRefusal(v *pii.Vault, name string) Error {
	return Error{http.StatusForbidden, "out_of_scope", "this execution may not use the tool " + echo(v, name),
		"use a tool that list_mcp_tools shows, or ask for a task with a wider scope"}
}

func (c *call) unknownTool() *Error {
	return c.bridge.unknownTool(c.ctx(), c.viewer(), c.name)
}

// envelope is what a body may hold beside its arguments.
const envelope = 256

// readArguments takes in the body and tokenizes the arguments, so that a value in
// clear is judged like its token.
func (c *call) readArguments() *Error {
	limit := c.bridge.options.Limits.ArgumentBytes
	members, e := c.body(limit+envelope, "arguments")
	if e != nil {
		return e
	}
	text := string(members["arguments"])
	switch {
	case text == "" || text == "null":
		text = "{}"
	case text[0] != '{':
		return badRequest("bad_arguments", "the arguments are not a JSON object", `send {"arguments":{"name":"value"}}`)
	case int64(len(text)) > limit:
		return tooLarge("the arguments", limit)
	}
	arguments, err := c.access.grant.Vault.Tokenize(pii.NewRaw(text), originScript)
	if err != nil {
		return c.vaultError("tokenize arguments", err)
	}
	c.arguments = arguments
	return nil
}

// find looks the tool up, by the exact name.
func (c *call) find() *Error {
	tool, err := c.bridge.options.Upstreams.Tool(c.ctx(), c.access.caller(), c.name)
	if err != nil {
		return c.upstreamError(err)
	}
	if tool.FullName() != c.name {
		return c.unknownTool()
	}
	entry, ok := c.bridge.options.Upstreams.Entry(tool.Server)
	if !ok {
		return c.unknownTool()
	}
	c.tool, c.entry = tool, entry
	return nil
}

// checkRelease asks the server's policy whether it may have the values that the
// arguments stand for.
func (c *call) checkRelease() *Error {
	vault := c.access.grant.Vault
	uses, err := vault.Uses(c.arguments)
	if err != nil {
		return c.vaultError("read the tokens of arguments", err)
	}
	release, err := c.entry.Release.Check(vault, c.arguments, c.tool.Server)
	var refused *pii.RefusedError
	switch {
	case errors.As(err, &refused):
		c.refused = refused.Types
		return c.refuse(Error{http.StatusForbidden, "release_refused", refused.Error(), "send other data, or have the operator change the server's release policy"})
	case err != nil:
		return c.vaultError("check the release policy", err)
	}
	c.released, c.origins = release.Types, originsOf(uses)
	return nil
}

// detokenize puts the real values into the arguments.
func (c *call) detokenize() (string, *Error) {
	raw, err := c.access.grant.Vault.Detokenize(c.arguments)
	if err != nil {
		return "", c.vaultError("detokenize arguments", err)
	}
	if limit := c.bridge.options.Limits.ArgumentBytes; int64(raw.Len()) > limit {
		return "", tooLarge("the arguments, with values in place of tokens,", limit)
	}
	return inClear(raw), nil
}

// validate checks the arguments that the tool would get against its own schema.
func (c *call) validate(plain string) *Error {
	schema, err := c.bridge.schemas.get(inClear(c.tool.InputSchema))
	if err != nil {
		e := c.refuseBySchema(Error{http.StatusBadGateway, "bad_tool_schema", "the input schema of " + brief(c.name) + " cannot be used: " + err.Error(),
			"use another tool; the server's author has to mend this one"})
		c.log().Warn("input schema cannot be used", zap.String("tool", c.name), zap.String("error", e.Message))
		return e
	}
	broken, err := schema.check(plain)
	switch {
	case err != nil:
		return c.refuseBySchema(Error{http.StatusUnprocessableEntity, "invalid_arguments", "the arguments of " + brief(c.name) + " cannot be checked: " + err.Error(), "send fewer or flatter arguments"})
	case len(broken) > 0:
		return c.refuseBySchema(Error{http.StatusUnprocessableEntity, "invalid_arguments", "the arguments of " + brief(c.name) + " do not fit its input schema: " + describeViolations(broken, c.wroteItself),
			"see get_mcp_tool_details(" + brief(c.name) + ") for the schema"})
	}
	return nil
}

// refuseBySchema tokenizes texts that quote the tool's schema: values in them are
// the server's own.
func (c *call) refuseBySchema(e Error) *Error {
	return refusal(c.access.grant.Vault, pii.OriginServer(c.tool.Server), e)
}

// ask calls the tool.
func (c *call) ask(plain string) (servers.Result, *Error) {
	c.observeBegin()
	ctx, cancel := context.WithTimeout(c.ctx(), c.bridge.options.Limits.CallTime)
	defer cancel()
	result, err := c.bridge.options.Upstreams.CallWatched(ctx, c.access.caller(), c.name, json.RawMessage(plain), c.watch())
	if err != nil {
		if c.ctx().Err() == nil && ctx.Err() != nil {
			return servers.Result{}, errTooSlow()
		}
		return servers.Result{}, c.upstreamError(err)
	}
	if limit := c.bridge.options.Limits.ResultBytes; int64(result.JSON.Len()) > limit {
		return servers.Result{}, c.resultTooLarge()
	}
	return result, nil
}

// tokenizeResult makes the result fit for the script. Whatever a server sent, it
// leaves as one JSON object.
func (c *call) tokenizeResult(raw pii.Raw) (pii.Tokenized, *Error) {
	c.access.grant.Vault.MarkHeard(c.tool.Server)
	result, err := c.access.grant.Vault.Tokenize(raw, pii.OriginServer(c.tool.Server))
	if err != nil {
		return pii.Tokenized{}, c.vaultError("tokenize a result", err)
	}
	if text := c.forScript(result); !json.Valid([]byte(text)) || !isObject(text) {
		return pii.Tokenized{}, c.refuse(Error{http.StatusBadGateway, "bad_result", "server " + brief(c.tool.Server) + " did not answer with a tool result", "try again; if it stays, the server is faulty"})
	}
	return result, nil
}

func isObject(text string) bool {
	for _, c := range []byte(text) {
		switch c {
		case ' ', '\t', '\r', '\n':
		default:
			return c == '{'
		}
	}
	return false
}

// wroteItself reports whether a key stands in the arguments as the script sent
// them. One that does not is a value in place of its token.
func (c *call) wroteItself(key string) bool { return strings.Contains(c.arguments.String(), key) }
