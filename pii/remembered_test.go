package pii

import (
	"strings"
	"testing"
)

func TestPeopleFoundByAKeyAreFoundInSentences(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ before, text, want string }{
		{`{"full_name":"Jane van Doe"}`, "Jane van Doe asked twice", "[PERSON_1_k7q2f] asked twice"},
		{`{"full_name":"Jane van Doe"}`, "Jane van Doering asked", "Jane van Doering asked"},
		{`{"full_name":"Jane van Doe"}`, "MaryJane van Doe asked", "MaryJane van Doe asked"},
		{`{"phone":"4155550132"}`, "it rang at 4155550132.", "it rang at [PHONE_1_k7q2f]."},
		{"", `{"text":"Order of Jane van Doe","full_name":"Jane van Doe"}`, `{"text":"Order of [PERSON_1_k7q2f]","full_name":"[PERSON_1_k7q2f]"}`},
		{`{"first_name":"Summer"}`, "Summer sales are up", "Summer sales are up"},
	} {
		v := testVault(t, VaultOptions{})
		tokenize(t, v, one.before, OriginServer("crm"))
		got := tokenize(t, v, one.text, OriginServer("shop"))
		if got.String() != one.want {
			t.Errorf("%s then %s: got %s", one.before, one.text, got)
		}
		if back := detokenize(t, v, got.String()); back != one.text {
			t.Errorf("%s came back as %s", one.text, back)
		}
	}
}

func TestARememberedValueKeepsJSONValid(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tokenize(t, v, `{"phone":"4155550132"}`, OriginServer("crm"))
	got := tokenize(t, v, `{"order_id":4155550132,"n":[1]}`, OriginServer("shop")).String()
	if strings.Contains(got, "4155550132") || !strings.Contains(got, `"order_id":"[`) {
		t.Errorf("got %s", got)
	}
}
