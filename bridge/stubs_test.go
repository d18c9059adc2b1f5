package bridge

import (
	"slices"
	"strings"
	"testing"

	"airlock/pii"
	"airlock/servers"
)

func TestStubs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	odd := tool("shop__get-sum", `{"type":"object","properties":{"from":{"type":"string","default":"eve@example.com"},"card":{"enum":[4111111111111111]}},"required":["from"]}`)
	odd.Description = pii.NewRaw("Asks eve@example.com.")
	r.up.tools = append(r.up.tools, odd, tool("post-office__send", anyObject))
	r.call("shop__echo", `{"seen":1}`)
	stubs := r.bridge.Stubs(t.Context(), Viewer{User: "ada@example.com", Session: "ses_other", Vault: testVault(t), Scope: "shop__* post-office__* mail__*"})
	files, err := stubs.Files()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, text := range files {
		names = append(names, name)
		for _, hidden := range []string{"eve@", "4111111111111111", "seen"} {
			if strings.Contains(text.String(), hidden) {
				t.Errorf("%s tells %s:\n%s", name, hidden, text)
			}
		}
	}
	slices.Sort(names)
	if want := "post-office.d.ts post_office.py shop.d.ts shop.py"; strings.Join(names, " ") != want {
		t.Errorf("the files are %q, want %q", names, want)
	}
	for name, want := range map[string]string{
		"shop.py":   "def get_sum(*, from_: str, card: Literal[\"[CREDIT_CARD_1_k7q2f]\"] = ..., **_others: Any) -> Any:\n    \"\"\"Asks [EMAIL_1_k7q2f].",
		"shop.d.ts": "/**\n * Asks [EMAIL_1_k7q2f].\n */\ndeclare function callMCPTool(name: \"shop__get-sum\", args: {",
	} {
		if !strings.Contains(files[name].String(), want) {
			t.Errorf("%s is\n%s\nwant in it\n%s", name, files[name], want)
		}
	}
}

func TestStubsAreNamedByTheirContent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	v := r.access.viewer()
	first := r.bridge.Stubs(t.Context(), v).ID
	if again := r.bridge.Stubs(t.Context(), Viewer{User: "bob", Session: "ses_two", Vault: testVault(t), Scope: ScopeAll}).ID; again != first {
		t.Errorf("another user who sees the same tools gets %s, not %s", again, first)
	}
	narrow := v
	narrow.Scope = "disk__*"
	if got := r.bridge.Stubs(t.Context(), narrow).ID; got == first {
		t.Error("fewer tools have the same name")
	}
	changed := tool("shop__find", anyObject)
	changed.OutputSchema = pii.NewRaw(`{"type":"object"}`)
	r.up.tools = append([]servers.Tool{changed}, r.up.tools[1:]...)
	if got := r.bridge.Stubs(t.Context(), v).ID; got == first {
		t.Error("a changed output schema has the same name")
	}
}
