package api

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"airlock/orchestrator"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/skills"
	"airlock/test/openapi"
)

var document = sync.OnceValues(openapi.Load)

// checkDescribed holds an exchange against docs/openapi.json, as all tests do that
// send requests by startWith.
func checkDescribed(t *testing.T, x openapi.Exchange) {
	t.Helper()
	d, err := document()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Check(x); err != nil {
		t.Errorf("%v\nrequest %s\nanswer %s", err, x.RequestBody, x.Body)
	}
}

// TestRoutesAreDescribed compares what is served with what is described, both ways.
func TestRoutesAreDescribed(t *testing.T) {
	t.Parallel()
	d, err := document()
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(Options{Service: &fakeService{}, Port: "3000", Metrics: http.NotFoundHandler()})
	if err != nil {
		t.Fatal(err)
	}
	var served []string
	for _, route := range s.app.GetRoutes(true) {
		if route.Method == http.MethodHead { // answered as GET is, without the body
			continue
		}
		path := strings.Split(strings.Replace(route.Path, "+", ":name", 1), "/")
		for i, part := range path {
			if name, ok := strings.CutPrefix(part, ":"); ok {
				path[i] = "{" + name + "}"
			}
		}
		if described := route.Method + " " + strings.Join(path, "/"); described != route.Method+" /" { // of the guards
			served = append(served, described)
		}
	}
	slices.Sort(served)
	if described := d.Operations(); !slices.Equal(served, described) {
		t.Errorf("served:\n%s\ndescribed:\n%s", strings.Join(served, "\n"), strings.Join(described, "\n"))
	}
}

// TestEveryOperationAnswers sends each described operation a request that it takes.
func TestEveryOperationAnswers(t *testing.T) {
	t.Parallel()
	d, err := document()
	if err != nil {
		t.Fatal(err)
	}
	f := conversation(t)
	f.json = pii.Static(`{"tools":["mail__send"],"total":1}`)
	f.skills = []skills.Skill{{Name: pii.NewRaw("mail"), Scope: skills.ScopeLibrary}}
	f.task.Status = orchestrator.StatusCompleted
	f.task.Artifacts = []orchestrator.Artifact{{Name: f.vault.FromModel("a.png"), Size: 1, MIME: "image/png"}}
	f.execution = orchestrator.Execution{Vault: f.vault, Reason: sandbox.ReasonOK, Error: &orchestrator.ScriptError{}, Refused: []orchestrator.RefusedSkill{{Name: "x", Reason: "y"}}}
	counts := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	})
	send := startWith(t, Options{Service: f, Port: "3000", Rights: all, Metrics: counts, About: About{PIIMode: "sealed"}})
	tool := startWith(t, Options{Service: &fakeService{vault: f.vault, json: pii.Static(`{"name":"x","description":"","signature":"","annotations":{"readOnlyHint":true}}`)}, Port: "3000", Rights: all})
	const chat = `"messages":[{"role":"user","content":"x"}]`
	left := d.Operations()
	for operation, tc := range map[string]struct{ path, body string }{
		"GET /artifacts/{userId}":                 {path: "/artifacts/u1"},
		"GET /artifacts/{userId}/{name}":          {path: "/artifacts/u1/a.txt"},
		"DELETE /artifacts/{userId}/{name}":       {path: "/artifacts/u1/a.txt"},
		"DELETE /sessions/{id}":                   {path: "/sessions/ses_1"},
		"DELETE /users/{userId}":                  {path: "/users/u1"},
		"GET /about":                              {path: "/about"},
		"GET /servers":                            {path: "/servers"},
		"PATCH /sessions/{id}":                    {"/sessions/ses_1", `{"title":"x"}`},
		"GET /tasks/{id}/privacy":                 {path: "/tasks/task_1/privacy?userId=u1"},
		"GET /tasks/{id}/privacy/values":          {path: "/tasks/task_1/privacy/values?userId=u1&type=EMAIL"},
		"GET /health":                             {path: "/health"},
		"GET /metrics":                            {path: "/metrics"},
		"GET /openapi.json":                       {path: "/openapi.json"},
		"GET /ready":                              {path: "/ready"},
		"GET /skills":                             {path: "/skills?userId=u1"},
		"GET /skills/{name}":                      {path: "/skills/mail"},
		"POST /skills":                            {"/skills", `{"userId":"u1","name":"x.js","files":{"x.js":"// Counts."}}`},
		"DELETE /skills/{name}":                   {path: "/skills/mail?userId=u1"},
		"GET /skills/{name}/zip":                  {path: "/skills/mail/zip"},
		"GET /skills/{name}/history":              {path: "/skills/mail/history"},
		"GET /skills/{name}/diff":                 {path: "/skills/mail/diff?from=1&to=2"},
		"GET /skills/{name}/review":               {path: "/skills/mail/review"},
		"POST /skills/{name}/rollback":            {"/skills/mail/rollback", `{"userId":"u1","number":1}`},
		"POST /skills/{name}/promote":             {"/skills/mail/promote", `{"userId":"u1","hash":"x"}`},
		"POST /skills/{name}/verify":              {"/skills/mail/verify", `{"userId":"u1"}`},
		"GET /tasks":                              {path: "/tasks?userId=u1"},
		"GET /tasks/{id}":                         {path: "/tasks/task_1?userId=u1"},
		"GET /tasks/{id}/events":                  {path: "/tasks/task_1/events?userId=u1"},
		"GET /tools":                              {path: "/tools?limit=1&detail=name&detokenize=true"},
		"GET /tools/{name}":                       {path: "/tools/x"},
		"GET /v1/models":                          {path: "/v1/models"},
		"POST /execute":                           {"/execute", `{"userId":"u1","code":"return 1","language":"javascript","detokenize":true}`},
		"POST /task":                              {"/task", `{"userId":"u1","task":"x","files":[{"name":"a.txt","content":"YQ=="}],"maxTurns":3}`},
		"POST /tasks/{id}/approvals/{approvalId}": {"/tasks/task_1/approvals/apr_1", `{"userId":"u1","decision":"approve","scope":"task"}`},
		"POST /tasks/{id}/cancel":                 {path: "/tasks/task_1/cancel?userId=u1"},
		"POST /v1/chat/completions":               {"/v1/chat/completions", `{` + chat + `}`},
	} {
		send := send
		if operation == "GET /tools/{name}" {
			send = tool
		}
		method, _, _ := strings.Cut(operation, " ")
		if status, _, body := send(method, tc.path, tc.body); status >= http.StatusBadRequest {
			t.Errorf("%s answered %d %s", operation, status, body)
		}
		left = slices.DeleteFunc(left, func(o string) bool { return o == operation })
	}
	if len(left) > 0 {
		t.Errorf("never sent: %v", left)
	}
	for _, stream := range []struct{ path, body, accept string }{
		{"/task", `{"userId":"u1","task":"x"}`, eventStream},
		{"/v1/chat/completions", `{"stream":true,"stream_options":{"include_usage":true},` + chat + `}`, "*/*"},
	} {
		if _, header, body := send("POST", stream.path, stream.body, "Accept", stream.accept); header.Get("Content-Type") != eventStream || !strings.Contains(body, "data: ") {
			t.Errorf("%s streamed %q", stream.path, body)
		}
	}
	if status, _, body := send("POST", "/task", `{"userId":"u1","task":"x"}`, "Prefer", "respond-async"); status != http.StatusAccepted {
		t.Errorf("answered %d %s", status, body)
	}
}

