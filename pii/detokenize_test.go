package pii

import (
	"errors"
	"testing"

	"airlock/pii/internal/boundary"
)

func TestAnInventedTokenFailsForToolsAndStaysForUsers(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tokenize(t, v, "ada@example.org", OriginServer("crm"))
	const text = "to [EMAIL_1_k7q2f], [EMAIL_77_k7q2f] and EMAIL_78_k7q2f"
	const want = "to ada@example.org, [EMAIL_77_k7q2f] and EMAIL_78_k7q2f"

	var unknown *UnknownTokenError
	if _, err := v.Detokenize(v.FromModel(text)); !errors.As(err, &unknown) || unknown.Token != "EMAIL_77_k7q2f" {
		t.Errorf("a tool would be called: %v", err)
	}
	for name, detokenize := range map[string]func(Tokenized) (Raw, error){
		"result": v.DetokenizeForUser, "answer": v.DetokenizeAnswer,
	} {
		raw, err := detokenize(v.FromModel(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := boundary.Open(raw); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	for n := range byte(12) {
		if got := detokenizeInParts(t, v.AnswerDetokenizer(), v, text, []byte{n + 1}); got != want {
			t.Errorf("in parts of %d: got %q, want %q", n+1, got, want)
		}
	}
}
