package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"

	"go.uber.org/zap"

	"airlock/discovery"
	"airlock/ident"
	"airlock/pii"
	"airlock/servers"
)

// Viewer is who looks at tools: what is listed is what this user's catalog and
// the scope allow, tokenized by the vault.
type Viewer struct {
	User    ident.User
	Session ident.Session
	Vault   *pii.Vault
	Scope   Scope
}

// Detail says how much a listing tells of each tool.
type Detail string

// The levels of detail.
const (
	DetailName    Detail = "name"    // a string
	DetailSummary Detail = "summary" // name and the beginning of the description
	DetailFull    Detail = "full"    // what Describe answers
)

// Query is what to list. The zero value lists all names.
type Query struct {
	Text   string // ranks by fitness; empty lists by name
	Server string // only tools of this server
	Limit  int    // 0 takes the default: 20 with a text, 1,000 without
	Cursor string // the nextCursor of the page before
	Detail Detail // empty is DetailName
}

const (
	maxListed    = 1000
	defaultFound = 20
	maxSummary   = 300 // bytes of a description in a summary
	maxNearest   = 3
	maxMessage   = 300
)

// Search lists tools: the JSON {"tools":[...],"total":n,"nextCursor":"...",
// "unavailable":[{"server","message"}]}, the last two only if there is something
// to say. An *Error says what is wrong with the query.
func (b *Bridge) Search(ctx context.Context, v Viewer, q Query) (pii.Tokenized, error) {
	if e := q.normalize(); e != nil {
		return pii.Tokenized{}, e
	}
	seen, faults := b.see(ctx, v)
	if ctx.Err() != nil {
		return pii.Tokenized{}, fmt.Errorf("list tools: %w", context.Cause(ctx))
	}
	found, err := seen.matching(q)
	if err != nil {
		return pii.Tokenized{}, err
	}
	page, e := q.page(seen.id, len(found))
	if e != nil {
		return pii.Tokenized{}, e
	}
	var entries []pii.Tokenized
	for _, tool := range found[page.from:page.to] {
		entry, err := entryOf(v.Vault, tool, q.Detail)
		if err != nil {
			return pii.Tokenized{}, fmt.Errorf("describe tool %q: %w", tool.FullName(), err)
		}
		entries = append(entries, entry)
	}
	unavailable, err := b.unavailable(v.Vault, faults, q.Server)
	if err != nil {
		return pii.Tokenized{}, err
	}
	parts := []pii.Tokenized{pii.Static(`{"tools":`), array(entries), pii.Static(`,"total":`), decimal(uint64(len(found)))}
	if page.to < len(found) {
		parts = append(parts, pii.Static(`,"nextCursor":"`), decimal(uint64(page.to)), pii.Static("."), decimal(page.mark), pii.Static(`"`))
	}
	if len(unavailable) > 0 {
		parts = append(parts, pii.Static(`,"unavailable":`), array(unavailable))
	}
	return pii.Join(append(parts, pii.Static("}"))...), nil
}

// normalize fills in defaults and refuses what is out of bounds.
func (q *Query) normalize() *Error {
	switch q.Detail {
	case "":
		q.Detail = DetailName
	case DetailName, DetailSummary, DetailFull:
	default:
		return badRequest("bad_detail", "there is no such level of detail", "use name, summary or full")
	}
	switch {
	case q.Limit < 0 || q.Limit > maxListed:
		return badRequest("bad_limit", "the limit is out of bounds", "use 1 to "+strconv.Itoa(maxListed))
	case q.Limit == 0 && q.Text == "":
		q.Limit = maxListed
	case q.Limit == 0:
		q.Limit = defaultFound
	}
	return nil
}

