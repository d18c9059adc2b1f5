package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"airlock/pii"
	"airlock/servers"
)

func TestCall(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	status, body := r.call("shop__echo", `{"n":1,"big":12345678901234567890}`)
	if want := `{"content":[{"type":"text","text":"{\"n\":1,\"big\":12345678901234567890}"}]}`; status != http.StatusOK || body != want {
		t.Errorf("got %d %s, want %s", status, body, want)
	}
	if calls := r.up.called(); len(calls) != 1 || calls[0] != `shop__echo {"n":1,"big":12345678901234567890}` {
		t.Errorf("the tool got %v", calls)
	}
	if len(r.events) != 2 || r.events[0].Finished || !r.events[1].Finished || r.events[1].Outcome != "ok" || r.events[1].Tool != "shop__echo" || r.events[1].ResultBytes != len(body) {
		t.Errorf("events are %+v", r.events)
	}
	record := r.records()[0]
	for key, want := range map[string]any{"event": "call", "session": "ses_one", "task": "task_one", "execution": "exe_one", "tool": "shop__echo", "server": "shop", "outcome": "ok"} {
		if record[key] != want {
			t.Errorf("audit says %s is %v, want %v", key, record[key], want)
		}
	}
	if hash, _ := record["arguments"].(string); len(hash) != 32 {
		t.Errorf("audit has arguments %v, want an HMAC", record["arguments"])
	}
}

