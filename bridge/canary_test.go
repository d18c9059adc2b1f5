package bridge

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"airlock/pii"
	"airlock/servers"
)

// canaries are values that must never leave, one for each place they are planted.
var canaries = map[string]string{
	"result text": "canary.text@example.com", "structured result": "canary.struct@example.com", "result key": "canary.key@example.com",
	"nested JSON": "canary.nested@example.com", "tool error": "canary.toolerror@example.com", "server error": "canary.server@example.com",
	"description": "canary.description@example.com", "title": "canary.title@example.com", "parameter": "canary.parameter@example.com",
	"enumeration": "canary.enum@example.com", "default": "canary.default@example.com", "output schema": "canary.output@example.com",
	"fault": "canary.fault@example.com", "meta": "canary.meta@example.com", "phone": "+1 415 555 0123", "card": "4111 1111 1111 1111", "number": "4111111111111111",
	"path": "canary.path@example.com", "parameter name": "canary.query@example.com", "field": "canary.field@example.com", "schema error": "canary.schema@example.com", "user": "ada@example.com",
}

func canaryTool() servers.Tool {
	t := tool("shop__leak", fmt.Sprintf(`{"type":"object","properties":{"mode":{"enum":["a","%s"]},"%s":{"type":"integer","default":"%s"}},"description":"call %s"}`,
		canaries["enumeration"], canaries["parameter"], canaries["default"], canaries["phone"]))
	t.Title, t.Description = pii.NewRaw("of "+canaries["title"]), pii.NewRaw("Written by "+canaries["description"])
	t.OutputSchema = pii.NewRaw(`{"type":"object","properties":{"x":{"const":"` + canaries["output schema"] + `"}}}`)
	return t
}

func canaryAnswer(_ context.Context, name, arguments string) (servers.Result, error) {
	switch {
	case strings.Contains(arguments, "fail"):
		return servers.Result{}, &servers.Error{Server: "shop", Doing: "call a tool of server", Kind: servers.ErrUpstream, Detail: pii.NewRaw("user " + canaries["server error"] + " is locked")}
	case strings.Contains(arguments, "odd"):
		return servers.Result{}, errors.New("odd: " + canaries["server error"])
	case strings.Contains(arguments, "error"):
		return servers.Result{IsError: true, JSON: pii.NewRaw(`{"isError":true,"content":[{"type":"text","text":"no such ` + canaries["tool error"] + `"}]}`)}, nil
	case strings.Contains(arguments, "bad"):
		return servers.Result{JSON: pii.NewRaw(`{"content":"` + canaries["result text"])}, nil
	}
	nested, _ := json.Marshal(`{"rows":[{"mail":"` + canaries["nested JSON"] + `"}]}`)
	return servers.Result{JSON: pii.NewRaw(`{"content":[{"type":"text","text":"to ` + canaries["result text"] + `, card ` + canaries["card"] + `"},{"type":"text","text":` + string(nested) + `}],` +
		`"structuredContent":{"` + canaries["result key"] + `":1,"mail":"` + canaries["structured result"] + `","card":` + canaries["number"] + `},"_meta":{"by":"` + canaries["meta"] + `"}}`)}, nil
}

