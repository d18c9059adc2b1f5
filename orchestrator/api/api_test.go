package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"airlock/bridge"
	"airlock/ident"
	"airlock/orchestrator"
	"airlock/orchestrator/auth"
	"airlock/pii"
	"airlock/pii/detect"
	"airlock/runtime/sandbox"
	"airlock/skills"
	"airlock/test/openapi"
	"airlock/workspace"
)

// fakeService answers with what a test put into it and records what it is asked.
type fakeService struct {
	vault     *pii.Vault
	task      orchestrator.Task
	execution orchestrator.Execution
	file      orchestrator.ArtifactFile
	skills    []skills.Skill
	err       error
	events    []orchestrator.Event
	more      chan struct{} // of Events; nil for one that is never closed
	decided   orchestrator.Decision
	submitted orchestrator.TaskRequest
	executed  orchestrator.ExecuteRequest
	json      pii.Tokenized
	deleted   string
	checks    atomic.Int32
}

func (f *fakeService) Submit(_ context.Context, r orchestrator.TaskRequest) (ident.Task, error) {
	f.submitted = r
	return "task_1", f.err
}
func (f *fakeService) Wait(context.Context, ident.User, ident.Task) (orchestrator.Task, error) {
	return f.done(), nil
}
func (f *fakeService) Task(ident.User, ident.Task) (orchestrator.Task, error) { return f.done(), f.err }
func (f *fakeService) Tasks(ident.User) ([]orchestrator.Task, error) {
	return []orchestrator.Task{f.done()}, nil
}

// done is the task; one of which a test does not say where it stands has failed.
func (f *fakeService) done() orchestrator.Task {
	task := f.task
	task.Status = cmp.Or(task.Status, orchestrator.StatusFailed)
	return task
}
func (f *fakeService) Cancel(ident.User, ident.Task) error { return f.err }
func (f *fakeService) Decide(_ ident.User, _ ident.Task, _ ident.Approval, d orchestrator.Decision) error {
	f.decided = d
	return f.err
}
func (f *fakeService) Events(_ ident.User, _ ident.Task, after int) ([]orchestrator.Event, <-chan struct{}, error) {
	return f.events[min(after, len(f.events)):], f.more, f.err
}
func (f *fakeService) Execute(_ context.Context, r orchestrator.ExecuteRequest) (orchestrator.Execution, error) {
	f.executed = r
	x := f.execution
	x.Reason = cmp.Or(x.Reason, sandbox.ReasonOK)
	return x, f.err
}
func (f *fakeService) Tools(context.Context, ident.User, bridge.Query) (pii.Tokenized, *pii.Vault, error) {
	return f.json, f.vault, f.err
}
func (f *fakeService) Tool(context.Context, ident.User, string) (pii.Tokenized, *pii.Vault, error) {
	return f.json, f.vault, f.err
}
func (f *fakeService) Visitor() (*pii.Vault, error)              { return f.vault, f.err }
func (f *fakeService) Skills(ident.User) ([]skills.Skill, error) { return f.skills, f.err }
func (f *fakeService) Skill(ident.User, string) (skills.Skill, pii.Raw, error) {
	if len(f.skills) == 0 {
		return skills.Skill{}, pii.Raw{}, fs.ErrNotExist
	}
	return f.skills[0], f.skills[0].Description, nil
}
func (f *fakeService) SearchSkills(ident.User, pii.Raw) (found []skills.Match, err error) {
	for i, k := range f.skills {
		found = append(found, skills.Match{Skill: k, Confidence: 1 - 0.1*float64(i)})
	}
	return found, f.err
}
func (f *fakeService) AddSkill(ident.User, skills.Upload) (skills.Skill, error) {
	return skills.Skill{Scope: skills.ScopeUser}, f.err
}
func (f *fakeService) DeleteSkill(ident.User, string) error { return f.err }
func (f *fakeService) SkillHistory(ident.User, string) ([]skills.Version, error) {
	return []skills.Version{{Number: 1}}, f.err
}
func (f *fakeService) SkillDiff(ident.User, string, int, int) ([]skills.FileDiff, error) {
	return []skills.FileDiff{{File: "main.js", Text: pii.NewRaw("+x")}}, f.err
}
func (f *fakeService) RollbackSkill(ident.User, string, int) error { return f.err }
func (f *fakeService) ReviewSkill(ident.User, string) (skills.Review, error) {
	return skills.Review{Hash: "x", Number: 1, Diff: []skills.FileDiff{{File: "main.js", Text: pii.NewRaw("+x")}}}, f.err
}
func (f *fakeService) PromoteSkill(ident.User, string, string) (skills.Skill, error) {
	return skills.Skill{Scope: skills.ScopeUser}, f.err
}
func (f *fakeService) ZipSkill(ident.User, string) ([]byte, string, error) {
	return []byte("PK"), "x.zip", f.err
}
func (f *fakeService) VerifySkill(context.Context, ident.User, string) ([]orchestrator.SkillCheck, error) {
	return []orchestrator.SkillCheck{{Name: "test", Passed: true, Execution: f.execution}}, f.err
}
func (f *fakeService) Artifacts(context.Context, ident.User) ([]workspace.Artifact, error) {
	return []workspace.Artifact{f.file.Artifact}, f.err
}
func (f *fakeService) ReadArtifact(context.Context, ident.User, string) (orchestrator.ArtifactFile, error) {
	return f.file, f.err
}
func (f *fakeService) Rename(ident.User, ident.Session, pii.Raw) error { return f.err }
func (f *fakeService) DeleteArtifact(_ context.Context, _ ident.User, name string) error {
	f.deleted = name
	return f.err
}
func (f *fakeService) AnnounceErasure(context.Context, ident.User) error             { return f.err }
func (f *fakeService) EraseUser(context.Context, ident.User) error                   { return f.err }
func (f *fakeService) EraseSession(context.Context, ident.User, ident.Session) error { return f.err }
func (f *fakeService) Languages() []sandbox.Language                                 { return []sandbox.Language{sandbox.JavaScript} }
func (f *fakeService) Check(context.Context) map[string]error {
	f.checks.Add(1)
	return map[string]error{"sandbox fake": f.err}
}

