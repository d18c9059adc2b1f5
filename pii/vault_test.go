package pii

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"airlock/pii/detect"
	"airlock/pii/internal/boundary"
)

const testNonce = "k7q2f"

// testVault finds the types of the standard detector, and three of its own that
// let a test choose where values are: <p:...> is a PERSON, 7770... a number.
func testVault(t testing.TB, o VaultOptions) *Vault {
	t.Helper()
	d, err := detect.New(detect.Options{Custom: map[string]string{
		"PERSON":  `O\\*"Brien|Jos\\u00e9 Roe|José Roe|O\\\\*u0022Brien`,
		"ACCOUNT": `7770\d{4}`,
	}})
	if err != nil {
		t.Fatal(err)
	}
	o.Detector = d
	if o.Nonce == "" {
		o.Nonce = testNonce
	}
	v, err := NewVault(o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func tokenize(t testing.TB, v *Vault, text string, from Origin) Tokenized {
	t.Helper()
	tok, err := v.Tokenize(NewRaw(text), from)
	if err != nil {
		t.Fatalf("tokenize %q: %v", text, err)
	}
	return tok
}

func detokenize(t testing.TB, v *Vault, text string) string {
	t.Helper()
	raw, err := v.Detokenize(v.FromModel(text))
	if err != nil {
		t.Fatalf("detokenize %q: %v", text, err)
	}
	return boundary.Open(raw)
}

func TestTokenizeGivesTheSameValueTheSameToken(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	got := tokenize(t, v, "ada@example.org, bob@example.org, ada@example.org", OriginUser).String()
	if want := "[EMAIL_1_k7q2f], [EMAIL_2_k7q2f], [EMAIL_1_k7q2f]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRoundTripInEveryContext(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"",
		"mail ada@example.org now",
		`{"email":"ada@example.org","n":1}`,
		`{"account":77701234}`,
		`[77701234, 77701234 ,77705678]`,
		`{"text":"{\"account\":77701234,\"name\":\"O\\\"Brien\"}","name":"O\"Brien"}`,
		`"O\"Brien"`,
		`O"Brien`,
		`{"a":"Jos\u00e9 Roe","b":"José Roe"}`,
		`{"a":"O\u0022Brien","b":"O\"Brien"}`,
		`log: {"name":"O\"Brien"} and O"Brien "O"Brien"`,
		"{\"account\": 77701234}\n{\"account\": 77705678}\n",
		`[ada@example.org]`, `\[ada@example.org\]`, `%5Bada@example.org%5D`, `[[ada@example.org]]`,
		`{"name":"Bob\x O"Brien`,
		`77701234`, ` 77701234 `, `77701234: x`, `[77701234] paid`,
		"[EMAIL_1] [EMAIL_1_zzzz9] EMAIL_1_",
	} {
		v := testVault(t, VaultOptions{})
		tok := tokenize(t, v, text, OriginUser)
		if got := detokenize(t, v, tok.String()); got != text {
			t.Errorf("%q\n  -> %q\n  -> %q", text, tok, got)
		}
		if json.Valid([]byte(text)) && !json.Valid([]byte(tok.String())) {
			t.Errorf("%q is JSON, but %q is not", text, tok)
		}
		if again := tokenize(t, v, tok.String(), OriginUser); again != tok {
			t.Errorf("tokenized again, %q became %q", tok, again)
		}
	}
}

func TestNumbersBecomeQuotedTokens(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	got := tokenize(t, v, `{"a":77701234,"b":"77701234","c":"{\"d\":77701234}"}`, OriginUser).String()
	want := `{"a":"[ACCOUNT_1_k7q2f]","b":"[ACCOUNT_2_k7q2f]","c":"{\"d\":\"[ACCOUNT_1_k7q2f]\"}"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestDetokenizeRecognisesWhatModelsMakeOfTokens(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tokenize(t, v, "ada@example.org", OriginUser)
	for text, want := range map[string]string{
		"[EMAIL_1_k7q2f]":                       "ada@example.org",
		"EMAIL_1_k7q2f":                         "ada@example.org",
		"[email_1_K7Q2F]":                       "ada@example.org",
		`[EMAIL\_1\_k7q2f]`:                     "ada@example.org",
		`\[EMAIL\_1\_k7q2f\]`:                   "ada@example.org",
		"%5BEMAIL_1_k7q2f%5D":                   "ada@example.org",
		"_EMAIL_1_k7q2f_":                       "_ada@example.org_",
		"EMAIL_1_k7q2f's":                       "ada@example.org's",
		`{"to":"a\nEMAIL_1_k7q2f"}`:             `{"to":"a\nada@example.org"}`,
		`\u005bEMAIL_1_k7q2f\u005d`:             "ada@example.org",
		"[EMAIL_1]":                             "[EMAIL_1]",
		"[EMAIL_1_zzzz9]":                       "[EMAIL_1_zzzz9]",
		"EMAIL_1_k7q2fx":                        "EMAIL_1_k7q2fx",
		"EMAIL_01_k7q2f":                        "EMAIL_01_k7q2f",
		"[EMAIL_1_k7q2f, EMAIL_1_k7q2f]":        "[ada@example.org, ada@example.org]",
		"report_EMAIL_1_k7q2f.csv":              "report_ada@example.org.csv",
		"[EMAIL_1_k7q2f][EMAIL_1_k7q2f]":        "ada@example.orgada@example.org",
		"nothing of k7q2f or _k7q2f or 1_k7q2f": "nothing of k7q2f or _k7q2f or 1_k7q2f",
	} {
		if got := detokenize(t, v, text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestUnknownTokenIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tokenize(t, v, "ada@example.org", OriginUser)
	for _, text := range []string{"EMAIL_10_k7q2f", "[email_10_K7q2f]", `x EMAIL\_10\_k7q2f`} {
		_, err := v.Detokenize(v.FromModel(text))
		var unknown *UnknownTokenError
		if !errors.As(err, &unknown) || unknown.Token != "EMAIL_10_k7q2f" {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func TestDelicateValuesAreWrittenAsTheirPlaceNeeds(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tokenize(t, v, `{"name":"O\"Brien","other":"Jos\u00e9 Roe","n":77701234}`, OriginServer("crm"))
	for text, want := range map[string]string{
		"[PERSON_1_k7q2f]":                            `O"Brien`,
		"He is [PERSON_2_k7q2f].":                     "He is José Roe.",
		`{"to":"[PERSON_1_k7q2f]"}`:                   `{"to":"O\"Brien"}`,
		`{"j":"{\"to\":\"[PERSON_1_k7q2f]\"}"}`:       `{"j":"{\"to\":\"O\\\"Brien\"}"}`,
		`{"n":"[ACCOUNT_1_k7q2f]"}`:                   `{"n":77701234}`,
		`{"n":"no. [ACCOUNT_1_k7q2f]"}`:               `{"n":"no. 77701234"}`,
		`{"[ACCOUNT_1_k7q2f]":1}`:                     `{"77701234":1}`,
		`{"j":"[\"[ACCOUNT_1_k7q2f]\"]"}`:             `{"j":"[77701234]"}`,
		`account "[ACCOUNT_1_k7q2f]"`:                 `account "77701234"`,
		"```json\n{\"to\":\"[PERSON_1_k7q2f]\"}\n```": "```json\n{\"to\":\"O\\\"Brien\"}\n```",
		`He said "[PERSON_1_k7q2f]" {"to":1}`:         `He said "O"Brien" {"to":1}`,
	} {
		if got := detokenize(t, v, text); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}

func TestVaultRefusesMoreValuesThanItMayHold(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{MaxValues: 1})
	tokenize(t, v, "ada@example.org", OriginUser)
	if _, err := v.Tokenize(NewRaw("bob@example.org"), OriginUser); !errors.Is(err, ErrVaultFull) {
		t.Errorf("got %v", err)
	}
	tokenize(t, v, "ada@example.org again", OriginUser)
}