func TestCallsWithoutArguments(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{}`, `{"arguments":null}`, `{"arguments":{}}`, ` { "arguments" : { } } `} {
		r := newRig(t)
		if status, answer := r.do(http.MethodPost, "/v1/tools/shop__find/call", body); status != http.StatusOK {
			t.Errorf("%s: %d %s", body, status, answer)
		}
	}
}

// Values come back as tokens, in both copies of a result and within JSON in text,
// and go to their own server as themselves.
func TestValuesCrossTheBoundary(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.answer = func(_ context.Context, _, _ string) (servers.Result, error) {
		return servers.Result{JSON: pii.NewRaw(`{"content":[{"type":"text","text":"[{\"email\":\"eve@example.com\"}]"}],"structuredContent":{"rows":[{"email":"eve@example.com"}]}}`)}, nil
	}
	status, body := r.call("shop__find", `{}`)
	if status != http.StatusOK || strings.Contains(body, "eve@") || strings.Count(body, "[EMAIL_1_k7q2f]") != 2 || !json.Valid([]byte(body)) {
		t.Fatalf("got %d %s", status, body)
	}
	status, body = r.call("shop__find", `{"to":"[EMAIL_1_k7q2f]"}`)
	if calls := r.up.called(); status != http.StatusOK || calls[1] != `shop__find {"to":"eve@example.com"}` {
		t.Errorf("got %d %s; the tool got %v", status, body, calls)
	}
	releases := slices.DeleteFunc(r.records(), func(m map[string]any) bool { return m["event"] != eventRelease })
	if len(releases) != 1 || fmt.Sprint(releases[0]["released"]) != "[EMAIL]" || fmt.Sprint(releases[0]["origins"]) != "[server:shop]" {
		t.Errorf("releases are %v", releases)
	}
}

func TestReleasePolicy(t *testing.T) {
	t.Parallel()
	const value = "eve@example.com"
	for name, tc := range map[string]struct {
		tool   string
		raw    bool // the script sends the value itself, which it cannot know
		status int
	}{
		"back to where it came from":        {"shop__find", false, http.StatusOK},
		"to another server":                 {"disk__read", false, http.StatusForbidden},
		"to another server, in clear":       {"disk__read", true, http.StatusForbidden},
		"to a server that is given nothing": {"mail__send", false, http.StatusForbidden},
		"to a server that is given all":     {"crm__update", false, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(o *Options, _ *Grant) { o.Approver = consent{} })
			send := r.show(value, "shop")
			if tc.raw {
				send = value
			}
			status, body := r.call(tc.tool, `{"to":"`+send+`"}`)
			if status != tc.status {
				t.Fatalf("got %d %s, want %d", status, body, tc.status)
			}
			if status == http.StatusForbidden && (codeOf(t, body) != "release_refused" || !strings.Contains(body, "EMAIL") || !strings.Contains(body, "catalog.json") || strings.Contains(body, value)) {
				t.Errorf("got %s", body)
			}
			if reached := len(r.up.called()) > 0; reached != (tc.status == http.StatusOK) {
				t.Errorf("reached the tool: %v", reached)
			}
		})
	}
}

func TestRefusedCalls(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":`, maxNesting+1) + `1` + strings.Repeat(`}`, maxNesting+1)
	for name, tc := range map[string]struct {
		path, body string
		status     int
		code       string
		says       []string
	}{
		"not JSON":                   {"shop__find", `{"arguments":`, 400, "bad_json", nil},
		"empty":                      {"shop__find", ``, 400, "bad_json", nil},
		"two values":                 {"shop__find", `{} {}`, 400, "bad_json", nil},
		"no UTF-8":                   {"shop__find", "{\"arguments\":{\"a\":\"\xff\"}}", 400, "bad_json", nil},
		"not an object":              {"shop__find", `[]`, 400, "bad_json", nil},
		"null":                       {"shop__find", `null`, 400, "bad_json", nil},
		"an unknown field":           {"shop__find", `{"args":{}}`, 400, "unknown_field", []string{`\"args\"`, "arguments"}},
		"a field in another case":    {"shop__find", `{"Arguments":{}}`, 400, "unknown_field", nil},
		"a field twice":              {"shop__find", `{"arguments":{},"arguments":{"x":1}}`, 400, "bad_json", nil},
		"a key twice":                {"shop__find", `{"arguments":{"a":{"b":1,"\u0062":2}}}`, 400, "bad_json", nil},
		"a list of arguments":        {"shop__find", `{"arguments":[1]}`, 400, "bad_arguments", nil},
		"nested too deep":            {"shop__find", `{"arguments":` + deep + `}`, 400, "bad_json", nil},
		"a number nobody can hold":   {"shop__find", `{"arguments":{"a":1e999999999}}`, 400, "bad_json", nil},
		"an unknown tool":            {"shop__fnid", `{}`, 404, "unknown_tool", []string{"shop__find"}},
		"another case":               {"SHOP__find", `{}`, 404, "unknown_tool", []string{"shop__find"}},
		"a look-alike letter":        {"shop__f%D1%96nd", `{}`, 404, "unknown_tool", nil},
		"a full-width letter":        {"shop__%EF%BD%86ind", `{}`, 404, "unknown_tool", nil},
		"a trailing space":           {"shop__find%20", `{}`, 404, "unknown_tool", nil},
		"an escaped slash":           {"..%2f..%2fshop__find", `{}`, 404, "unknown_tool", nil},
		"NUL":                        {"shop__find%00", `{}`, 400, "bad_tool_name", nil},
		"a line break":               {"shop__find%0a", `{}`, 400, "bad_tool_name", nil},
		"over-long":                  {strings.Repeat("a", maxName+1), `{}`, 400, "bad_tool_name", nil},
		"not UTF-8":                  {"%ff", `{}`, 400, "bad_tool_name", nil},
		"a segment up":               {"shop__find/..", `{}`, 404, "unknown_route", nil},
		"too large by its length":    {"shop__find", `{"arguments":{"a":"` + strings.Repeat("x", 8<<20+envelope) + `"}}`, 413, "too_large", nil},
		"missing":                    {"shop__typed", `{"arguments":{}}`, 422, "invalid_arguments", []string{"/: required", `limit`}},
		"another type":               {"shop__typed", `{"arguments":{"limit":"secret-9"}}`, 422, "invalid_arguments", []string{"/limit: type (want integer)"}},
		"out of bounds":              {"shop__typed", `{"arguments":{"limit":0}}`, 422, "invalid_arguments", []string{"/limit: minimum (want at least 1)"}},
		"fields it does not know":    {"shop__typed", `{"arguments":{"limit":1,"x":2}}`, 422, "invalid_arguments", []string{"additionalProperties"}},
		"a schema that leads abroad": {"shop__broken", `{}`, 502, "bad_tool_schema", []string{"not followed"}},
		"a made-up token":            {"shop__find", `{"arguments":{"to":"[EMAIL_7_k7q2f]"}}`, 400, "unknown_token", []string{"EMAIL_7_k7q2f"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.show("eve@example.com", "shop")
			status, body := r.do(http.MethodPost, "/v1/tools/"+tc.path+"/call", tc.body)
			if status != tc.status || codeOf(t, body) != tc.code {
				t.Fatalf("got %d %s, want %d %s", status, body, tc.status, tc.code)
			}
			for _, part := range tc.says {
				if !strings.Contains(body, part) {
					t.Errorf("%s does not say %s", body, part)
				}
			}
			if strings.Contains(body, "secret-9") {
				t.Errorf("%s repeats the value", body)
			}
			if calls := r.up.called(); len(calls) > 0 {
				t.Errorf("reached a tool: %v", calls)
			}
		})
	}
}

// A key of the arguments can be a value too: after detokenizing it must not come
// back in the path of a violation.
func TestViolationsDoNotRepeatValues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.tools = append(r.up.tools, tool("shop__map", `{"type":"object","additionalProperties":{"type":"integer"}}`))
	token := r.show("eve@example.com", "shop")
	status, body := r.call("shop__map", `{"`+token+`":"x","plain":"y"}`)
	if status != http.StatusUnprocessableEntity || strings.Contains(body, "eve") || !strings.Contains(body, "/*: type") || !strings.Contains(body, "/plain: type") {
		t.Errorf("got %d %s", status, body)
	}
}

