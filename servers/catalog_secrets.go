package servers

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
	notWord     = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

func looksSecret(name, value string) bool {
	value = referenceForm.ReplaceAllString(value, "")
	value = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(value, "Bearer"), "Basic"))
	if value == "" {
		return false
	}
	return secretName.MatchString(name) || secretValue.MatchString(value)
}

// warnSecret reports a literal secret with the two lines that replace it.
func (p *catalogParser) warnSecret(n *node, id string) {
	p.warn(n, `looks like a secret written into the file; add {"id":%q,"secret":true,"from":"env:%s"} to "inputs" and write "${input:%s}" here`,
		id, envName(id), id)
}

func (p *catalogParser) checkPairs(server string, n *node) {
	if n == nil {
		return
	}
	for _, m := range n.members {
		if s, ok := m.value.value.(string); ok && looksSecret(m.key, s) {
			p.warnSecret(m.value, inputID(server, m.key))
		}
	}
}

// checkArgs looks at --name=value, at --name followed by a value, at values
// that give themselves away and at addresses with a password.
func (p *catalogParser) checkArgs(server string, n *node) {
	if n == nil {
		return
	}
	flag := ""
	for _, item := range n.items {
		s, ok := item.value.(string)
		if !ok {
			continue
		}
		name, value, found := strings.Cut(s, "=")
		switch {
		case strings.HasPrefix(s, "-") && found && looksSecret(name, value):
			p.warnSecret(item, inputID(server, name))
		case !strings.HasPrefix(s, "-") && looksSecret(flag, s):
			p.warnSecret(item, inputID(server, flag))
		case secretURL(s):
			p.warnSecret(item, inputID(server, "url"))
		}
		flag = ""
		if strings.HasPrefix(s, "-") && !found {
			flag = s
		}
	}
}

func secretURL(s string) bool {
	u, err := url.Parse(referenceForm.ReplaceAllString(s, "x"))
	if err != nil || u.Host == "" {
		return false
	}
	if _, ok := u.User.Password(); ok && !referenceForm.MatchString(s) {
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

func inputID(server, name string) string {
	id := strings.ToLower(server + "_" + name)
	return strings.Trim(notWord.ReplaceAllString(id, "_"), "_")
}

func envName(id string) string {
	return strings.ToUpper(notWord.ReplaceAllString(id, "_"))
}