// TestDescriptionFindsDifferences makes sure that the checks above can fail.
func TestDescriptionFindsDifferences(t *testing.T) {
	t.Parallel()
	d, err := document()
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		method, path, body, answer, kind string
		status                           int
	}{
		"a field too many":           {"GET", "/tasks", "", `{"tasks":[],"count":0,"more":1}`, "application/json", 200},
		"a field that is missing":    {"GET", "/tasks", "", `{"tasks":[]}`, "application/json", 200},
		"an error of another form":   {"GET", "/tasks", "", `{"message":"no"}`, "application/json", 500},
		"an error that is no JSON":   {"GET", "/tasks", "", `no`, "text/plain", 500},
		"an unknown status":          {"GET", "/tasks", "", `{"tasks":[{"taskId":"t","sessionId":"s","status":"lost","created":"2026-01-01T00:00:00Z"}],"count":1}`, "application/json", 200},
		"a request that is not so":   {"POST", "/execute", `{"code":7}`, `{"sessionId":"s","status":"ok","result":null,"stdout":"","stderr":"","artifacts":[],"durationMs":1}`, "application/json", 200},
		"an event of no known type":  {"GET", "/tasks/t/events", "", "data: {\"seq\":1,\"taskId\":\"t\",\"at\":\"2026-01-01T00:00:00Z\",\"type\":\"x\",\"data\":{}}\n\n", eventStream, 200},
		"OpenAI's errors in another": {"GET", "/v1/models", "", `{"error":{"code":"c","message":"m","hint":"h"}}`, "application/json", 401},
	} {
		r, err := http.NewRequestWithContext(t.Context(), x.method, "http://localhost:3000"+x.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if x.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		_, err = d.Check(openapi.Exchange{Request: r, RequestBody: []byte(x.body), Status: x.status, Header: http.Header{"Content-Type": {x.kind}}, Body: []byte(x.answer)})
		if err == nil {
			t.Errorf("%s is not found", name)
		}
	}
}
