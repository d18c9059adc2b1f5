package servers

import (
	"fmt"
	"slices"
	"strings"

	"airlock/servers/internal/document"
	"airlock/servers/internal/secrets"
)

// readOAuth reads what signing in takes where the server's metadata does not
// say it all.
func (p *entryParser) readOAuth(n *document.Node) {
	c := &p.l.oauth
	p.Object(n, document.Fields{
		"clientId":     p.note("clientId", p.expanded(&c.id)),
		"clientSecret": p.note("clientSecret", p.expanded(&c.secret)),
		"scopes":       p.Texts(&c.scopes),
		"port":         p.Number(&c.port, 1, 65535),
	})
	if p.nodes["clientSecret"] != nil && p.nodes["clientId"] == nil {
		p.Wrong(n, `"clientSecret" needs "clientId"`)
	}
}

// checkOAuth refuses two ways to say who calls.
func (p *entryParser) checkOAuth() {
	if secret := p.nodes["clientSecret"]; secret != nil {
		if s, ok := secret.Value.(string); ok && secrets.Looks("secret", s) {
			p.warnSecret(secret, secrets.InputID(p.e.Name, "client_secret"))
		}
	}
	if n := p.nodes["oauth"]; n != nil && p.authorized() {
		p.Wrong(n, `cannot stand beside a header "Authorization"; remove one of them`)
	}
}

// authorized reports whether the entry brings credentials of its own.
func (p *entryParser) authorized() bool {
	for name := range p.l.headers {
		if strings.EqualFold(name, "Authorization") {
			return true
		}
	}
	return false
}

// Remote is what signing in to a server takes. URL and ClientSecret may be
// secret, so printing a Remote shows neither.
type Remote struct {
	URL                    string
	ClientID, ClientSecret string
	Scopes                 []string
	// Port is where the answer is expected on this machine; 0 is any.
	Port int
}

// String hides everything.
func (Remote) String() string { return "remote server" }

// GoString hides everything.
func (Remote) GoString() string { return "servers.Remote{}" }

// Remote returns how to reach a server that one can sign in to, be it enabled or
// not.
func (c *Catalog) Remote(server string) (Remote, error) {
	i := slices.IndexFunc(c.entries, func(e *Entry) bool { return e.Name == server })
	if i < 0 {
		return Remote{}, fmt.Errorf("the catalog has no server %q", server)
	}
	e, l := c.entries[i], c.entries[i].launch
	switch {
	case e.Transport != transportHTTP && e.Transport != transportSSE:
		return Remote{}, fmt.Errorf("server %q has transport %s; only remote servers are signed in to", server, e.Transport)
	case len(l.missing) > 0:
		return Remote{}, fmt.Errorf("server %q takes values from %s, which is not set; set it", server, strings.Join(l.missing, ", "))
	}
	return Remote{URL: l.url, ClientID: l.oauth.id, ClientSecret: l.oauth.secret, Scopes: slices.Clone(l.oauth.scopes), Port: l.oauth.port}, nil
}
