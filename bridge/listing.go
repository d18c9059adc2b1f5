package bridge

import (
	"context"
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
	Task    ident.Task // may be empty: it only names the viewer in the log
	Vault   *pii.Vault
	Scope   Scope

	request *request // by which a script looks; nil for others
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

// Search lists tools: the JSON {"tools":[...],"total":n,"fits":true,
// "nextCursor":"...","unavailable":[{"server","message"}]}, the last two only if
// there is something to say, and fits only for a query with a text: false means
// that most likely no tool does what was asked, and that those listed are guesses.
// An *Error says what is wrong with the query.
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
	for _, f := range found[page.from:page.to] {
		entry, err := b.entryOf(v, f, q.Detail)
		if err != nil {
			return pii.Tokenized{}, fmt.Errorf("describe tool %q: %w", f.tool.FullName(), err)
		}
		entries = append(entries, entry)
	}
	unavailable, err := b.unavailable(v, faults, q.Server)
	if err != nil {
		return pii.Tokenized{}, err
	}
	parts := []pii.Tokenized{pii.Static(`{"tools":`), array(entries), pii.Static(`,"total":`), decimal(uint64(len(found)))}
	if q.Text != "" {
		parts = append(parts, fitting(found))
	}
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
	return b.views.of(v.allowed(all)), faults
}

// allowed are the tools that the viewer's scope covers.
func (v Viewer) allowed(all []servers.Tool) []servers.Tool {
	if v.Scope == ScopeAll {
		return all
	}
	allowed := make([]servers.Tool, 0, len(all))
	for _, tool := range all {
		if v.Scope.Allows(tool.FullName()) {
			allowed = append(allowed, tool)
		}
	}
	return allowed
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
func (b *Bridge) unavailable(v Viewer, faults []servers.Fault, server string) ([]pii.Tokenized, error) {
	var all []pii.Tokenized
	for _, f := range faults {
		entry, err := tokenizeJSON(v.Vault, f.Server, map[string]string{"server": f.Server, "message": short(f.Err.Error(), maxMessage)})
		if err != nil {
			return nil, err
		}
		b.logOf(v).Warn("tools of a server cannot be listed", zap.String("server", f.Server), zap.Stringer("error", entry))
		if server == "" || server == f.Server {
			all = append(all, entry)
		}
	}
	return all, nil
}

// entryOf puts one tool into JSON.
func (b *Bridge) entryOf(v Viewer, f found, d Detail) (pii.Tokenized, error) {
	switch d {
	case DetailFull:
		return b.describe(v, f)
	case DetailSummary:
		return tokenizeJSON(v.Vault, f.tool.Server, struct {
			Name        string `json:"name"`
			Description string `json:"description"`
			*rank
		}{f.tool.FullName(), summaryOf(inClear(f.tool.Description)), f.rank})
	default:
		return tokenizeJSON(v.Vault, f.tool.Server, f.tool.FullName())
	}
}

// summaryOf is the beginning of a description. What is cleaned is a little longer,
// since much of it may be hidden.
func summaryOf(description string) string {
	return short(discovery.CleanDescription(short(description, 4*maxSummary)), maxSummary)
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
	return r.answer(r.bridge.Search(r.ctx(), r.viewer(), q))
}

// describe answers GET /v1/tools/{name}.
func (r *request) describe(name string) answer {
	if _, e := r.parameters(); e != nil {
		return failure(e)
	}
	return r.answer(r.bridge.Describe(r.ctx(), r.viewer(), name))
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
	r.log().Error("tools cannot be told", zap.Error(err))
	return failure(errInternal())
}
