package pii

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

// session is a vault with values of every origin.
func session(t *testing.T, o VaultOptions) *Vault {
	t.Helper()
	v := testVault(t, o)
	tokenize(t, v, "user@example.org", OriginUser)                       // EMAIL_1
	tokenize(t, v, "crm@example.org", OriginServer("crm"))               // EMAIL_2
	tokenize(t, v, "(415) 555-0132", OriginServer("crm"))                // PHONE_1
	tokenize(t, v, "both@example.org", OriginServer("crm"))              // EMAIL_3
	tokenize(t, v, "both@example.org", OriginUser)                       //
	tokenize(t, v, "made@example.org and crm@example.org", OriginScript) // EMAIL_4
	return v
}

func TestCheckJudgesByOrigin(t *testing.T) {
	t.Parallel()
	v := session(t, VaultOptions{})
	unseen := session(t, VaultOptions{})
	unseen.MarkUnseen()
	open := session(t, VaultOptions{Mode: Open})
	for _, one := range []struct {
		why     string
		v       *Vault
		policy  Policy
		token   string
		server  string
		allowed bool
	}{
		{"the user's value goes anywhere", v, Policy{}, "EMAIL_1", "mailer", true},
		{"a value goes back where it came from", v, Policy{}, "EMAIL_2", "crm", true},
		{"a value of one server does not go to another", v, Policy{}, "EMAIL_2", "mailer", false},
		{"a value that the user knows too goes anywhere", v, Policy{}, "EMAIL_3", "mailer", true},
		{"a script that repeats a value does not widen where it goes", v, Policy{}, "EMAIL_2", "mailer", false},
		{"what a script made up in a session without unseen data goes anywhere", v, Policy{}, "EMAIL_4", "mailer", true},
		{"but not once there is unseen data", unseen, Policy{}, "EMAIL_4", "mailer", false},
		{"and not in open mode", open, Policy{}, "EMAIL_4", "mailer", false},
		{"its type allows it there", open, PolicyOf([]Type{"EMAIL"}), "EMAIL_4", "mailer", true},
		{"all allows all", open, Policy{mode: releaseAll}, "EMAIL_2", "mailer", true},
		{"none refuses the user's own", v, Policy{mode: releaseNone}, "EMAIL_1", "mailer", false},
		{"none refuses a server's own", v, Policy{mode: releaseNone}, "EMAIL_2", "crm", false},
		{"a listed type goes there from anywhere", v, PolicyOf([]Type{"EMAIL"}), "EMAIL_2", "mailer", true},
		{"an unlisted one does not", v, PolicyOf([]Type{"EMAIL"}), "PHONE_1", "mailer", false},
		{"an unlisted one still goes back", v, PolicyOf([]Type{"EMAIL"}), "PHONE_1", "crm", true},
	} {
		args := one.v.FromModel(`{"to":"[` + one.token + `_k7q2f]"}`)
		release, err := one.policy.Check(one.v, args, one.server)
		var refused *RefusedError
		switch {
		case one.allowed && (err != nil || len(release.Types) != 1):
			t.Errorf("%s: %v, %v", one.why, release, err)
		case !one.allowed && !errors.As(err, &refused):
			t.Errorf("%s: got %v, %v", one.why, release, err)
		}
	}
}

func TestRefusalSaysWhichLineWouldAllowItAndNoValue(t *testing.T) {
	t.Parallel()
	v := session(t, VaultOptions{})
	_, err := PolicyOf([]Type{"IP"}).Check(v, v.FromModel("[EMAIL_2_k7q2f] [PHONE_1_k7q2f]"), "mailer")
	if err == nil {
		t.Fatal("allowed")
	}
	for _, want := range []string{`"mailer"`, "EMAIL, PHONE", `"release": ["EMAIL","IP","PHONE"]`, "catalog.json"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "example") || strings.Contains(err.Error(), "0132") {
		t.Errorf("a value is in: %v", err)
	}
}

func TestAllowedLineAllows(t *testing.T) {
	t.Parallel()
	v := session(t, VaultOptions{})
	args := v.FromModel("[EMAIL_2_k7q2f] [PHONE_1_k7q2f]")
	for _, p := range []Policy{{}, {mode: releaseNone}, PolicyOf([]Type{"EMAIL"})} {
		_, err := p.Check(v, args, "mailer")
		var refused *RefusedError
		if !errors.As(err, &refused) {
			t.Fatalf("got %v", err)
		}
		var entry struct{ Release Policy }
		if err := json.Unmarshal([]byte("{"+refused.Line()+"}"), &entry); err != nil {
			t.Fatal(err)
		}
		if _, err := entry.Release.Check(v, args, "mailer"); err != nil {
			t.Errorf("%s does not allow it: %v", refused.Line(), err)
		}
	}
}

func TestAValueFoundAsTwoTypesNeedsBoth(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tokenize(t, v, "7770123", OriginUser)
	e, err := v.add(found{text: "x", typ: "PHONE"})
	if err != nil {
		t.Fatal(err)
	}
	e.sight(found{typ: "PHONE"}, OriginServer("crm"))
	e.sight(found{typ: "BANK_ACCOUNT"}, OriginServer("crm"))
	args := v.FromModel("[PHONE_1_k7q2f]")
	if _, err := PolicyOf([]Type{"PHONE"}).Check(v, args, "mailer"); err == nil {
		t.Error("one type is enough")
	}
	if r, err := PolicyOf([]Type{"PHONE", "BANK_ACCOUNT"}).Check(v, args, "mailer"); err != nil || !slices.Equal(r.Types, []Type{"BANK_ACCOUNT", "PHONE"}) {
		t.Errorf("both: %v, %v", r, err)
	}
}

func TestPolicyInJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`"origin"`: `"origin"`, `""`: `"origin"`, `"all"`: `"all"`, `"none"`: `"none"`,
		`["EMAIL","PHONE"]`: `["EMAIL","PHONE"]`, ` [ ] `: `[]`,
	} {
		var p Policy
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, err := json.Marshal(p); err != nil || string(got) != want {
			t.Errorf("%s: got %s, %v", text, got, err)
		}
	}
	for _, text := range []string{`"some"`, `1`, `{}`, `[1]`, `null1`} {
		var p Policy
		if err := json.Unmarshal([]byte(text), &p); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}
