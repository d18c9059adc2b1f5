package bridge

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"airlock/pii"
	"airlock/pii/detect"
)

func TestProtectedValues(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a, b, c := r.show("eve@example.com", "shop"), r.show("EVE@example.com", "crm"), r.show("bob@example.com", "shop")
	card, iban := r.show("4111 1111 1111 1111", "shop"), r.show("DE89370400440532013000", "shop")
	for name, tc := range map[string]struct {
		path, body string
		status     int
		want       string
	}{
		"the same":                 {"same", `{"a":"` + a + `","b":"` + a + `"}`, 200, `{"same":true}`},
		"the same in another case": {"same", `{"a":"` + a + `","b":"` + b + `"}`, 200, `{"same":true}`},
		"others":                   {"same", `{"a":"` + a + `","b":"` + c + `"}`, 200, `{"same":false}`},
		"of two types":             {"same", `{"a":"` + a + `","b":"` + card + `"}`, 200, `{"same":false}`},
		"a guess in clear":         {"same", `{"a":"` + a + `","b":"eve@example.com"}`, 400, "not_a_token"},
		"a token in a text":        {"same", `{"a":"` + a + `","b":"x ` + a + `"}`, 400, "not_a_token"},
		"two tokens":               {"same", `{"a":"` + a + `","b":"` + a + c + `"}`, 400, "not_a_token"},
		"a made-up token":          {"same", `{"a":"` + a + `","b":"[EMAIL_99_k7q2f]"}`, 400, "unknown_token"},
		"one only":                 {"same", `{"a":"` + a + `"}`, 400, "bad_field"},
		"another type":             {"same", `{"a":"` + a + `","b":1}`, 400, "bad_field"},
		"an unknown field":         {"same", `{"a":"` + a + `","c":"` + a + `"}`, 400, "unknown_field"},
		"a card's brand":           {"attr", `{"token":"` + card + `","attribute":"brand"}`, 200, `{"value":"visa"}`},
		"an IBAN's country":        {"attr", `{"token":"` + iban + `","attribute":"country"}`, 200, `{"value":"DE"}`},
		"an e-mail has no brand":   {"attr", `{"token":"` + a + `","attribute":"brand"}`, 200, `{"value":null}`},
		"the last digits":          {"attr", `{"token":"` + card + `","attribute":"last4"}`, 403, "not_revealed"},
		"no attribute":             {"attr", `{"token":"` + card + `"}`, 400, "bad_field"},
		"ranking":                  {"rank", `{"tokens":["` + a + `"]}`, 403, "not_revealed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status, body := r.do(http.MethodPost, "/v1/pii/"+tc.path, tc.body)
			if status != tc.status || !strings.Contains(body, tc.want) || strings.Contains(body, "@") {
				t.Errorf("got %d %s, want %d %s", status, body, tc.status, tc.want)
			}
		})
	}
}

func TestRank(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *Options, g *Grant) {
		d, err := detect.New(detect.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if g.Vault, err = pii.NewVault(pii.VaultOptions{Detector: d, Rank: true}); err != nil {
			t.Fatal(err)
		}
	})
	r.vault = r.grant.Vault
	tokens := strings.Fields(r.show("e@example.com c@example.com a@example.com d@example.com b@example.com", "shop"))
	body, err := json.Marshal(map[string]any{"tokens": tokens})
	if err != nil {
		t.Fatal(err)
	}
	if status, answer := r.do(http.MethodPost, "/v1/pii/rank", string(body)); status != http.StatusOK || answer != `{"ranks":[4,2,0,3,1]}` {
		t.Errorf("got %d %s", status, answer)
	}
}
