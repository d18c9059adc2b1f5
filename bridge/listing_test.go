package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"airlock/pii"
	"airlock/servers"
)

type listing struct {
	Tools       []json.RawMessage
	Total       int
	NextCursor  string
	Unavailable []struct{ Server, Message string }
}

func (r *rig) list(query string) listing {
	r.tb.Helper()
	status, body := r.do(http.MethodGet, "/v1/tools"+query, "")
	if status != http.StatusOK {
		r.tb.Fatalf("%s: %d %s", query, status, body)
	}
	var l listing
	if err := json.Unmarshal([]byte(body), &l); err != nil {
		r.tb.Fatalf("%s: %v", body, err)
	}
	return l
}

func names(tb testing.TB, l listing) []string {
	tb.Helper()
	var all []string
	for _, raw := range l.Tools {
		var one string
		if json.Unmarshal(raw, &one) != nil {
			var object struct{ Name string }
			if err := json.Unmarshal(raw, &object); err != nil {
				tb.Fatal(err)
			}
			one = object.Name
		}
		all = append(all, one)
	}
	return all
}

func TestListing(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *Options, g *Grant) { g.Scope = "shop__* disk__*" })
	for query, want := range map[string]string{
		"":                                "disk__delete_all disk__read shop__broken shop__echo shop__find shop__typed",
		"?detail=name&limit=2":            "disk__delete_all disk__read",
		"?server=disk":                    "disk__delete_all disk__read",
		"?server=mail":                    "",
		"?query=finding":                  "shop__find",
		"?query=shop&server=disk":         "",
		"?query=delete&detail=summary":    "disk__delete_all",
		"?query=limit&detail=full":        "shop__typed",
		"?query=" + url.QueryEscape("日本"): "",
	} {
		if got := strings.Join(names(t, r.list(query)), " "); got != want {
			t.Errorf("%s lists %q, want %q", query, got, want)
		}
	}
	if body := string(r.list("?server=disk&detail=summary").Tools[0]); body != `{"name":"disk__delete_all","description":"Does delete_all."}` {
		t.Errorf("summary is %s", body)
	}
	if body := string(r.list("?query=limit&detail=full").Tools[0]); !strings.Contains(body, `"inputSchema":{`) || !strings.Contains(body, `"signature":"declare function`) {
		t.Errorf("full is %s", body)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var tools []servers.Tool
	for i := range 25 {
		tools = append(tools, tool(fmt.Sprintf("shop__item_%02d", i), anyObject))
	}
	r.up.tools = tools
	for _, query := range []string{"?limit=10", "?limit=10&query=item"} {
		var all []string
		page := r.list(query)
		for {
			all = append(all, names(t, page)...)
			if page.Total != 25 {
				t.Errorf("total is %d", page.Total)
			}
			if page.NextCursor == "" {
				break
			}
			page = r.list(query + "&cursor=" + page.NextCursor)
		}
		if len(all) != 25 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 25 {
			t.Errorf("%s lists %d: %v", query, len(all), all)
		}
	}
	cursor := r.list("?limit=10").NextCursor
	r.up.tools = tools[1:]
	if status, body := r.do(http.MethodGet, "/v1/tools?limit=10&cursor="+cursor, ""); status != http.StatusBadRequest || codeOf(t, body) != "bad_cursor" {
		t.Errorf("a cursor of other tools: %d %s", status, body)
	}
}

func TestBadQueries(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for query, code := range map[string]string{
		"?q=x": "unknown_parameter", "?query=a&query=b": "bad_query", "?query=%zz": "bad_query", "?a;b": "bad_query",
		"?limit=0": "bad_limit", "?limit=x": "bad_limit", "?limit=1001": "bad_limit", "?limit=-1": "bad_limit", "?limit=": "bad_limit",
		"?detail=all": "bad_detail", "?cursor=5": "bad_cursor", "?cursor=x": "bad_cursor",
	} {
		if status, body := r.do(http.MethodGet, "/v1/tools"+query, ""); status != http.StatusBadRequest || codeOf(t, body) != code {
			t.Errorf("%s: %d %s, want %s", query, status, body, code)
		}
	}
	if status, body := r.do(http.MethodGet, "/v1/tools/shop__find?x=1", ""); status != http.StatusBadRequest || codeOf(t, body) != "unknown_parameter" {
		t.Errorf("details: %d %s", status, body)
	}
}