// see returns the tools that the viewer may know of.
func (b *Bridge) see(ctx context.Context, v Viewer) (*view, []servers.Fault) {
	all, faults := b.options.Upstreams.Tools(ctx, servers.Caller{User: v.User, Session: v.Session})
	if v.Scope == ScopeAll {
		return b.views.of(all), faults
	}
	allowed := make([]servers.Tool, 0, len(all))
	for _, tool := range all {
		if v.Scope.Allows(tool.FullName()) {
			allowed = append(allowed, tool)
		}
	}
	return b.views.of(allowed), faults
}

// matching lists what the query asks for, best first or by name.
func (v *view) matching(q Query) ([]servers.Tool, error) {
	found := v.tools
	if q.Text != "" {
		index, err := v.indexed()
		if err != nil {
			return nil, err
		}
		found = nil
		for _, m := range index.Search(q.Text, len(v.tools)) {
			if tool, ok := v.find(m.Name); ok {
				found = append(found, tool)
			}
		}
	}
	if q.Server == "" {
		return found, nil
	}
	var ofServer []servers.Tool
	for _, tool := range found {
		if tool.Server == q.Server {
			ofServer = append(ofServer, tool)
		}
	}
	return ofServer, nil
}

// span is one page of a listing. mark ties a cursor to the query and the tools it
// was made for.
type span struct {
	from, to int
	mark     uint64
}

func (q Query) page(viewID uint64, total int) (span, *Error) {
	mark := fnv.New64a()
	_, _ = fmt.Fprintf(mark, "%d\x00%s\x00%s", viewID, q.Text, q.Server) // cannot fail
	p := span{mark: mark.Sum64()}
	if q.Cursor != "" {
		from, tail, _ := strings.Cut(q.Cursor, ".")
		at, err := strconv.Atoi(from)
		if err != nil || tail != strconv.FormatUint(p.mark, 10) || at <= 0 || at >= total {
			return span{}, badRequest("bad_cursor", "the cursor does not belong to this listing, or the tools have changed since", "list again without a cursor")
		}
		p.from = at
	}
	p.to = min(p.from+q.Limit, total)
	return p, nil
}

// unavailable names the servers whose tools could not be listed. The error of a
// server is in our own words; what the server said stays out of listings.
func (b *Bridge) unavailable(v *pii.Vault, faults []servers.Fault, server string) ([]pii.Tokenized, error) {
	var all []pii.Tokenized
	for _, f := range faults {
		entry, err := tokenizeJSON(v, f.Server, map[string]string{"server": f.Server, "message": short(f.Err.Error(), maxMessage)})
		if err != nil {
			return nil, err
		}
		b.log.Warn("tools of a server cannot be listed", zap.String("server", f.Server), zap.Stringer("error", entry))
		if server == "" || server == f.Server {
			all = append(all, entry)
		}
	}
	return all, nil
}

// entryOf puts one tool into JSON.
func entryOf(v *pii.Vault, tool servers.Tool, d Detail) (pii.Tokenized, error) {
	switch d {
	case DetailFull:
		return describe(v, tool)
	case DetailSummary:
		return tokenizeJSON(v, tool.Server, struct {
			Name        string `json:"name"`
			Description string `json:"description"`
		}{tool.FullName(), short(inClear(tool.Description), maxSummary)})
	default:
		return tokenizeJSON(v, tool.Server, tool.FullName())
	}
}

// Describe tells all about one tool: the JSON {"name","title","description",
// "inputSchema","outputSchema","annotations","signature"}. An *Error says that
// there is none of this name, with the nearest ones, or that its server failed.
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
	return describe(v.Vault, tool)
}

