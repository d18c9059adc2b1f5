package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/orchestrator/auth"
)

// fakeCallers knows callers by their credentials.
type fakeCallers map[string]auth.Caller

func (f fakeCallers) Authenticate(_ context.Context, credential string) (auth.Caller, error) {
	caller, ok := f[credential]
	switch {
	case credential == "broken":
		return caller, errors.New("the store is broken")
	case !ok:
		return caller, fmt.Errorf("%w: it is unknown", auth.ErrUnauthorized)
	}
	return caller, nil
}

func TestCallersActAsThemselves(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	f := &fakeService{vault: v, task: orchestrator.Task{Vault: v, Status: orchestrator.StatusCompleted, Message: tokenized(t, v, "ann@example.org")}}
	send := startWith(t, Options{Service: f, Port: "3000", Rights: all, Authenticator: fakeCallers{
		"ann": {User: "ann", Rights: all}, "run": {User: "ann", Rights: auth.Rights{Run: true}}, "none": {User: "ann"},
	}})
	const task = `{"userId":"ann","task":"x"}`
	for name, tc := range map[string]struct {
		method, path, body, credential string
		status                         int
		code                           string
	}{
		"her own task":            {"POST", "/task", task, "Bearer ann", 200, ""},
		"without naming herself":  {"POST", "/task", `{"task":"x"}`, "Bearer ann", 200, ""},
		"her own tasks":           {"GET", "/tasks", "", "bearer ann", 200, ""},
		"somebody else's task":    {"POST", "/task", `{"userId":"bob","task":"x"}`, "Bearer ann", 403, "foreign_user"},
		"somebody else's tasks":   {"GET", "/tasks?userId=bob", "", "Bearer ann", 403, "foreign_user"},
		"somebody else's files":   {"GET", "/artifacts/bob", "", "Bearer ann", 403, "foreign_user"},
		"somebody else's chat":    {"POST", "/v1/chat/completions", `{"user":"bob","messages":[{"role":"user","content":"x"}]}`, "Bearer ann", 403, "foreign_user"},
		"no credential":           {"POST", "/task", task, "", 401, "unauthorized"},
		"another scheme":          {"POST", "/task", task, "Basic ann", 401, "unauthorized"},
		"an unknown credential":   {"GET", "/tools", "", "Bearer eve", 401, "unauthorized"},
		"on a route there is not": {"GET", "/nothing", "", "", 401, "unauthorized"},
		"no right to run":         {"POST", "/task", task, "Bearer none", 403, "no_run_right"},
		"no right to approve":     {"POST", "/tasks/t/approvals/a", `{"decision":"approve"}`, "Bearer run", 403, "no_approve_right"},
		"no right to values":      {"GET", "/tools?detokenize=true", "", "Bearer run", 403, "no_reveal_right"},
		"a store that fails":      {"GET", "/tools", "", "Bearer broken", 500, "internal"},
		"health needs nobody":     {"GET", "/health", "", "", 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, body := send(tc.method, tc.path, tc.body, "Authorization", tc.credential)
			if status != tc.status || tc.code != "" && code(t, body) != tc.code {
				t.Errorf("answered %d %s, want %d %s", status, body, tc.status, tc.code)
			}
		})
	}
	if _, _, body := send("POST", "/task", task, "Authorization", "Bearer run"); !strings.Contains(body, "[EMAIL_1_") {
		t.Errorf("without the right to values the answer is %s", body)
	}
	if f.submitted.User != "ann" {
		t.Errorf("the task was submitted for %q", f.submitted.User)
	}
}

