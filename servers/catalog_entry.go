package servers

import (
	"crypto/sha256"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"airlock/servers/internal/document"
)

// entryParser reads one server and remembers the places of what is checked
// once everything is known.
type entryParser struct {
	*catalogParser
	e     *Entry
	l     *launch
	nodes map[string]*document.Node
}

// inherited are the variables that a server gets unless its entry names others:
// what it is found by, and where this machine keeps the certificates that it
// trusts. None of them is a secret.
var inherited = []string{"PATH", "HOME", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"}

func (p *catalogParser) entry(name string, n *document.Node) *Entry {
	if !serverForm.MatchString(name) || len(name) > 48 || strings.Contains(name, "__") {
		p.Wrong(n, "the name of a server is at most 48 lower-case letters and digits, with single - or _ between them")
		return nil
	}
	l := &launch{env: map[string]string{}, inheritEnv: slices.Clone(inherited), cwd: p.dir, headers: map[string]string{}}
	e := &Entry{Name: name, Enabled: true, users: []string{"*"}, launch: l, fingerprint: sha256.Sum256(n.Raw)}
	e.tools.allow = []string{"*"}
	ep := entryParser{catalogParser: p, e: e, l: l, nodes: map[string]*document.Node{}}
	ep.read(n)
	ep.check(n)
	return e
}

// note keeps the place of a field for the checks.
func (p *entryParser) note(name string, read func(*document.Node)) func(*document.Node) {
	return func(n *document.Node) {
		p.nodes[name] = n
		read(n)
	}
}

func (p *entryParser) read(n *document.Node) {
	e, l := p.e, p.l
	p.limitsDefaults()
	p.Object(n, document.Fields{
		"description": p.Text(&e.Description),
		"category":    document.OneOf(&p.Reader, &e.Category, "official", "archived", "community", "builtin"),
		"tags":        p.Texts(&e.Tags),
		"requires":    p.Texts(&e.Requires),
		"enabled":     p.Flag(&e.Enabled),
		"transport": p.note("transport", document.OneOf(&p.Reader, &e.Transport,
			transportStdio, transportHTTP, transportSSE, transportBuiltin)),
		// 2026-07-28 works without a handshake, which the connections here are built on.
		"protocol":   document.OneOf(&p.Reader, &e.protocol, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"),
		"package":    p.note("package", p.readPackage),
		"command":    p.note("command", p.expanded(&l.command)),
		"args":       p.note("args", p.readArgs),
		"env":        p.note("env", p.pairs(l.env)),
		"inheritEnv": p.note("inheritEnv", p.Texts(&l.inheritEnv)),
		"cwd":        p.note("cwd", p.readCwd),
		"url":        p.note("url", p.expanded(&l.url)),
		"headers":    p.note("headers", p.pairs(l.headers)),
		"oauth":      p.note("oauth", p.readOAuth),
		"lifecycle":  p.readLifecycle,
		"limits":     p.readLimits,
		"instance": p.note("instance", document.OneOf(&p.Reader, &e.Instance,
			instanceShared, instanceUser, instanceSession)),
		"users":   p.Texts(&e.users),
		"sandbox": p.note("sandbox", p.readSandbox),
		"tools":   p.readTools,
		"release": p.readRelease,
	})
}

func (p *entryParser) limitsDefaults() {
	e := p.e
	e.protocol = "2025-11-25"
	e.initTimeout, e.callTimeout, e.idleStop = 10*time.Second, 60*time.Second, 300*time.Second
	e.maxRestarts, e.backoff = 5, 500*time.Millisecond
	e.concurrency, e.maxMessage = 8, 8<<20
}

func (p *entryParser) readPackage(n *document.Node) {
	l := p.l
	p.Object(n, document.Fields{
		"type":    document.OneOf(&p.Reader, &l.packageType, "npm", "pypi", "go", "oci"),
		"name":    p.Text(&l.packageName),
		"version": p.Text(&l.packageVer),
	})
	switch {
	case n.Kind != document.Object:
	case l.packageType == "" || l.packageName == "" || l.packageVer == "":
		p.Wrong(n, `needs "type", "name" and "version"`)
	case l.packageType == "oci":
		p.Wrong(n, `servers from container images are not supported yet; write the "command" that runs it, such as docker run -i --rm IMAGE`)
	case strings.ContainsAny(l.packageVer, "^~<>=*| ") || l.packageVer == "latest":
		p.Wrong(n, "%q is not an exact version; write the one that you have checked", l.packageVer)
	case strings.HasPrefix(l.packageName, "-") || strings.ContainsAny(l.packageName, " \t\n"):
		p.Wrong(n, "%q is not the name of a package", l.packageName)
	}
}

func (p *entryParser) expanded(dst *string) func(*document.Node) {
	return func(n *document.Node) {
		p.Text(dst)(n)
		*dst = p.expand(n, *dst, p.l)
	}
}

func (p *entryParser) readArgs(n *document.Node) {
	p.Texts(&p.l.args)(n)
	for i := range p.l.args {
		p.l.args[i] = p.expand(n.Items[i], p.l.args[i], p.l)
	}
}

func (p *entryParser) pairs(dst map[string]string) func(*document.Node) {
	return func(n *document.Node) {
		p.Each(n, func(key string, value *document.Node) {
			var s string
			p.Text(&s)(value)
			dst[key] = p.expand(value, s, p.l)
		})
	}
}

func (p *entryParser) readCwd(n *document.Node) {
	var dir string
	p.expanded(&dir)(n)
	p.l.cwd = p.folder(dir)
}

// The upper bounds are a day, and ten times what any server was seen to need.
const (
	dayMs  = 24 * 60 * 60 * 1000
	daySec = 24 * 60 * 60
)

func (p *entryParser) readLifecycle(n *document.Node) {
	e := p.e
	start := "lazy"
	initMs, callMs, idleSec, backoffMs := 10_000, 60_000, 300, 500
	p.Object(n, document.Fields{
		"start":         p.note("start", document.OneOf(&p.Reader, &start, "lazy", "eager")),
		"initTimeoutMs": p.note("initTimeoutMs", p.Number(&initMs, 1, dayMs)),
		"callTimeoutMs": p.Number(&callMs, 1, dayMs),
		"idleStopSec":   p.Number(&idleSec, 1, daySec),
		"restart": func(n *document.Node) {
			p.Object(n, document.Fields{
				"max":       p.Number(&e.maxRestarts, 0, 1000),
				"backoffMs": p.Number(&backoffMs, 1, 60_000),
			})
		},
	})
	e.eager = start == "eager"
	e.initTimeout = time.Duration(initMs) * time.Millisecond
	e.callTimeout = time.Duration(callMs) * time.Millisecond
	e.idleStop = time.Duration(idleSec) * time.Second
	e.backoff = time.Duration(backoffMs) * time.Millisecond
}

func (p *entryParser) readLimits(n *document.Node) {
	p.Object(n, document.Fields{
		"concurrency":     p.Number(&p.e.concurrency, 1, 1024),
		"maxMessageBytes": p.Number(&p.e.maxMessage, 1024, 256<<20),
	})
}

// readSandbox isolates the server, whatever the object holds.
func (p *entryParser) readSandbox(n *document.Node) {
	network, iso := "host", &isolation{}
	p.Object(n, document.Fields{
		"network":  document.OneOf(&p.Reader, &network, "host", "none"),
		"memoryMB": p.Number(&iso.memoryMB, minMemoryMB, 1<<20),
		"write": func(n *document.Node) {
			p.Texts(&iso.write)(n)
			for i, dir := range iso.write {
				iso.write[i] = p.folder(p.expand(n.Items[i], dir, p.l))
			}
		},
	})
	iso.network = network == "host"
	p.l.isolation = iso
}

// minMemoryMB is about what an interpreter takes before it does anything.
const minMemoryMB = 64

// folder is relative to the catalog.
func (p *entryParser) folder(dir string) string {
	if filepath.IsAbs(dir) || strings.HasPrefix(dir, instanceFolder) {
		return dir
	}
	return filepath.Join(p.dir, dir)
}

func (p *entryParser) readTools(n *document.Node) {
	rules := &p.e.tools
	p.Object(n, document.Fields{
		"allow": p.Texts(&rules.allow),
		"deny":  p.Texts(&rules.deny),
		"approval": func(n *document.Node) {
			p.Each(n, func(pattern string, value *document.Node) {
				rule := approvalRule{pattern: pattern, mode: ApprovalRequired}
				document.OneOf(&p.Reader, &rule.mode, ApprovalNever, ApprovalHint, ApprovalRequired)(value)
				rules.approval = append(rules.approval, rule)
			})
		},
	})
}

func (p *entryParser) readRelease(n *document.Node) {
	if n.Value == nil && n.Kind == document.Scalar || n.Value == "" {
		p.Wrong(n, `must be "origin", "all", "none" or a list of types such as ["EMAIL","PHONE"]`)
		return
	}
	if n.Kind == document.Array {
		var types []string
		p.Texts(&types)(n)
	}
	if err := json.Unmarshal(n.Raw, &p.e.Release); err != nil {
		p.Wrong(n, "%v", err)
	}
}
