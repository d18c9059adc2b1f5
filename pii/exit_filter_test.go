package pii

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func backwards(s string) string {
	b := []rune(s)
	slices.Reverse(b)
	return string(b)
}

// percentAll encodes every byte, as a script might to get by.
func percentAll(s string) string {
	var out strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&out, "%%%02x", c)
	}
	return out.String()
}

func jsonAll(s string) string {
	var out strings.Builder
	for _, c := range s {
		fmt.Fprintf(&out, `\u%04x`, c)
	}
	return out.String()
}

func spaced(sep string) func(string) string {
	return func(s string) string { return strings.Join(strings.Split(s, ""), sep) }
}

func base64At(pad string, enc *base64.Encoding) func(string) string {
	return func(s string) string { return enc.EncodeToString([]byte(pad + s + ".")) }
}

var disguises = map[string]func(string) string{
	"plain":             func(s string) string { return s },
	"upper":             strings.ToUpper,
	"lower":             strings.ToLower,
	"reversed":          backwards,
	"percent":           url.QueryEscape,
	"percent, all":      percentAll,
	"json":              jsonAll,
	"hex":               func(s string) string { return hex.EncodeToString([]byte(s)) },
	"hex, upper":        func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"hex, spaced":       func(s string) string { return strings.TrimSpace(fmt.Sprintf("% x", s)) },
	"base64 at 0":       base64At("", base64.StdEncoding),
	"base64 at 1":       base64At(".", base64.StdEncoding),
	"base64 at 2":       base64At("x.", base64.RawURLEncoding),
	"spaced":            spaced(" "),
	"dotted":            spaced("."),
	"dashed":            spaced("-"),
	"base64 of reverse": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(backwards(s))) },
	"hex of base64":     func(s string) string { return hex.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(s)))) },
	"base64 twice": func(s string) string {
		return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte(s))))
	},
}

func TestFilterFindsValuesInDisguise(t *testing.T) {
	t.Parallel()
	values := []string{"ada.lovelace@example.org", "4111 1111 1111 1111", "536-22-1234", `O"Brien`, "José Roe", "198.51.100.23"}
	for name, disguise := range disguises {
		for _, value := range values {
			v := testVault(t, VaultOptions{Mode: Open})
			tokenize(t, v, strings.Join(values, ", "), OriginServer("crm"))
			hidden := disguise(value)
			text := "out: " + hidden + " end"
			tok, err := v.Filter(NewRaw(text), OriginScript)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(tok.String(), hidden) {
				t.Errorf("%s: %q passed in %q", name, value, tok)
			}
			if got := detokenize(t, v, tok.String()); got != text {
				t.Errorf("%s: %q came back as %q", name, text, got)
			}
			checkForeign(t, v, tok)
		}
	}
}

// checkForeign checks that a disguise may go no further than its value.
func checkForeign(t *testing.T, v *Vault, tok Tokenized) {
	t.Helper()
	if _, err := (Policy{}).Check(v, tok, "crm"); err != nil {
		t.Errorf("%s: back to where it came from: %v", tok, err)
	}
	if _, err := (Policy{}).Check(v, tok, "mailer"); err == nil {
		t.Errorf("%s: may go to another server", tok)
	}
}

func TestFilterLeavesOrdinaryTextAlone(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{Mode: Open})
	tokenize(t, v, `O"Brien, ada@example.org, 198.51.100.23`, OriginServer("crm"))
	for _, text := range []string{
		"The total of 3 regions is 1234567.89, see report-2024-05-01.csv.",
		"obrienade and 19851100", // no whole word, and too few digits
		"c29tZXRoaW5nIGVsc2UgZW50aXJlbHk= is base64 of something else entirely",
		`{"rows":[{"id":1,"sum":12.5},{"id":2,"sum":99}],"hash":"9f86d081884c7d659a2feaa0c55ad015"}`,
	} {
		if got := tokenize(t, v, text, OriginScript).String(); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestOpenModeFiltersWhatScriptsBringOut(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{Mode: Open})
	tokenize(t, v, "ada@example.org", OriginServer("crm"))
	hidden := base64.StdEncoding.EncodeToString([]byte("ada@example.org"))
	if got := tokenize(t, v, hidden, OriginScript).String(); strings.Contains(got, hidden) {
		t.Errorf("%q passed", got)
	}
}
