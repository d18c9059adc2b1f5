package pii

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"airlock/pii/detect"
	"airlock/pii/internal/boundary"
)

// seeds are texts that have been hard, or may be.
var seeds = []string{
	"",
	"mail ada@example.org now",
	`{"email":"ada@example.org","n":1}`,
	`{"account":77701234}`,
	`[77701234, 77701234 ,77705678,-77701234.5e+3, 177701234]`,
	`{"text":"{\"account\":77701234,\"name\":\"O\\\"Brien\"}","name":"O\"Brien"}`,
	`{"text":"[[\"{\\\"a\\\":77701234}\"]] and [77701234]"}`,
	`"O\"Brien"`,
	`O"Brien`,
	`{"a":"Jos\u00e9 Roe","b":"José Roe"}`,
	`{"a":"O\u0022Brien","b":"O\"Brien"}`,
	`log: {"name":"O\"Brien"} and O"Brien "O"Brien"`,
	"{\"account\": 77701234}\n{\"account\": 77705678}\n",
	`[ada@example.org]`, `\[ada@example.org\]`, `%5Bada@example.org%5D`, `[[ada@example.org]]`,
	`{"name":"Bob\x O"Brien`, "\"ada@example.org\\", `\u005bada@example.org\u005d`,
	`77701234`, ` 77701234 `, `77701234: x`, `[77701234] paid`, "{\"a\":\n77701234\n}",
	"[EMAIL_1] [EMAIL_1_zzzz9] EMAIL_1_",
	`card 4111 1111 1111 1111, ssn 536-22-1234, (415) 555-0132 from 198.51.100.23`,
	`{"cards":[4111111111111111,"4111111111111111"],"ip":"198.51.100.23"}`,
	"-----BEGIN PRIVATE KEY-----\nMC4CAQ\n-----END PRIVATE KEY-----\n",
	`{"html":"<a href=\"mailto:ada@example.org\">\u003cada@example.org\u003e<\/a>"}`,
	`{"first_name":"Ada","name":"Jane van Doe","phone":4155550132,"email":"j@example.org","note":"Jane van Doe (4155550132) asked"} Jane van Doe`,
	`{"customer":{"full_name":"Jane van Doe","phone":"4155550132"},"order_id":4155550132}`,
	"\xff\xfeada@example.org\x00\"\\", `["\ud83d\ude00 ada@example.org \ud83d"]`,
}

// anywhere is a detector that finds values wherever it is told.
type anywhere []byte

func (a anywhere) Find(dst []detect.Span, data []byte) ([]detect.Span, error) {
	at := 0
	for i := 0; i+1 < len(a); i += 2 {
		start := at + int(a[i]&31)
		end := start + 1 + int(a[i+1]&15)
		if end > len(data) {
			break
		}
		dst = append(dst, detect.Span{Start: start, End: end, Type: "ANY", Kind: detect.Kind(a[i] >> 7)})
		at = end
	}
	return dst, nil
}

// inParts divides text by how: each byte is the length of one part.
func inParts(text string, how []byte) []string {
	var parts []string
	for i := 0; len(text) > 0; i++ {
		n := len(text)
		if len(how) > 0 {
			n = min(n, int(how[i%len(how)])%40)
		}
		if n == 0 {
			n = 1
		}
		parts = append(parts, text[:n])
		text = text[n:]
	}
	return parts
}

func detokenizeInParts(t *testing.T, d *Detokenizer, v *Vault, text string, how []byte) string {
	t.Helper()
	var out strings.Builder
	for _, part := range append(inParts(text, how), "") {
		write := func() (Raw, error) { return d.Write(v.FromModel(part)) }
		if part == "" {
			write = d.Flush
		}
		raw, err := write()
		if err != nil {
			t.Fatalf("detokenize %q in parts: %v", text, err)
		}
		out.WriteString(boundary.Open(raw))
	}
	return out.String()
}

// FuzzValuesAnywhere holds the laws for any detector: what it finds may begin and
// end within escapes, strings and numbers.
func FuzzValuesAnywhere(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, []byte{byte(i), 3, 130, 7, 2, 1, 128, 0, 9, 9}, []byte{byte(i), 1, 5})
	}
	f.Fuzz(func(t *testing.T, text string, spans, how []byte) {
		v, err := newVault(VaultOptions{Nonce: testNonce}, anywhere(spans))
		if err != nil {
			t.Fatal(err)
		}
		if hasNonce(text) {
			return
		}
		tok := tokenize(t, v, text, OriginUser).String()
		checkRoundTrip(t, v, text, tok, how)
	})
}

func hasNonce(text string) bool { return strings.Contains(strings.ToLower(text), testNonce) }

// checkRoundTrip checks what holds for every text and its tokenized form.
func checkRoundTrip(t *testing.T, v *Vault, text, tok string, how []byte) {
	t.Helper()
	if json.Valid([]byte(text)) && !json.Valid([]byte(tok)) {
		t.Errorf("%q is JSON, but %q is not", text, tok)
	}
	if got := detokenize(t, v, tok); got != text {
		t.Errorf("%q\n became %q\n and then %q", text, tok, got)
	}
	if got := detokenizeInParts(t, v.Detokenizer(), v, tok, how); got != text {
		t.Errorf("in parts: %q\n became %q\n and then %q", text, tok, got)
	}
}

