// Package secrets recognises secrets that are written into configuration files,
// and names the inputs that take their place.
package secrets

import (
	"net/url"
	"regexp"
	"strings"
)

var (
	// secretName is how people call things that must not be in a file.
	secretName = regexp.MustCompile(`(?i)(token|secret|passw(or)?d|passphrase|api[-_]?key|access[-_]?key|private[-_]?key|credential|authorization|cookie)`)
	// secretValue are the marks that issuers put before their keys.
	secretValue = regexp.MustCompile(`^(Bearer |Basic |sk-|sk_live_|rk_live_|ghp_|gho_|ghs_|github_pat_|glpat-|xox[abp]-|AKIA|AIza|npm_|pypi-|eyJ[A-Za-z0-9_-]{10,}\.)`)
	// Reference is how a value of an entry names an input.
	Reference = regexp.MustCompile(`\$\{input:([^}]*)\}`)
	notWord   = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

// Looks reports whether a value, by its name or by its form, is a secret that is
// written out. What references to inputs stand for does not count.
func Looks(name, value string) bool {
	value = Reference.ReplaceAllString(value, "")
	value = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(value, "Bearer"), "Basic"))
	if value == "" {
		return false
	}
	return secretName.MatchString(name) || secretValue.MatchString(value)
}

// InURL reports whether an address holds a password or a key.
func InURL(s string) bool {
	u, err := url.Parse(Reference.ReplaceAllString(s, "x"))
	if err != nil || u.Host == "" {
		return false
	}
	if _, ok := u.User.Password(); ok && !Reference.MatchString(s) {
		return true
	}
	for name, values := range u.Query() {
		for _, v := range values {
			if v != "x" && v != "" && secretName.MatchString(name) {
				return true
			}
		}
	}
	return false
}

// InputID names the input for a value of a server.
func InputID(server, name string) string {
	id := strings.ToLower(server + "_" + name)
	return strings.Trim(notWord.ReplaceAllString(id, "_"), "_")
}

// EnvName names the environment variable for an input.
func EnvName(id string) string {
	return strings.ToUpper(notWord.ReplaceAllString(id, "_"))
}
