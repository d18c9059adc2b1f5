package servers

import (
	"strings"

	"airlock/servers/internal/document"
	"airlock/servers/internal/secrets"
)

// warnSecret reports a literal secret with the two lines that replace it.
func (p *catalogParser) warnSecret(n *document.Node, id string) {
	p.Warn(n, `looks like a secret written into the file; add {"id":%q,"secret":true,"from":"env:%s"} to "inputs" and write "${input:%s}" here`,
		id, secrets.EnvName(id), id)
}

func (p *catalogParser) checkPairs(server string, n *document.Node) {
	if n == nil {
		return
	}
	for _, m := range n.Members {
		if s, ok := m.Value.Value.(string); ok && secrets.Looks(m.Key, s) {
			p.warnSecret(m.Value, secrets.InputID(server, m.Key))
		}
	}
}

// checkArgs looks at --name=value, at --name followed by a value, at values
// that give themselves away and at addresses with a password.
func (p *catalogParser) checkArgs(server string, n *document.Node) {
	if n == nil {
		return
	}
	flag := ""
	for _, item := range n.Items {
		s, ok := item.Value.(string)
		if !ok {
			continue
		}
		name, value, found := strings.Cut(s, "=")
		switch {
		case strings.HasPrefix(s, "-") && found && secrets.Looks(name, value):
			p.warnSecret(item, secrets.InputID(server, name))
		case !strings.HasPrefix(s, "-") && secrets.Looks(flag, s):
			p.warnSecret(item, secrets.InputID(server, flag))
		case secrets.InURL(s):
			p.warnSecret(item, secrets.InputID(server, "url"))
		}
		flag = ""
		if strings.HasPrefix(s, "-") && !found {
			flag = s
		}
	}
}
