package bridge

import (
	"encoding/json"
	"strconv"
	"strings"

	"airlock/pii"
)

// tokenizeJSON puts a value into JSON and that past the vault.
func tokenizeJSON(v *pii.Vault, server string, value any) (pii.Tokenized, error) {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return pii.Tokenized{}, err
	}
	return v.Tokenize(pii.NewRaw(strings.TrimSuffix(text.String(), "\n")), pii.OriginServer(server))
}

// array joins JSON values to an array.
func array(values []pii.Tokenized) pii.Tokenized {
	parts := []pii.Tokenized{pii.Static("[")}
	for i, v := range values {
		if i > 0 {
			parts = append(parts, pii.Static(","))
		}
		parts = append(parts, v)
	}
	return pii.Join(append(parts, pii.Static("]"))...)
}

var digits = [10]pii.Tokenized{
	pii.Static("0"), pii.Static("1"), pii.Static("2"), pii.Static("3"), pii.Static("4"),
	pii.Static("5"), pii.Static("6"), pii.Static("7"), pii.Static("8"), pii.Static("9"),
}

// decimal writes a number of our own, which no detector should take for anything.
func decimal(n uint64) pii.Tokenized {
	var parts []pii.Tokenized
	for _, d := range strconv.FormatUint(n, 10) {
		parts = append(parts, digits[d-'0'])
	}
	return pii.Join(parts...)
}

// short is the beginning of a text.
func short(s string, max int) string {
	s = strings.TrimSpace(s)
	if len(s) <= max {
		return s
	}
	return strings.ToValidUTF8(s[:max], "") + "…"
}