func TestOutOfScope(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *Options, g *Grant) { g.Scope = "shop__*" })
	for _, name := range []string{"mail__send", "no__such", "Shop__find"} {
		if status, body := r.call(name, `{}`); status != http.StatusForbidden || codeOf(t, body) != "out_of_scope" {
			t.Errorf("%s: %d %s", name, status, body)
		}
		if status, body := r.do(http.MethodGet, "/v1/tools/"+name, ""); status != http.StatusForbidden || codeOf(t, body) != "out_of_scope" {
			t.Errorf("details of %s: %d %s", name, status, body)
		}
	}
	if status, body := r.call("shop__fnd", `{}`); status != http.StatusNotFound || strings.Contains(body, "mail") {
		t.Errorf("suggestions leave the scope: %d %s", status, body)
	}
}

func TestUpstreamFailures(t *testing.T) {
	t.Parallel()
	said := &servers.Error{Server: "shop", Doing: "call a tool of server", Kind: servers.ErrUpstream, Reason: "it answered with an error",
		Hint: "look at its log", Detail: pii.NewRaw("no row for eve@example.com")}
	for name, tc := range map[string]struct {
		result servers.Result
		err    error
		status int
		code   string
	}{
		"failed":             {servers.Result{}, said, 502, "upstream_failed"},
		"too slow":           {servers.Result{}, fmt.Errorf("call: %w", servers.ErrTimeout), 504, "upstream_timeout"},
		"too large for it":   {servers.Result{}, fmt.Errorf("call: %w", servers.ErrResultTooLarge), 502, "result_too_large"},
		"too large for us":   {text(strings.Repeat("x", 8<<20)), nil, 502, "result_too_large"},
		"arguments refused":  {servers.Result{}, fmt.Errorf("call: %w", servers.ErrArgumentsTooLarge), 413, "too_large"},
		"gone since":         {servers.Result{}, fmt.Errorf("call: %w", servers.ErrUnknownTool), 404, "unknown_tool"},
		"an unknown error":   {servers.Result{}, errors.New("boom"), 502, "upstream_failed"},
		"no JSON":            {servers.Result{JSON: pii.NewRaw(`{"content":`)}, nil, 502, "bad_result"},
		"no object":          {servers.Result{JSON: pii.NewRaw(`[1]`)}, nil, 502, "bad_result"},
		"nothing":            {servers.Result{}, nil, 502, "bad_result"},
		"an error of a tool": {servers.Result{JSON: pii.NewRaw(`{"content":[],"isError":true}`), IsError: true}, nil, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.up.answer = func(context.Context, string, string) (servers.Result, error) { return tc.result, tc.err }
			status, body := r.call("shop__find", `{}`)
			if status != tc.status || codeOf(t, body) != tc.code {
				t.Fatalf("got %d %s, want %d %s", status, body, tc.status, tc.code)
			}
			if strings.Contains(body, "eve@") {
				t.Errorf("%s holds a value", body)
			}
			if errors.Is(tc.err, error(said)) && (!strings.Contains(body, "no row for [EMAIL_1_k7q2f]") || !strings.Contains(body, "look at its log")) {
				t.Errorf("%s does not say what the server said", body)
			}
			want := map[bool]string{true: outcomeToolError, false: tc.code}[tc.code == ""]
			if records := r.records(); records[len(records)-1]["outcome"] != want {
				t.Errorf("audit is %v, want outcome %q", records, want)
			}
		})
	}
}

func TestSlowToolIsLeft(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.up.answer = func(ctx context.Context, _, _ string) (servers.Result, error) {
			<-ctx.Done()
			return servers.Result{}, context.Cause(ctx)
		}
		begin := time.Now()
		status, body := r.call("shop__find", `{}`)
		if status != http.StatusGatewayTimeout || codeOf(t, body) != "upstream_timeout" || time.Since(begin) != 60*time.Second {
			t.Errorf("got %d %s after %v", status, body, time.Since(begin))
		}
	})
}

// What cannot be written down is not done: no value is released without a record,
// and no result is passed on.
func TestAuditFailureFailsTheCall(t *testing.T) {
	t.Parallel()
	for name, arguments := range map[string]string{"before a release": `{"to":"[EMAIL_1_k7q2f]"}`, "after a call": `{}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.show("eve@example.com", "shop")
			r.audit.failWith(errors.New("disk full"))
			status, body := r.call("shop__find", arguments)
			if status != http.StatusInternalServerError || codeOf(t, body) != "audit_failed" {
				t.Errorf("got %d %s", status, body)
			}
			if released := len(r.up.called()) > 0; released && name == "before a release" {
				t.Error("the value was released")
			}
		})
	}
}

func TestPanicOfATool(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.answer = func(context.Context, string, string) (servers.Result, error) { panic("eve@example.com") }
	status, body := r.call("shop__find", `{}`)
	if status != http.StatusInternalServerError || codeOf(t, body) != "internal" {
		t.Errorf("got %d %s", status, body)
	}
	if strings.Contains(r.log.String(), "eve@") {
		t.Errorf("the log repeats the panic: %s", r.log)
	}
	r.up.answer = func(context.Context, string, string) (servers.Result, error) { return text("ok"), nil }
	if status, body := r.call("shop__find", `{}`); status != http.StatusOK {
		t.Errorf("the next call: %d %s", status, body)
	}
}