func newVault(t *testing.T) *pii.Vault {
	t.Helper()
	d, err := detect.New(detect.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := pii.NewVault(pii.VaultOptions{Detector: d})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func tokenized(t *testing.T, v *pii.Vault, text string) pii.Tokenized {
	t.Helper()
	tok, err := v.Tokenize(pii.NewRaw(text), pii.OriginUser)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// start serves f and returns a function that sends one request.
func start(t *testing.T, f *fakeService, rights auth.Rights) func(method, path, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	return startWith(t, Options{Service: f, Port: "3000", Rights: rights})
}

func startWith(t *testing.T, o Options) func(method, path, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return serve(t, s)
}

// serve gives a client of s, which ends with the test.
func serve(t *testing.T, s *Server) func(method, path, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	client, base := s.Client()
	t.Cleanup(func() {
		client.CloseIdleConnections()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
	return func(method, path, body string, headers ...string) (int, http.Header, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		for i := 0; i < len(headers); i += 2 {
			if headers[i] == "Host" {
				r.Host = headers[i+1]
			}
			r.Header.Set(headers[i], headers[i+1])
		}
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		checkDescribed(t, openapi.Exchange{Request: r, RequestBody: []byte(body), Status: answer.StatusCode, Header: answer.Header, Body: text})
		return answer.StatusCode, answer.Header, string(text)
	}
}

var all = auth.Rights{Run: true, Reveal: true, Approve: true}

func code(t *testing.T, body string) string {
	t.Helper()
	var p struct {
		Error struct{ Code, Message, Hint string }
	}
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatalf("the error is not JSON: %q", body)
	}
	if p.Error.Message == "" || p.Error.Hint == "" {
		t.Errorf("the error tells no message or no hint: %s", body)
	}
	return p.Error.Code
}

func TestEveryRouteRefusesWhatABrowserPageCouldSend(t *testing.T) {
	t.Parallel()
	f := &fakeService{vault: newVault(t)}
	f.task.Vault = f.vault
	s, err := New(Options{Service: f, Port: "3000", Rights: all})
	if err != nil {
		t.Fatal(err)
	}
	send := start(t, f, all)
	seen := map[string]bool{}
	for _, route := range s.app.GetRoutes(true) {
		key := route.Method + " " + route.Path
		if seen[key] || route.Method == http.MethodHead || route.Method == http.MethodConnect || route.Method == http.MethodTrace {
			continue
		}
		seen[key] = true
		path := strings.NewReplacer(":id", "task_1", ":approvalId", "apr_1", ":name", "x", ":userId", "u1", "+", "a.txt").Replace(route.Path)
		for _, tc := range []struct {
			what    string
			headers []string
			status  int
		}{
			{"a foreign Host", []string{"Host", "evil.example:3000"}, http.StatusMisdirectedRequest},
			{"the right name with a wrong port", []string{"Host", "localhost:80"}, http.StatusMisdirectedRequest},
			{"a foreign Origin", []string{"Origin", "https://evil.example"}, http.StatusForbidden},
			{"the Origin null", []string{"Origin", "null"}, http.StatusForbidden},
			{"a text/plain body", []string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType},
			{"a compressed body", []string{"Content-Encoding", "gzip"}, http.StatusUnsupportedMediaType},
			{"a form", []string{"Content-Type", "application/x-www-form-urlencoded"}, http.StatusUnsupportedMediaType},
			{"a form of a page with a foreign Origin", []string{"Content-Type", "multipart/form-data; boundary=x", "Origin", "https://evil.example"}, http.StatusForbidden},
		} {
			status, header, body := send(route.Method, path, `{"userId":"u1"}`, tc.headers...)
			if status != tc.status {
				t.Errorf("%s with %s answered %d (%s), want %d", key, tc.what, status, body, tc.status)
				continue
			}
			code(t, body)
			if header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s allows other origins", key)
			}
		}
	}
	if len(seen) < 12 {
		t.Errorf("only %d routes were tried", len(seen))
	}
}

func TestOwnNamesAndOriginsAreTaken(t *testing.T) {
	t.Parallel()
	send := start(t, &fakeService{}, all)
	for _, headers := range [][]string{
		{"Host", "localhost:3000"}, {"Host", "127.0.0.1:3000"}, {"Host", "[::1]:3000"}, {"Host", "LOCALHOST:3000"},
		{"Origin", "http://localhost:3000"}, {"Origin", "http://127.0.0.1:3000"},
	} {
		if status, _, body := send("GET", "/health", "", headers...); status != http.StatusOK {
			t.Errorf("%v answered %d: %s", headers, status, body)
		}
	}
}

func TestBadInput(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		method, path, body string
		err                error
		status             int
		code, says         string
	}{
		"malformed JSON":                        {"POST", "/task", `{"userId":`, nil, 400, "invalid_request", "not valid JSON"},
		"no JSON object":                        {"POST", "/task", `[1]`, nil, 400, "invalid_request", "JSON object"},
		"two objects":                           {"POST", "/task", `{} {}`, nil, 400, "invalid_request", "more after"},
		"an unknown field":                      {"POST", "/task", `{"userId":"u1","tsak":"x"}`, nil, 400, "invalid_request", `unknown field "tsak"`},
		"a field written otherwise":             {"POST", "/task", `{"USERID":"u1","task":"x"}`, nil, 400, "invalid_request", `unknown field "USERID"`},
		"a field twice":                         {"POST", "/task", `{"userId":"u1","userId":"u2","task":"x"}`, nil, 400, "invalid_request", `"userId" is there twice`},
		"no body":                               {"POST", "/task", ``, nil, 400, "invalid_request", "empty"},
		"a field of another type":               {"POST", "/task", `{"userId":7}`, nil, 400, "invalid_request", `"userId" must be a string`},
		"a user id of no form":                  {"POST", "/task", `{"userId":"../x","task":"x"}`, nil, 400, "invalid_user_id", "userId must match"},
		"no user id":                            {"POST", "/execute", `{"code":"1"}`, nil, 400, "invalid_user_id", "userId must match"},
		"a timeout out of bounds":               {"POST", "/task", `{"userId":"u1","task":"x","timeoutMs":18446744073710}`, nil, 400, "invalid_request", "timeoutMs must be between"},
		"a negative timeout":                    {"POST", "/execute", `{"userId":"u1","code":"x","timeoutMs":-1}`, nil, 400, "invalid_request", "timeoutMs must be between"},
		"an empty task":                         {"POST", "/task", `{"userId":"u1"}`, fmt.Errorf("%w: the task is empty", orchestrator.ErrInvalid), 400, "invalid_request", "empty"},
		"a task too long":                       {"POST", "/task", `{"userId":"u1","task":"x"}`, fmt.Errorf("task %w", orchestrator.ErrTooLarge), 413, "too_large", "too large"},
		"a foreign session":                     {"POST", "/task", `{"userId":"u1","task":"x"}`, fmt.Errorf("session %w", orchestrator.ErrNotFound), 404, "not_found", "not found"},
		"too much at once":                      {"POST", "/task", `{"userId":"u1","task":"x"}`, orchestrator.ErrFull, 503, "full", "full"},
		"a user who waits with too much":        {"POST", "/task", `{"userId":"u1","task":"x"}`, orchestrator.ErrShare, 429, "user_full", "too much"},
		"a chat's field written otherwise":      {"POST", "/v1/chat/completions", `{"messages":[{"Role":"user","content":"x"}]}`, nil, 400, "invalid_request", `unknown field "Role"`},
		"a chat's field twice":                  {"POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"x"}],"messages":[]}`, nil, 400, "invalid_request", `"messages" is there twice`},
		"a message's field twice":               {"POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":"x","content":"y"}]}`, nil, 400, "invalid_request", `"content" is there twice`},
		"a part's field written otherwise":      {"POST", "/v1/chat/completions", `{"messages":[{"role":"user","content":[{"type":"text","TEXT":"x"}]}]}`, nil, 400, "invalid_request", "not the JSON of a chat completion"},
		"a field twice in what is ignored":      {"POST", "/v1/chat/completions", `{"metadata":{"a":1,"a":2},"messages":[{"role":"user","content":"x"}]}`, nil, 400, "invalid_request", `"a" is there twice`},
		"a file's field twice":                  {"POST", "/task", `{"userId":"u1","task":"x","files":[{"name":"a","name":"b","content":""}]}`, nil, 400, "invalid_request", `"name" is there twice`},
		"a file's field written otherwise":      {"POST", "/task", `{"userId":"u1","task":"x","files":[{"NAME":"a","content":""}]}`, nil, 400, "invalid_request", `unknown field "NAME"`},
		"brackets without end":                  {"POST", "/v1/chat/completions", `{"x":` + strings.Repeat("[", 5000), nil, 400, "invalid_request", "100 deep"},
		"an artifact to delete that is missing": {"DELETE", "/artifacts/u1/x.md", "", fs.ErrNotExist, 404, "not_found", "artifact"},
		"a folder to delete":                    {"DELETE", "/artifacts/u1/x", "", fs.ErrInvalid, 400, "invalid_name", ""},
		"an unknown language":                   {"POST", "/execute", `{"userId":"u1","code":"x"}`, orchestrator.ErrLanguage, 400, "unsupported_language", "language"},
		"an unknown tool":                       {"GET", "/tools/x", "", &bridge.Error{Status: 404, Code: "unknown_tool", Message: "no such tool", Hint: "ask"}, 404, "unknown_tool", "no such tool"},
		"an unknown parameter":                  {"GET", "/tools?quary=x", "", nil, 400, "invalid_request", `"quary"`},
		"a bad limit":                           {"GET", "/tools?limit=-1", "", nil, 400, "invalid_request", "limit"},
		"an unknown route":                      {"GET", "/nothing", "", nil, 404, "unknown_route", ""},
		"a wrong method":                        {"DELETE", "/task", "", nil, 404, "unknown_route", ""},
		"an unknown skill":                      {"GET", "/skills/x", "", nil, 404, "not_found", "skill"},
		"a file that is no base64":              {"POST", "/task", `{"userId":"u1","task":"x","files":[{"name":"a","content":"%"}]}`, nil, 400, "invalid_request", "not base64"},
		"a file's unknown field":                {"POST", "/task", `{"userId":"u1","task":"x","files":[{"name":"a","contents":""}]}`, nil, 400, "invalid_request", `unknown field "contents"`},
		"a key used for another task":           {"POST", "/task", `{"userId":"u1","task":"x"}`, orchestrator.ErrRepeat, 422, "idempotency_key_reused", "another request"},
		"no decision":                           {"POST", "/tasks/t/approvals/a", `{"userId":"u1"}`, nil, 400, "invalid_request", `decision must be "approve" or "deny"`},
		"a refusal for ever":                    {"POST", "/tasks/t/approvals/a", `{"decision":"deny","scope":"task"}`, nil, 400, "invalid_request", "goes with the decision"},
		"an unknown scope":                      {"POST", "/tasks/t/approvals/a", `{"decision":"approve","scope":"all"}`, nil, 400, "invalid_request", "scope must be"},
		"an answered approval":                  {"POST", "/tasks/t/approvals/a", `{"decision":"approve"}`, fmt.Errorf("approval %w", orchestrator.ErrNotFound), 404, "not_found", "approval not found"},
		"events of another's task":              {"GET", "/tasks/t/events?userId=u2", "", orchestrator.ErrNotFound, 404, "not_found", "not found"},
		"a user at work":                        {"DELETE", "/users/ann@example.org", "", orchestrator.ErrWorking, 409, "session_at_work", "at work"},
		"a session at work":                     {"DELETE", "/sessions/ses_1", "", orchestrator.ErrWorking, 409, "session_at_work", "at work"},
		"a missing artifact":                    {"GET", "/artifacts/u1/x.md", "", fs.ErrNotExist, 404, "not_found", "artifact"},
		"an artifact outside":                   {"GET", "/artifacts/u1/..%2f..%2fetc%2fpasswd", "", fs.ErrInvalid, 400, "invalid_name", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			send := start(t, &fakeService{err: tc.err, vault: newVault(t)}, all)
			status, _, body := send(tc.method, tc.path, tc.body)
			if status != tc.status {
				t.Fatalf("answered %d, want %d: %s", status, tc.status, body)
			}
			if got := code(t, body); got != tc.code || !strings.Contains(body, jsonEscaped(tc.says)) {
				t.Errorf("answered %s, want the code %s and %q", body, tc.code, tc.says)
			}
		})
	}
}

// TestBodyOverTheLimitIsRefusedUnread sends no byte of the body: the answer has to
// come from its announced length.
func TestBodyOverTheLimitIsRefusedUnread(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Service: &fakeService{}, Port: "3000", Rights: all})
	if err != nil {
		t.Fatal(err)
	}
	client, base := s.Client()
	defer func() { _ = s.Shutdown(context.Background()) }()
	unsent, hold := io.Pipe()
	defer hold.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/task", unsent)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = bodyLimit + 1
	r.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Fatalf("answered %d (%v): %s", answer.StatusCode, err, text)
	}
	if got := code(t, string(text)); got != "too_large" || !strings.Contains(string(text), "larger than 8388608 bytes") {
		t.Errorf("code is %s", got)
	}
}

func jsonEscaped(s string) string {
	text, _ := json.Marshal(s)
	return strings.Trim(string(text), `"`)
}

func TestUnknownErrorsTellNothing(t *testing.T) {
	t.Parallel()
	send := start(t, &fakeService{err: errors.New("secret of ann@example.org")}, all)
	status, _, body := send("POST", "/task", `{"userId":"u1","task":"x"}`)
	if status != 500 || code(t, body) != "internal" || strings.Contains(body, "secret") {
		t.Errorf("answered %d %s", status, body)
	}
}

func TestTaskIsAnsweredWithRealValues(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	f := &fakeService{vault: v, task: orchestrator.Task{
		ID: "task_1", Session: "ses_1", Status: orchestrator.StatusCompleted, Vault: v,
		Message:   tokenized(t, v, "Write to ann@example.org, see https://evil.example/?q=ann@example.org"),
		Output:    tokenized(t, v, `{"mail":"ann@example.org"}`),
		Logs:      []pii.Tokenized{tokenized(t, v, "found ann@example.org")},
		Artifacts: []orchestrator.Artifact{{Name: pii.Static("report.md"), Size: 3, MIME: "text/markdown"}},
	}}
	send := start(t, f, all)
	status, _, body := send("POST", "/task", `{"userId":"u1","task":"hello","maxTurns":3,"timeoutMs":5000}`)
	if status != 200 {
		t.Fatalf("answered %d: %s", status, body)
	}
	var got struct {
		TaskID, SessionID, Status, Message string
		Output                             struct{ Mail string }
		Logs                               []string
		Artifacts                          []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Message, "Write to ann@example.org") || got.Output.Mail != "ann@example.org" || got.Logs[0] != "found ann@example.org" {
		t.Errorf("the user got %s, want real values", body)
	}
	if strings.Contains(got.Message, "q=ann@example.org") {
		t.Error("a value stands inside a URL of the answer")
	}
	if got.TaskID != "task_1" || got.SessionID != "ses_1" || len(got.Artifacts) != 1 {
		t.Errorf("answered %s", body)
	}
	if f.submitted.User != "u1" || f.submitted.MaxTurns != 3 || f.submitted.Timeout != 5*time.Second {
		t.Errorf("submitted %+v", f.submitted)
	}
}

func TestAnInventedTokenDoesNotLoseTheResult(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	real := tokenized(t, v, "ann@example.org").String()
	invented := strings.Replace(real, "_1_", "_77_", 1)
	both := func(format string) pii.Tokenized { return v.FromModel(fmt.Sprintf(format, real, invented)) }
	f := &fakeService{
		task: orchestrator.Task{
			ID: "task_1", Status: orchestrator.StatusCompleted, Vault: v,
			Message: both("%s and %s"), Output: both(`["%s","%s"]`), Logs: []pii.Tokenized{both("%s, %s")},
		},
		execution: orchestrator.Execution{Session: "ses_1", Reason: sandbox.ReasonOK, Vault: v, Value: both(`["%s","%s"]`), Stdout: both("%s %s")},
		file: orchestrator.ArtifactFile{
			Artifact: workspace.Artifact{Name: "r.txt", MIME: "text/plain", Text: true},
			Data:     []byte(real + " " + invented), Vaults: []*pii.Vault{v},
		},
	}
	send := start(t, f, all)
	for _, one := range []struct {
		method, path, body string
		want               []string
	}{
		{"GET", "/tasks/task_1", "", []string{"ann@example.org and " + invented, `["ann@example.org","` + invented + `"]`, "ann@example.org, " + invented}},
		{"POST", "/execute", `{"userId":"u1","code":"x","detokenize":true}`, []string{`["ann@example.org","` + invented + `"]`, "ann@example.org " + invented}},
		{"GET", "/artifacts/u1/r.txt", "", []string{"ann@example.org " + invented}},
	} {
		status, _, body := send(one.method, one.path, one.body)
		if status != http.StatusOK {
			t.Errorf("%s answered %d: %s", one.path, status, body)
		}
		for _, want := range one.want {
			if !strings.Contains(body, want) {
				t.Errorf("%s answered %s, want %s in it", one.path, body, want)
			}
		}
	}
	var out strings.Builder
	if err := WriteReal(&out, v, both("%s %s")); err != nil || out.String() != "ann@example.org "+invented {
		t.Errorf("wrote %q, %v", out.String(), err)
	}
}

func TestRespondAsync(t *testing.T) {
	t.Parallel()
	send := start(t, &fakeService{}, all)
	status, header, body := send("POST", "/task", `{"userId":"u1","task":"hello"}`, "Prefer", "respond-async")
	if status != 202 || !strings.Contains(body, `"taskId":"task_1"`) || !strings.Contains(header.Get("Location"), "/tasks/task_1") {
		t.Errorf("answered %d %s, location %q", status, body, header.Get("Location"))
	}
}

func TestExecuteRevealsOnlyOnRequestAndByRight(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	f := &fakeService{execution: orchestrator.Execution{Session: "ses_1", Reason: sandbox.ReasonOK, Vault: v, Value: tokenized(t, v, `"ann@example.org"`)}}
	for name, tc := range map[string]struct {
		body     string
		rights   auth.Rights
		status   int
		revealed bool
	}{
		"tokens by default":           {`{"userId":"u1","code":"x"}`, all, 200, false},
		"values on request":           {`{"userId":"u1","code":"x","detokenize":true}`, all, 200, true},
		"no values without the right": {`{"userId":"u1","code":"x","detokenize":true}`, auth.Rights{Run: true}, 403, false},
		"nothing without any right":   {`{"userId":"u1","code":"x"}`, auth.Rights{}, 403, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, _, body := start(t, &fakeService{execution: f.execution}, tc.rights)("POST", "/execute", tc.body)
			if status != tc.status || strings.Contains(body, "ann@example.org") != tc.revealed {
				t.Errorf("answered %d %s", status, body)
			}
		})
	}
}

func TestToolsAreRevealedByRightOnly(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	f := &fakeService{vault: v, json: tokenized(t, v, `{"tools":["ann@example.org"],"total":1}`)}
	for name, tc := range map[string]struct {
		path   string
		rights auth.Rights
		status int
		shown  bool
	}{
		"tokens by default":         {"/tools", all, 200, false},
		"values on request":         {"/tools?detokenize=true", all, 200, true},
		"refused without the right": {"/tools?detokenize=true", auth.Rights{Run: true}, 403, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, _, body := start(t, f, tc.rights)("GET", tc.path, "")
			if status != tc.status || strings.Contains(body, "ann@example.org") != tc.shown {
				t.Errorf("answered %d %s", status, body)
			}
		})
	}
}

func TestArtifactIsADownloadWithRealValues(t *testing.T) {
	t.Parallel()
	v, other := newVault(t), newVault(t)
	token := tokenized(t, v, "ann@example.org").String()
	file := orchestrator.ArtifactFile{
		Artifact: workspace.Artifact{Name: "r/report.html", MIME: "text/html", Text: true},
		Data:     []byte("<b>" + token + "</b>"), Vaults: []*pii.Vault{other, v},
	}
	send := start(t, &fakeService{file: file}, all)
	status, header, body := send("GET", "/artifacts/u1/r/report.html", "")
	if status != 200 || body != "<b>ann@example.org</b>" {
		t.Errorf("answered %d %q", status, body)
	}
	if got := header.Get("Content-Disposition"); !strings.HasPrefix(got, "attachment") || !strings.Contains(got, "report.html") {
		t.Errorf("Content-Disposition is %q", got)
	}
	if header.Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("headers are %v", header)
	}
}

