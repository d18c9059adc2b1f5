package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"airlock/orchestrator"
	"airlock/orchestrator/auth"
	"airlock/pii"
)

func TestPrivacyOfATaskIsToldWithoutValues(t *testing.T) {
	t.Parallel()
	const value = "ann@example.org"
	v := newVault(t)
	token := tokenized(t, v, value)
	given := &orchestrator.Privacy{Server: "mail", Released: []pii.Type{"EMAIL"}, Origins: []pii.Origin{pii.OriginUser}}
	kept := &orchestrator.Privacy{Server: "chat", Refused: []pii.Type{"EMAIL"}}
	f := &fakeService{vault: v, task: orchestrator.Task{ID: "task_1", Vault: v, Text: token, Protected: []orchestrator.Protected{{Type: "EMAIL", Count: 1, New: 1}}}}
	f.events = told(
		orchestrator.Event{Type: orchestrator.EventToolFinished, Data: orchestrator.EventData{Tool: "mail__send", Privacy: given}},
		orchestrator.Event{Type: orchestrator.EventToolFinished, Data: orchestrator.EventData{Tool: "mail__send", Privacy: given}},
		orchestrator.Event{Type: orchestrator.EventToolFinished, Data: orchestrator.EventData{Tool: "chat__post", Privacy: kept}},
	)
	send := start(t, f, all)
	status, _, body := send("GET", "/tasks/task_1/privacy", "")
	want := `{"protected":[{"type":"EMAIL","count":1,"new":1}],` +
		`"releases":[{"server":"mail","tool":"mail__send","types":["EMAIL"],"origins":["user"],"policy":"origin","calls":2}],` +
		`"refusals":[{"server":"chat","tool":"chat__post","types":["EMAIL"],"policy":"origin","calls":1}]}`
	if status != http.StatusOK || body != want {
		t.Errorf("answered %d\n%s, want\n%s", status, body, want)
	}
	status, _, body = send("GET", "/tasks/task_1/privacy/values?type=EMAIL", "")
	var values struct {
		Values []valueView
		Total  int
	}
	if err := json.Unmarshal([]byte(body), &values); err != nil || status != http.StatusOK {
		t.Fatalf("answered %d %s", status, body)
	}
	if len(values.Values) != 1 || values.Values[0] != (valueView{token.String(), value}) || values.Total != 1 {
		t.Errorf("the values are %s", body)
	}
	for query, code := range map[string]string{"?type=EMAIL&limit=0": "limit", "?kind=EMAIL": "unknown query"} {
		if status, _, body := send("GET", "/tasks/task_1/privacy/values"+query, ""); status != http.StatusBadRequest || !strings.Contains(body, code) {
			t.Errorf("%s answered %d %s", query, status, body)
		}
	}
	hidden := start(t, f, auth.Rights{Run: true})
	if status, _, body := hidden("GET", "/tasks/task_1/privacy/values?type=EMAIL", ""); status != http.StatusForbidden || strings.Contains(body, value) {
		t.Errorf("without the right: %d %s", status, body)
	}
}

func TestAboutTellsWhoCalls(t *testing.T) {
	t.Parallel()
	send := startWith(t, Options{Service: &fakeService{}, Port: "3000", Rights: auth.Rights{Run: true}, About: About{Version: "v", Model: "skillmatch", PIIMode: "sealed"}})
	want := `{"version":"v","model":"skillmatch","piiMode":"sealed","languages":["javascript"],"userId":"local","rights":{"run":true,"reveal":false,"approve":false}}`
	if status, _, body := send("GET", "/about", ""); status != http.StatusOK || body != want {
		t.Errorf("answered %d %s", status, body)
	}
	if status, _, body := send("GET", "/servers", ""); status != http.StatusOK || body != `{"count":0,"servers":[]}` {
		t.Errorf("answered %d %s", status, body)
	}
}
