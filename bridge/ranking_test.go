package bridge

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"airlock/discovery"
	"airlock/pii"
	"airlock/servers"
)

// A question that no tool answers is told from one that a tool does.
func TestListingSaysWhetherToolsFit(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for query, want := range map[string]bool{"delete all": true, "mail zzyzxq qwrtpl bvcnm xxqz wvvkx ttrzq plmokz kkzzq vvbnq": false, "zzyzxq": false} {
		_, body := r.do(http.MethodGet, "/v1/tools?detail=summary&query="+url.QueryEscape(query), "")
		var got struct {
			Fits  *bool
			Tools []struct {
				Score float64
				Fits  *bool
			}
		}
		if err := json.Unmarshal([]byte(body), &got); err != nil {
			t.Fatal(err)
		}
		if got.Fits == nil || *got.Fits != want {
			t.Errorf("%q: %s, want fits %v", query, body, want)
		}
		for _, hit := range got.Tools {
			if hit.Fits == nil || *hit.Fits != (hit.Score >= discovery.Fits) || hit.Score <= 0 || hit.Score > 1 {
				t.Errorf("%q: a hit of %s", query, body)
			}
		}
	}
	if _, body := r.do(http.MethodGet, "/v1/tools?detail=summary", ""); strings.Contains(body, "fits") || strings.Contains(body, "score") {
		t.Errorf("a listing without a question says %s", body)
	}
}

// What no reader sees is gone before anything is shown, indexed or tokenized.
func TestDescriptionsAreCleaned(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	hidden := "\u200b\U000E0041\u202e"
	bad := tool("crm__lookup", `{"type":"object","properties":{"who":{"type":"string","description":"the`+hidden+` name, \u200bor e\u200bve@example.com"}}}`)
	bad.Title, bad.Description = pii.NewRaw("Look"+hidden+" up"), pii.NewRaw("Asks "+hidden+"e\u200bve@example.com. "+strings.Repeat("More. ", 2000))
	r.up.tools = []servers.Tool{bad}
	for _, path := range []string{"/v1/tools/crm__lookup", "/v1/tools?detail=summary", "/v1/tools?detail=full"} {
		_, body := r.do(http.MethodGet, path, "")
		if strings.ContainsAny(body, hidden) || strings.Contains(body, "200b") || strings.Contains(body, "ve@") || !strings.Contains(body, "Asks [EMAIL_1_k7q2f].") || len(body) > 8<<10 {
			t.Errorf("%s answers %.300s", path, body)
		}
	}
}