func TestReadyNamesWhatIsBroken(t *testing.T) {
	t.Parallel()
	send := start(t, &fakeService{err: errors.New("no engine; run make engine")}, all)
	if status, _, body := send("GET", "/ready", ""); status != 503 || !strings.Contains(body, "run make engine") {
		t.Errorf("answered %d %s", status, body)
	}
	if status, _, body := start(t, &fakeService{}, all)("GET", "/ready", ""); status != 200 {
		t.Errorf("answered %d %s", status, body)
	}
}

func TestErasedSessionShowsTokens(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	task := orchestrator.Task{ID: "task_1", Status: orchestrator.StatusCompleted, Vault: v, Message: tokenized(t, v, "ann@example.org")}
	v.Erase()
	status, _, body := start(t, &fakeService{task: task}, all)("GET", "/tasks/task_1", "")
	if status != 200 || !strings.Contains(body, "[EMAIL_1_") || strings.Contains(body, "ann@example.org") {
		t.Errorf("answered %d %s", status, body)
	}
}

func TestConfiguredOriginMayCallAndIsTold(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Service: &fakeService{}, Port: "3000", Rights: all, Origins: []string{"http://app.example"}})
	if err != nil {
		t.Fatal(err)
	}
	client, base := s.Client()
	defer func() { _ = s.Shutdown(context.Background()) }()
	for _, tc := range []struct {
		method, origin string
		status         int
		allow          string
	}{
		{http.MethodOptions, "http://app.example", http.StatusNoContent, "http://app.example"},
		{http.MethodGet, "http://app.example", http.StatusOK, "http://app.example"},
		{http.MethodOptions, "http://evil.example", http.StatusForbidden, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tc.method, base+"/health", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", tc.origin)
		r.Header.Set("Access-Control-Request-Method", http.MethodPost)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != tc.status || answer.Header.Get("Access-Control-Allow-Origin") != tc.allow {
			t.Errorf("%s from %s answered %d, allowed %q", tc.method, tc.origin, answer.StatusCode, answer.Header.Get("Access-Control-Allow-Origin"))
		}
	}
}

