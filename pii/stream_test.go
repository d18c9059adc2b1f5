package pii

import (
	"fmt"
	"strings"
	"testing"

	"airlock/pii/internal/boundary"
)

func TestDetokenizerHoldsBackOnlyWhatMayBeginAToken(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tokenize(t, v, "ada@example.org", OriginUser)
	d := v.Detokenizer()
	for _, one := range []struct{ part, shown string }{
		{"Hallo", "Hallo"},
		{" world [", " world "},
		{"EMA", ""},
		{"IL_1_k7", ""},
		{"q2f] and", "ada@example.org and"},
		{" [1] [x]", " [1] [x]"},
		{" PHON", " PHON"},
		{"E", ""}, // may begin EMAIL
		{"_1", "E_1"},
		{` EMAIL\`, " "},
		{`_1\_k7q2f`, ""},
		{".", "ada@example.org."},
		{" %5", " "},
		{"Bemail_1_K7Q2F%5", ""},
		{"D!", "ada@example.org!"},
		{" EMAIL_1_zz", " EMAIL_1_zz"},
	} {
		raw, err := d.Write(v.FromModel(one.part))
		if err != nil {
			t.Fatal(err)
		}
		if got := boundary.Open(raw); got != one.shown {
			t.Errorf("after %q: got %q, want %q", one.part, got, one.shown)
		}
	}
}

func TestFlushShowsWhatIsHeldBack(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tokenize(t, v, "ada@example.org", OriginUser)
	d := v.AnswerDetokenizer()
	first, err := d.Write(v.FromModel("to [EMAIL_1_k"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := d.Flush()
	if err != nil {
		t.Fatal(err)
	}
	if a, b := boundary.Open(first), boundary.Open(second); a != "to " || b != "[EMAIL_1_k" {
		t.Errorf("got %q and %q", a, b)
	}
}

func TestTokenizerKeepsLinesAndDocumentsWhole(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	s := v.Tokenizer(OriginScript)
	for _, one := range []struct{ part, shown string }{
		{"mail ada@exam", ""},
		{"ple.org\nnext", "mail [EMAIL_1_k7q2f]\n"},
		{" line\n{\n", "next line\n"},
		{`"account": 777`, ""},
		{"01234\n}\n", "{\n\"account\": \"[ACCOUNT_1_k7q2f]\"\n}\n"},
		{"-----BEGIN PRIVATE KEY-----\nMC4", ""},
		{"CAQ\n-----END PRIVATE KEY", ""},
	} {
		tok, err := s.Write(NewRaw(one.part))
		if err != nil {
			t.Fatal(err)
		}
		if tok.String() != one.shown {
			t.Errorf("after %q: got %q, want %q", one.part, tok, one.shown)
		}
	}
}

func TestTokenizerDividesALongLineOutsideOfValues(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	s := v.Tokenizer(OriginScript)
	var text strings.Builder
	for i := 0; text.Len() < 3*maxHeld; i++ {
		fmt.Fprintf(&text, "u%d@example.org; ", i)
	}
	var out strings.Builder
	held := 0
	for _, part := range inParts(text.String(), []byte{39}) {
		tok, err := s.Write(NewRaw(part))
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(tok.String())
		held = max(held, s.kept.Len())
	}
	last, err := s.Flush()
	if err != nil {
		t.Fatal(err)
	}
	out.WriteString(last.String())
	if held > maxHeld+64 {
		t.Errorf("%d bytes were held back", held)
	}
	if strings.Contains(out.String(), "@") {
		t.Error("an address was divided")
	}
	if got := detokenize(t, v, out.String()); got != text.String() {
		t.Error("it did not come back")
	}
}