// unknownTool names the tools that could have been meant, of those that the
// viewer may see.
func (b *Bridge) unknownTool(ctx context.Context, v Viewer, name string) *Error {
	hint := "list the tools with list_mcp_tools"
	seen, _ := b.see(ctx, v)
	index, err := seen.indexed()
	if err != nil {
		b.log.Warn("tools cannot be indexed", zap.Error(err))
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
}

type annotations struct {
	ReadOnly    *bool `json:"readOnlyHint,omitempty"`
	Destructive *bool `json:"destructiveHint,omitempty"`
	Idempotent  *bool `json:"idempotentHint,omitempty"`
	OpenWorld   *bool `json:"openWorldHint,omitempty"`
}

// describe tokenizes the schemas before they become a signature, since that is
// made of their text, and the whole once more: tokenizing changes no token.
func describe(v *pii.Vault, tool servers.Tool) (pii.Tokenized, error) {
	from := pii.OriginServer(tool.Server)
	in, err := v.Tokenize(tool.InputSchema, from)
	if err != nil {
		return pii.Tokenized{}, err
	}
	out, err := v.Tokenize(tool.OutputSchema, from)
	if err != nil {
		return pii.Tokenized{}, err
	}
	return tokenizeJSON(v, tool.Server, description{
		Name: tool.FullName(), Title: inClear(tool.Title), Description: inClear(tool.Description),
		InputSchema: jsonOrNothing(in), OutputSchema: jsonOrNothing(out),
		Annotations: annotations(tool.Annotations),
		Signature:   discovery.Signature(tool.FullName(), []byte(in.String()), []byte(out.String())),
	})
}

func jsonOrNothing(t pii.Tokenized) json.RawMessage {
	if text := []byte(t.String()); json.Valid(text) {
		return text
	}
	return nil
}

// tokenizeJSON puts a value into JSON and that past the vault.
func tokenizeJSON(v *pii.Vault, server string, value any) (pii.Tokenized, error) {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return pii.Tokenized{}, err
	}
	return v.Tokenize(pii.NewRaw(strings.TrimSuffix(text.String(), "\n")), pii.OriginServer(server))
}

// array joins JSON values to an array.
func array(values []pii.Tokenized) pii.Tokenized {
	parts := []pii.Tokenized{pii.Static("[")}
	for i, v := range values {
		if i > 0 {
			parts = append(parts, pii.Static(","))
		}
		parts = append(parts, v)
	}
	return pii.Join(append(parts, pii.Static("]"))...)
}

var digits = [10]pii.Tokenized{
	pii.Static("0"), pii.Static("1"), pii.Static("2"), pii.Static("3"), pii.Static("4"),
	pii.Static("5"), pii.Static("6"), pii.Static("7"), pii.Static("8"), pii.Static("9"),
}

// decimal writes a number of our own, which no detector should take for anything.
func decimal(n uint64) pii.Tokenized {
	var parts []pii.Tokenized
	for _, d := range strconv.FormatUint(n, 10) {
		parts = append(parts, digits[d-'0'])
	}
	return pii.Join(parts...)
}

// short is the beginning of a text.
func short(s string, max int) string {
	s = strings.TrimSpace(s)
	if len(s) <= max {
		return s
	}
	return strings.ToValidUTF8(s[:max], "") + "…"
}

// list answers GET /v1/tools.
func (r *request) list() answer {
	given, e := r.parameters("query", "server", "limit", "cursor", "detail")
	if e != nil {
		return failure(e)
	}
	q := Query{Text: given["query"], Server: given["server"], Cursor: given["cursor"], Detail: Detail(given["detail"])}
	if text, ok := given["limit"]; ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			n = -1 // refused with the others that are out of bounds
		}
		q.Limit = n
	}
	return r.answer(r.bridge.Search(r.ctx(), r.access.viewer(), q))
}

// describe answers GET /v1/tools/{name}.
func (r *request) describe(name string) answer {
	if _, e := r.parameters(); e != nil {
		return failure(e)
	}
	return r.answer(r.bridge.Describe(r.ctx(), r.access.viewer(), name))
}

// answer turns what Search and Describe return into an answer.
func (r *request) answer(text pii.Tokenized, err error) answer {
	var known *Error
	switch {
	case err == nil:
		return answer{http.StatusOK, text.String()}
	case errors.As(err, &known):
		return failure(known)
	case r.ctx().Err() != nil:
		return failure(errCancelled())
	}
	r.bridge.log.Error("tools cannot be told", zap.Error(err))
	return failure(errInternal())
}
