package bridge

import (
	"net/http"
	"strings"
	"testing"

	"airlock/pii"
	"airlock/servers"
)

func TestProgressIsPassedOn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.reports = []servers.Progress{
		{Done: 1, Total: 3, Message: pii.NewRaw("writing to ann@example.org " + strings.Repeat("x", 1000))},
		{Done: 2, Total: 3, Message: pii.NewRaw("too soon after the first")},
	}
	if status, body := r.call("shop__find", `{}`); status != http.StatusOK {
		t.Fatal(body)
	}
	var got []Progress
	for _, e := range r.events {
		if e.Progress != nil {
			got = append(got, *e.Progress)
		}
	}
	if len(got) != 1 || got[0].Done != 1 || got[0].Total != 3 {
		t.Fatalf("passed on was %+v, want the first report alone", got)
	}
	if text := got[0].Message.String(); !strings.HasPrefix(text, "writing to [EMAIL_1_") || len(text) > maxProgress {
		t.Errorf("the message is %q", text)
	}
}