func TestRoutes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, tc := range []struct {
		method, path string
		status       int
		allow        string
	}{
		{http.MethodPost, "/v1/tools", 405, "GET"}, {http.MethodDelete, "/v1/tools/shop__find", 405, "GET"}, {http.MethodGet, "/v1/tools/shop__find/call", 405, "POST"},
		{http.MethodPut, "/v1/pii/same", 405, "POST"}, {http.MethodOptions, "/v1/tools", 405, "GET"},
		{http.MethodGet, "/v1/pii/same", 405, "POST"}, {http.MethodHead, "/v1/tools", 405, "GET"},
		{http.MethodGet, "/", 404, ""}, {http.MethodGet, "/v2/tools", 404, ""}, {http.MethodGet, "/v1/tools/a/b/c", 404, ""}, {http.MethodGet, "//v1/tools", 404, ""},
		{http.MethodGet, "/v1/tools/", 400, ""}, {http.MethodGet, "/v1/../v1/tools", 404, ""}, {http.MethodGet, "/v1%2ftools", 404, ""},
		{http.MethodGet, "/v1/tools/" + strings.Repeat("%61", maxName+30), 400, ""},
	} {
		w := r.send(r.request(tc.method, tc.path, ""))
		if w.Code != tc.status || w.Header().Get("Allow") != tc.allow {
			t.Errorf("%s %.40s: %d, Allow %q: %s", tc.method, tc.path, w.Code, w.Header().Get("Allow"), w.Body)
		}
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	yes := true
	full := tool("crm__lookup", `{"type":"object","properties":{"who":{"type":"string","description":"such as eve@example.com","default":"eve@example.com"}}}`)
	full.Title, full.Description = pii.NewRaw("Look up"), pii.NewRaw("Ask eve@example.com for <help>.")
	full.OutputSchema = pii.NewRaw(`{"type":"object","properties":{"n":{"type":"number"}}}`)
	full.Annotations.ReadOnly = &yes
	r.up.tools = append(r.up.tools, full)
	status, body := r.do(http.MethodGet, "/v1/tools/crm__lookup", "")
	if status != http.StatusOK || strings.Contains(body, "eve@") || !json.Valid([]byte(body)) {
		t.Fatalf("got %d %s", status, body)
	}
	var d struct {
		Name, Title, Description, Signature string
		InputSchema, OutputSchema           map[string]any
		Annotations                         map[string]bool
	}
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		t.Fatal(err)
	}
	if d.Name != "crm__lookup" || d.Title != "Look up" || d.Description != "Ask [EMAIL_1_k7q2f] for <help>." || !d.Annotations["readOnlyHint"] {
		t.Errorf("got %+v", d)
	}
	want := "declare function callMCPTool(name: \"crm__lookup\", args?: {\n  /** such as [EMAIL_1_k7q2f] Default: \"[EMAIL_1_k7q2f]\". */\n  who?: string;\n}): Promise<{ n?: number }>;"
	if d.Signature != want {
		t.Errorf("signature is %s", d.Signature)
	}
	if in, _ := json.Marshal(d.InputSchema); !strings.Contains(string(in), "[EMAIL_1_k7q2f]") {
		t.Errorf("input schema is %s", in)
	}
}

// A server that cannot be asked is a refusal that a model can read, by both ways.
func TestDescribeOfADeadServer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for err, want := range map[error]int{
		&servers.Error{Server: "shop", Doing: "start server", Kind: servers.ErrUpstream, Detail: pii.NewRaw("ask eve@example.com")}: http.StatusBadGateway,
		fmt.Errorf("start: %w", servers.ErrTimeout): http.StatusGatewayTimeout,
	} {
		r.up.lookup = err
		var refused *Error
		if _, got := r.bridge.Describe(t.Context(), r.access.viewer(), "shop__find"); !errors.As(got, &refused) || refused.Status != want || strings.Contains(refused.Message, "eve@") {
			t.Errorf("got %v, want %d", got, want)
		}
		if status, body := r.do(http.MethodGet, "/v1/tools/shop__find", ""); status != want || strings.Contains(body, "eve@") {
			t.Errorf("got %d %s, want %d", status, body, want)
		}
	}
}

func TestUnknownToolNamesTheNearest(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	status, body := r.do(http.MethodGet, "/v1/tools/shop__fnd", "")
	if status != http.StatusNotFound || !strings.Contains(body, "nearest names: shop__find, ") {
		t.Errorf("got %d %s", status, body)
	}
}

// One dead server does not hide the others, and is named.
func TestUnavailableServers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.faults = []servers.Fault{{Server: "gone", Err: errors.New(`start server "gone": its mail is eve@example.com`)}}
	l := r.list("")
	if len(l.Tools) != len(r.up.tools) || len(l.Unavailable) != 1 || l.Unavailable[0].Server != "gone" || strings.Contains(l.Unavailable[0].Message, "eve@") {
		t.Errorf("got %+v", l)
	}
	if l := r.list("?server=shop"); len(l.Unavailable) != 0 {
		t.Errorf("a listing of another server tells %+v", l.Unavailable)
	}
}

// In process, the answers and refusals are those of the routes.
func TestSearchAndDescribeInProcess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	v := r.access.viewer()
	found, err := r.bridge.Search(t.Context(), v, Query{Text: "finding"})
	if _, body := r.do(http.MethodGet, "/v1/tools?query=finding", ""); err != nil || found.String() != body {
		t.Errorf("got %s, %v; the route answers %s", found, err, body)
	}
	described, err := r.bridge.Describe(t.Context(), v, "shop__find")
	if _, body := r.do(http.MethodGet, "/v1/tools/shop__find", ""); err != nil || described.String() != body {
		t.Errorf("got %s, %v; the route answers %s", described, err, body)
	}
	var refused *Error
	if _, err := r.bridge.Describe(t.Context(), v, "shop__fnd"); !errors.As(err, &refused) || refused.Status != http.StatusNotFound || !strings.Contains(refused.Hint, "shop__find") {
		t.Errorf("got %v", err)
	}
	if _, err := r.bridge.Search(t.Context(), v, Query{Limit: -1}); !errors.As(err, &refused) || refused.Code != "bad_limit" {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.bridge.Search(ctx, v, Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestViewsAreKeptUntilToolsChange(t *testing.T) {
	t.Parallel()
	var c viewCache
	tools := []servers.Tool{tool("a__b", anyObject), tool("a__c", anyObject)}
	first := c.of(tools)
	if c.of([]servers.Tool{tool("a__b", anyObject), tool("a__c", anyObject)}) != first {
		t.Error("the same tools made another view")
	}
	if c.of([]servers.Tool{tool("a__b", anyObject), tool("a__c", `{}`)}) == first {
		t.Error("a changed schema made no new view")
	}
	for i := range 3 * maxViews {
		c.of([]servers.Tool{tool(fmt.Sprintf("a__%d", i), anyObject)})
	}
	if len(c.views) > maxViews {
		t.Errorf("%d views are kept", len(c.views))
	}
}