// Whatever a server says wherever it can say something, and whatever a script puts
// where it is repeated: no value comes out in an answer, the audit log, the log or
// an event.
func TestCanariesStayInside(t *testing.T) {
	t.Parallel()
	var events []Event
	r := newRig(t, func(_ *Options, g *Grant) { g.Observe = func(e Event) { events = append(events, e) } })
	r.up.tools = append(r.up.tools, canaryTool(), tool("shop__bent", `{"type":"object","properties":{"x":{"enum":[]}},"required":"`+canaries["schema error"]+`"}`))
	r.up.faults = []servers.Fault{{Server: "gone", Err: errors.New("its owner is " + canaries["fault"])}}
	r.up.answer = canaryAnswer
	var seen strings.Builder
	for _, req := range []struct{ method, path, body string }{
		{http.MethodGet, "/v1/tools", ""}, {http.MethodGet, "/v1/tools?detail=summary", ""}, {http.MethodGet, "/v1/tools?detail=full", ""},
		{http.MethodGet, "/v1/tools?query=leak&detail=full", ""}, {http.MethodGet, "/v1/tools/shop__leak", ""},
		{http.MethodPost, "/v1/tools/shop__leak/call", `{}`}, {http.MethodPost, "/v1/tools/shop__leak/call", `{"arguments":{"x":"fail"}}`},
		{http.MethodPost, "/v1/tools/shop__leak/call", `{"arguments":{"x":"odd"}}`}, {http.MethodPost, "/v1/tools/shop__leak/call", `{"arguments":{"x":"error"}}`},
		{http.MethodPost, "/v1/tools/shop__leak/call", `{"arguments":{"x":"bad"}}`},
		{http.MethodPost, "/v1/tools/shop__leak/call", `{"arguments":{"mode":"b"}}`},
		{http.MethodPost, "/v1/tools/shop__leak/call", `{"arguments":{"` + canaries["parameter"] + `":"x"}}`},
		{http.MethodPost, "/v1/tools/shop__bent/call", `{}`},
		{http.MethodPost, "/v1/tools/" + url.PathEscape(canaries["path"]) + "/call", `{}`}, {http.MethodGet, "/v1/tools/" + url.PathEscape(canaries["path"]), ""},
		{http.MethodGet, "/v1/tools?" + url.QueryEscape(canaries["parameter name"]) + "=1", ""},
		{http.MethodPost, "/v1/tools/shop__leak/call", `{"` + canaries["field"] + `":1}`},
		{http.MethodPost, "/v1/tools/mail__send/call", `{"arguments":{"to":"` + canaries["result text"] + `"}}`},
		{http.MethodPost, "/v1/tools/shop__leak/call", `{"arguments":{"to":"` + canaries["result text"] + `"}}`},
	} {
		status, body := r.do(req.method, req.path, req.body)
		if status == http.StatusInternalServerError {
			t.Errorf("%s %s: %d %s", req.method, req.path, status, body)
		}
		if !json.Valid([]byte(body)) {
			t.Errorf("%s %s answers no JSON: %s", req.method, req.path, body)
		}
		fmt.Fprintln(&seen, body)
	}
	claims, err := base64.RawURLEncoding.DecodeString(strings.Split(r.access.Token(), ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{
		"an answer": seen.String(), "the audit log": r.audit.String(), "the log": r.log.String(), "an event": fmt.Sprint(events), "the token": string(claims),
	} {
		for kind, value := range canaries {
			if strings.Contains(text, value) {
				t.Errorf("the canary of the %s is in %s", kind, where)
			}
		}
	}
	if n := strings.Count(seen.String(), "EMAIL_"); n < 20 {
		t.Errorf("only %d tokens were seen: the canaries were not asked for", n)
	}
}

func FuzzResult(f *testing.F) {
	f.Add(`{"content":[{"type":"text","text":"x"}]}`, `{"a":1}`)
	f.Add(`{"structuredContent":{"mail":"eve@example.com","n":4111111111111111}}`, `{"to":"[EMAIL_1_k7q2f]"}`)
	f.Add(`[`, `{"a":{"b":[`)
	r := newRig(f, func(o *Options, _ *Grant) { o.Limits.Calls, o.Limits.Requests = 1<<40, 1<<40 })
	f.Fuzz(func(t *testing.T, answered, arguments string) {
		r.tb = t
		r.up.answer = func(context.Context, string, string) (servers.Result, error) {
			return servers.Result{JSON: pii.NewRaw(answered)}, nil
		}
		status, body := r.call("shop__find", arguments)
		if !json.Valid([]byte(body)) || status == http.StatusOK && !isObject(body) {
			t.Errorf("%d %s", status, body)
		}
	})
}