// TestHeadersThatTwoReadersReadDifferently are refused: a proxy in front may have
// judged the other one.
func TestHeadersThatTwoReadersReadDifferently(t *testing.T) {
	t.Parallel()
	s, err := New(Options{Service: &fakeService{}, Port: "3000", Rights: all})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }() // ends with Shutdown
	defer func() {
		if err := errors.Join(s.Shutdown(context.Background()), <-served); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	}()
	for name, head := range map[string]string{
		"two hosts":               "GET /health HTTP/1.1\r\nHost: evil.example\r\nHost: localhost:3000\r\n",
		"two origins":             "GET /health HTTP/1.1\r\nHost: localhost:3000\r\nOrigin: http://localhost:3000\r\nOrigin: http://evil.example\r\n",
		"two lengths":             "POST /task HTTP/1.1\r\nHost: localhost:3000\r\nContent-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 2\r\n",
		"a length and chunks":     "POST /task HTTP/1.1\r\nHost: localhost:3000\r\nContent-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n",
		"a host in the URI":       "GET http://localhost:3000/health HTTP/1.1\r\nHost: localhost:3000\r\n",
		"two paths in the URI":    "POST execute?x://localhost:3000/tasks/task_1/cancel HTTP/1.1\r\nHost: localhost:3000\r\n",
		"a user in the URI":       "GET @evil.example?x://localhost:3000/health HTTP/1.1\r\nHost: localhost:3000\r\n",
		"no scheme in the URI":    "GET //localhost:3000/health HTTP/1.1\r\nHost: localhost:3000\r\n",
		"another host in the URI": "GET http://evil.example/health HTTP/1.1\r\nHost: localhost:3000\r\n",
	} {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, head+"Connection: close\r\n\r\n{}"); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		_ = conn.Close()
		refused := strings.HasPrefix(string(answer), "HTTP/1.1 400") || strings.HasPrefix(string(answer), "HTTP/1.1 421")
		if err != nil || !refused {
			t.Errorf("%s: answered %.60q (%v)", name, answer, err)
		}
	}
}