func TestErasedVaultAnswersNothing(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tok := tokenize(t, v, "ada@example.org", OriginUser)
	v.Erase()
	if _, err := v.Detokenize(tok); !errors.Is(err, ErrErased) {
		t.Errorf("detokenize: got %v", err)
	}
	if _, err := v.Tokenize(NewRaw("x ada@example.org"), OriginUser); !errors.Is(err, ErrErased) {
		t.Errorf("tokenize: got %v", err)
	}
	if _, err := v.Uses(tok); !errors.Is(err, ErrErased) {
		t.Errorf("uses: got %v", err)
	}
}

func TestCutNeverDividesATokenOrARune(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	text := tokenize(t, v, `héllo ada@example.org, (EMAIL_1_abc12) "\u00e9" wörld`, OriginUser)
	for n := range text.Len() + 2 {
		cut := Cut(text, n).String()
		if len(cut) > n || !strings.HasPrefix(text.String(), cut) {
			t.Fatalf("cut %d: %q", n, cut)
		}
		rest := text.String()[len(cut):]
		if strings.HasSuffix(cut, "\xc3") || strings.Contains(cut, "[EMAIL") && !strings.Contains(cut, "[EMAIL_1_k7q2f]") {
			t.Errorf("cut %d: %q | %q", n, cut, rest)
		}
	}
}

func TestCutNeverDividesAnEscape(t *testing.T) {
	t.Parallel()
	text := Static(`"a\u00e9b\\\n"`)
	for n := range text.Len() {
		cut := Cut(text, n).String()
		if _, ok := unescape(strings.TrimPrefix(cut, `"`)); !ok {
			t.Errorf("cut %d: %s", n, cut)
		}
	}
}

func TestLastUsedMovesWithUse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		v := testVault(t, VaultOptions{})
		start := v.LastUsed()
		time.Sleep(time.Hour) // of the bubble's time
		tok := tokenize(t, v, "ada@example.org", OriginUser)
		if got := v.LastUsed().Sub(start); got != time.Hour {
			t.Errorf("tokenizing: %v", got)
		}
		time.Sleep(time.Hour) // of the bubble's time
		detokenize(t, v, tok.String())
		if got := v.LastUsed().Sub(start); got != 2*time.Hour {
			t.Errorf("detokenizing: %v", got)
		}
	})
}
