package oauth

import (
	"regexp"
	"strings"
)

// bearerChallenge is what a WWW-Authenticate header of the scheme Bearer says
// (RFC 6750, section 3; RFC 9728, section 5.1).
type bearerChallenge struct {
	metadata string // resource_metadata
	scope    string
}

// maxChallenge bounds what is read of one header.
const maxChallenge = 8 << 10

var (
	schemeForm = regexp.MustCompile(`(?i)(?:^|,)\s*bearer(?:\s+|$)`)
	paramForm  = regexp.MustCompile(`^\s*,?\s*([A-Za-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))`)
	escapeForm = regexp.MustCompile(`\\(.)`)
)

// parseChallenge reads the first Bearer challenge. What it cannot read it leaves
// out: the well-known places are tried then.
func parseChallenge(headers []string) bearerChallenge {
	var b bearerChallenge
	for _, h := range headers {
		h = h[:min(len(h), maxChallenge)]
		at := schemeForm.FindStringIndex(h)
		if at == nil {
			continue
		}
		rest := h[at[1]:]
		for {
			m := paramForm.FindStringSubmatch(rest)
			if m == nil {
				return b
			}
			value := m[3] + escapeForm.ReplaceAllString(m[2], "$1")
			switch strings.ToLower(m[1]) {
			case "resource_metadata":
				b.metadata = value
			case "scope":
				b.scope = value
			}
			rest = rest[len(m[0]):]
		}
	}
	return b
}