func TestRatesBoundWhatUsersBegin(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	f := &fakeService{vault: v, task: orchestrator.Task{Vault: v}, execution: orchestrator.Execution{Vault: v}}
	send := startWith(t, Options{Service: f, Port: "3000", Rights: all, Rate: Rate{Most: 3, Window: time.Hour}})
	for n, tc := range []struct {
		method, path, body string
		status             int
	}{
		{"POST", "/task", `{"userId":"ann","task":"x"}`, 200},
		{"POST", "/execute", `{"userId":"ann","code":"x"}`, 200},
		{"POST", "/v1/chat/completions", `{"user":"ann","messages":[{"role":"user","content":"x"}]}`, http.StatusUnprocessableEntity}, // counts: it ran
		{"POST", "/task", `{"userId":"ann","task":"x"}`, 429},
		{"POST", "/execute", `{"userId":"ann","code":"x"}`, 429},
		{"POST", "/v1/chat/completions", `{"user":"ann","messages":[{"role":"user","content":"y"}]}`, 429},
		{"GET", "/tasks?userId=ann", "", 200},
		{"POST", "/task", `{"userId":"bob","task":"x"}`, 200},
	} {
		status, header, body := send(tc.method, tc.path, tc.body)
		if status != tc.status {
			t.Errorf("request %d answered %d %s, want %d", n+1, status, body, tc.status)
		}
		if status == 429 && header.Get("Retry-After") != "1200" {
			t.Errorf("request %d says to wait %q s, want a third of an hour", n+1, header.Get("Retry-After"))
		}
	}
}

func TestRatesForgetUsers(t *testing.T) {
	t.Parallel()
	r := newRates(Rate{Most: 1, Window: time.Hour})
	for n := range maxRates + 1 {
		r.take(ident.User(jsonNumber(n)))
	}
	if len(r.byUser) != 1 {
		t.Errorf("%d users are remembered", len(r.byUser))
	}
}

func TestStrangersBodiesAreNotReadIntoMemory(t *testing.T) {
	t.Parallel()
	f := &fakeService{vault: newVault(t)}
	f.task.Vault = f.vault
	send := startWith(t, Options{Service: f, Port: "3000", Authenticator: fakeCallers{"ann": {User: "ann", Rights: all}}})
	small, large := `{"task":"x"}`, `{"task":"`+strings.Repeat("x", strangersBody)+`"}`
	for name, tc := range map[string]struct {
		body, credential string
		status           int
	}{
		"a stranger's small body": {small, "Bearer eve", http.StatusUnauthorized},
		"a stranger's large body": {large, "Bearer eve", http.StatusRequestEntityTooLarge},
		"with no credential":      {large, "", http.StatusRequestEntityTooLarge},
		"a caller's large body":   {large, "Bearer ann", http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			if status, _, body := send("POST", "/task", tc.body, "Authorization", tc.credential); status != tc.status {
				t.Errorf("answered %d %s", status, body)
			}
		})
	}
}

// signedIn is a page whose cookie is the credential itself.
type signedIn struct{ http.HandlerFunc }

func (signedIn) Credential(cookie string) string { return strings.TrimPrefix(cookie, "in=") }

// TestVisitorsBodiesCountAsTheirCredentials is about the cookie of a page: it lets a large
// body in for who may call, on the page alone.
func TestVisitorsBodiesCountAsTheirCredentials(t *testing.T) {
	t.Parallel()
	page := signedIn{func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }}
	send := startWith(t, Options{
		Service: &fakeService{vault: newVault(t)}, Port: "3000", Authenticator: fakeCallers{"ann": {User: "ann", Rights: all}},
		Page: func(*http.Client, string) (http.Handler, error) { return page, nil },
	})
	large := `{"task":"` + strings.Repeat("x", strangersBody) + `"}`
	for name, tc := range map[string]struct {
		path, header, value string
		status              int
	}{
		"a visitor":                    {"/ui/ask", "Cookie", "in=ann", http.StatusOK},
		"a cookie that nobody gave":    {"/ui/ask", "Cookie", "in=eve", http.StatusRequestEntityTooLarge},
		"no cookie":                    {"/ui/ask", "Cookie", "", http.StatusRequestEntityTooLarge},
		"a key in place of a cookie":   {"/ui/ask", "Authorization", "Bearer ann", http.StatusRequestEntityTooLarge},
		"a cookie outside of the page": {"/task", "Cookie", "in=ann", http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if status, _, body := send("POST", tc.path, large, tc.header, tc.value); status != tc.status {
				t.Errorf("answered %d %s", status, body)
			}
		})
	}
}
