package servers

import (
	"net"
	"net/url"
	"strings"
	"time"

	"airlock/servers/internal/document"
	"airlock/servers/internal/secrets"
)

// check looks at an entry as a whole: what its transport needs and forbids.
func (p *entryParser) check(n *document.Node) {
	e := p.e
	if e.Transport == "" {
		e.Transport = p.likelyTransport()
	}
	switch e.Transport {
	case transportStdio:
		p.forbid("url", "headers", "oauth")
		if !p.hasCommand() && p.nodes["package"] == nil {
			p.Wrong(n, `a stdio server needs "command" or "package"`)
		}
	case transportHTTP, transportSSE:
		p.forbid("package", "command", "args", "env", "inheritEnv", "cwd", "sandbox")
		p.checkURL(n)
	case transportBuiltin:
		p.forbid("package", "command", "args", "env", "inheritEnv", "cwd", "url", "headers", "oauth", "sandbox")
	}
	if p.l.folder && e.Transport != transportStdio {
		p.Wrong(n, "%s has no meaning for transport %s; remove it", instanceFolder, e.Transport)
	}
	p.checkOAuth()
	p.checkInstance()
	p.checkInitTimeout()
	p.checkPairs(e.Name, p.nodes["env"])
	p.checkPairs(e.Name, p.nodes["headers"])
	p.checkArgs(e.Name, p.nodes["args"])
}

func (p *entryParser) hasCommand() bool {
	return p.nodes["command"] != nil && p.nodes["command"].Value != ""
}

// packageInitTimeout is for the first start, which downloads: the catalog's own
// packages took 6 to 107 seconds.
const packageInitTimeout = 120 * time.Second

func (p *entryParser) checkInitTimeout() {
	if p.nodes["package"] != nil && !p.hasCommand() && p.nodes["initTimeoutMs"] == nil {
		p.e.initTimeout = packageInitTimeout
	}
}

func (p *entryParser) likelyTransport() string {
	switch {
	case p.nodes["url"] != nil:
		return transportHTTP
	case p.nodes["command"] == nil && p.nodes["package"] == nil && p.e.Category == "builtin":
		return transportBuiltin
	}
	return transportStdio
}

func (p *entryParser) forbid(names ...string) {
	for _, name := range names {
		if n := p.nodes[name]; n != nil {
			p.Wrong(n, "has no meaning for transport %s; remove it", p.e.Transport)
		}
	}
}

func (p *entryParser) checkURL(n *document.Node) {
	at := p.nodes["url"]
	if at == nil {
		p.Wrong(n, `transport %s needs "url"`, p.e.Transport)
		return
	}
	if len(p.l.missing) > 0 {
		return // judged when it is known
	}
	u, err := url.Parse(p.l.url)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		p.Wrong(at, "is not an http or https address") // not shown: it may hold a secret
		return
	}
	if s, ok := at.Value.(string); ok && secrets.InURL(s) {
		p.warnSecret(at, secrets.InputID(p.e.Name, "url"))
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		p.Warn(at, "sends everything unencrypted to another machine; use https")
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// checkInstance gives each user a process of their own where the catalog does
// not say otherwise: a stdio server keeps what it is told.
func (p *entryParser) checkInstance() {
	e := p.e
	if e.Instance == "" {
		e.Instance = instanceShared
		if e.Transport == transportStdio {
			e.Instance = instanceUser
		}
	}
	if e.eager && e.Instance != instanceShared {
		p.Wrong(p.nodes["start"], `eager needs "instance": "shared": there is no user yet when airlock starts`)
	}
}
