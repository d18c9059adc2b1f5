package bridge

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"airlock/servers"
)

// TestValuePutTogetherFromACodeGoesNowhereElse plays a script that gets a value
// past the detectors in hex, as SQL's hex() gives it, and sends it on in clear.
func TestValuePutTogetherFromACodeGoesNowhereElse(t *testing.T) {
	t.Parallel()
	const secret = `{"to":"ann.secret@corp.example"}`
	r := newRig(t)
	r.up.tools = []servers.Tool{tool("shop__find", `{"type":"object"}`), tool("post__put", `{"type":"object"}`), tool("crm__add", `{"type":"object"}`)}
	r.up.answer = func(context.Context, string, string) (servers.Result, error) {
		return text("616e6e2e73656372657440636f72702e6578616d706c65"), nil
	}
	if status, body := r.call("post__put", secret); status != http.StatusOK {
		t.Fatalf("before any server answered, a value that the script made up is refused: %d %s", status, body)
	}
	if status, body := r.call("shop__find", `{}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	status, body := r.call("post__put", secret)
	if status != http.StatusForbidden || codeOf(t, body) != "release_refused" {
		t.Errorf("another server got the value: %d %s", status, body)
	}
	if status, body := r.call("crm__add", secret); status != http.StatusOK {
		t.Errorf("a server that may have all is refused: %d %s", status, body)
	}
}

// TestErrorsTellNoGuess: equal tokens would tell a script that it guessed right.
func TestErrorsTellNoGuess(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	known := r.show("ann.secret@corp.example", "shop")
	for _, guess := range []string{"ann.secret@corp.example", "bob.secret@corp.example"} {
		_, body := r.do(http.MethodGet, "/v1/tools/"+strings.ReplaceAll(guess, "@", "%40"), "")
		if strings.Contains(body, "[EMAIL_") || strings.Contains(body, known) || strings.Contains(body, guess) {
			t.Errorf("the error tells of a guess: %s", body)
		}
	}
}

// TestSchemaValuesStayTheServers: a value that stands in a schema belongs to its
// server, also where an error quotes it.
func TestSchemaValuesStayTheServers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.tools = []servers.Tool{
		tool("shop__find", `{"type":"object","properties":{"owner":{"enum":["ceo@corp.example"]}}}`), tool("post__put", `{"type":"object"}`),
	}
	r.up.answer = func(context.Context, string, string) (servers.Result, error) { return text("ok"), nil }
	status, body := r.call("shop__find", `{"owner":"x"}`)
	at := strings.Index(body, "[EMAIL_")
	if status != http.StatusUnprocessableEntity || at < 0 {
		t.Fatalf("%d %s", status, body)
	}
	token := body[at : at+strings.Index(body[at:], "]")+1]
	if status, body := r.call("post__put", `{"to":"`+token+`"}`); status != http.StatusForbidden {
		t.Errorf("another server got the schema's value: %d %s", status, body)
	}
}