// FuzzRoundTrip holds the laws for the real detector, and that tokenizing again
// changes nothing.
func FuzzRoundTrip(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, []byte{byte(i), 1, 5})
	}
	f.Fuzz(func(t *testing.T, text string, how []byte) {
		if hasNonce(text) {
			return
		}
		v := testVault(t, VaultOptions{})
		tok := tokenize(t, v, text, OriginUser)
		checkRoundTrip(t, v, text, tok.String(), how)
		if again := tokenize(t, v, tok.String(), OriginUser); again != tok {
			t.Errorf("%q\n became %q\n and tokenized again %q", text, tok, again)
		}
	})
}

// FuzzTokenizeInParts holds that a stream comes back as it was.
func FuzzTokenizeInParts(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, []byte{byte(i), 1, 5}, []byte{3, byte(i)})
	}
	f.Fuzz(func(t *testing.T, text string, how, back []byte) {
		if hasNonce(text) {
			return
		}
		v := testVault(t, VaultOptions{})
		tok := tokenizeInParts(t, v, text, how)
		if got := detokenizeInParts(t, v.Detokenizer(), v, tok, back); got != text {
			t.Errorf("%q\n became %q\n and then %q", text, tok, got)
		}
	})
}

func tokenizeInParts(t *testing.T, v *Vault, text string, how []byte) string {
	t.Helper()
	s := v.Tokenizer(OriginScript)
	var parts []Tokenized
	for _, part := range inParts(text, how) {
		tok, err := s.Write(NewRaw(part))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, tok)
	}
	last, err := s.Flush()
	if err != nil {
		t.Fatal(err)
	}
	return Join(append(parts, last)...).String()
}

// FuzzDetokenize holds that whatever a model writes either fails or comes out as
// valid JSON if it was, the same in one piece and in parts.
func FuzzDetokenize(f *testing.F) {
	for i, s := range []string{
		`{"to":"[PERSON_1_k7q2f]","n":"[ACCOUNT_1_k7q2f]"}`, `PERSON\_1\_k7q2f ACCOUNT_1_K7Q2F`,
		`{"ACCOUNT_1_k7q2f":["ACCOUNT_1_k7q2f"]}`, `"\"ACCOUNT_1_k7q2f\""`, `%5bPERSON_2_k7q2f%5d`,
		`[[person_2_k7q2f]]`, `{"a":"{\"b\":\"\\u005bACCOUNT_1_k7q2f\\u005d\"}"}`, `x_PERSON_9_k7q2f`,
	} {
		f.Add(s, []byte{byte(i), 1, 5})
	}
	f.Fuzz(func(t *testing.T, text string, how []byte) {
		v := testVault(t, VaultOptions{})
		tokenize(t, v, `{"name":"O\"Brien","other":"Jos\u00e9 Roe","n":77701234}`, OriginUser)
		raw, err := v.Detokenize(v.FromModel(text))
		if err != nil {
			return
		}
		whole := boundary.Open(raw)
		if json.Valid([]byte(text)) && !json.Valid([]byte(whole)) {
			t.Errorf("%q is JSON, but %q is not", text, whole)
		}
		if got := detokenizeInParts(t, v.Detokenizer(), v, text, how); got != whole {
			t.Errorf("%q in parts: %q, in one: %q", text, got, whole)
		}
		if slices.Contains(how, 0) {
			return
		}
		answer, err := v.DetokenizeAnswer(v.FromModel(text))
		if err != nil {
			t.Fatal(err)
		}
		if got := detokenizeInParts(t, v.AnswerDetokenizer(), v, text, how); got != boundary.Open(answer) {
			t.Errorf("answer %q in parts: %q, in one: %q", text, got, boundary.Open(answer))
		}
	})
}

// FuzzFilter holds that no value that the vault knows passes in clear, whatever
// is around it, and that what is filtered comes back as it was.
func FuzzFilter(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "and "+s)
	}
	f.Add("ada@example.org", "6164614065786d61706c652e6f7267 %61da@example.org gro.elpmaxe@ada")
	f.Add(`O"Brien`, `{"a":"O\"Brien","b":"TyJCcmllbg==","c":"O\\\"Brien"}`)
	f.Fuzz(func(t *testing.T, first, second string) {
		if hasNonce(first) || hasNonce(second) {
			return
		}
		v := testVault(t, VaultOptions{Mode: Open})
		tokenize(t, v, first, OriginServer("crm"))
		for _, text := range []string{second, first + second, second + first} {
			tok, err := v.Filter(NewRaw(text), OriginScript)
			if err != nil {
				t.Fatal(err)
			}
			checkNoValue(t, v, text, tok.String())
			checkRoundTrip(t, v, text, tok.String(), []byte{5, 2})
		}
	})
}

// checkNoValue checks that no value is in tok, tokens apart.
func checkNoValue(t *testing.T, v *Vault, text, tok string) {
	t.Helper()
	clear := tok
	for _, e := range v.all {
		clear = strings.ReplaceAll(clear, e.token, "x") // what is glued to a value is no whole word
	}
	for _, e := range v.all {
		value := e.forms[0]
		if len(squeeze(viewOf(value)).text) < minSqueezed {
			continue
		}
		for at := strings.Index(clear, value); at >= 0; at = -1 {
			whole := !isWordByte([]byte(clear), at-1) && !isWordByte([]byte(clear), at+len(value))
			if selfIdentifying[e.typ] || len(value) >= 6 && whole {
				t.Errorf("%q became %q, which holds %q", text, tok, value)
			}
		}
	}
}
