package servers

import (
	"crypto/sha256"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"
)

// entryParser reads one server and remembers the places of what is checked
// once everything is known.
type entryParser struct {
	*catalogParser
	e     *Entry
	l     *launch
	nodes map[string]*node
}

func (p *catalogParser) entry(name string, n *node) *Entry {
	if !serverForm.MatchString(name) || len(name) > 48 || strings.Contains(name, "__") {
		p.wrong(n, "the name of a server is at most 48 lower-case letters and digits, with single - or _ between them")
		return nil
	}
	l := &launch{env: map[string]string{}, inheritEnv: []string{"PATH", "HOME"}, cwd: p.dir, headers: map[string]string{}}
	e := &Entry{Name: name, Enabled: true, users: []string{"*"}, launch: l, fingerprint: sha256.Sum256(n.raw)}
	e.tools.allow = []string{"*"}
	ep := entryParser{catalogParser: p, e: e, l: l, nodes: map[string]*node{}}
	ep.read(n)
	ep.check(n)
	return e
}

// note keeps the place of a field for the checks.
func (p *entryParser) note(name string, read func(*node)) func(*node) {
	return func(n *node) {
		p.nodes[name] = n
		read(n)
	}
}

func (p *entryParser) read(n *node) {
	e, l := p.e, p.l
	p.limitsDefaults()
	p.object(n, fields{
		"description": p.text(&e.Description),
		"category":    oneOf(&p.reader, &e.Category, "official", "archived", "community", "builtin"),
		"tags":        p.texts(&e.Tags),
		"requires":    p.texts(&e.Requires),
		"enabled":     p.flag(&e.Enabled),
		"transport": p.note("transport", oneOf(&p.reader, &e.Transport,
			transportStdio, transportHTTP, transportSSE, transportBuiltin)),
		// 2026-07-28 works without a handshake, which the connections here are built on.
		"protocol":   oneOf(&p.reader, &e.protocol, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"),
		"package":    p.note("package", p.readPackage),
		"command":    p.note("command", p.expanded(&l.command)),
		"args":       p.note("args", p.readArgs),
		"env":        p.note("env", p.pairs(l.env)),
		"inheritEnv": p.note("inheritEnv", p.texts(&l.inheritEnv)),
		"cwd":        p.note("cwd", p.readCwd),
		"url":        p.note("url", p.expanded(&l.url)),
		"headers":    p.note("headers", p.pairs(l.headers)),
		"lifecycle":  p.readLifecycle,
		"limits":     p.readLimits,
		"instance": p.note("instance", oneOf(&p.reader, &e.Instance,
			instanceShared, instanceUser, instanceSession)),
		"users":   p.texts(&e.users),
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

func (p *entryParser) readPackage(n *node) {
	l := p.l
	p.object(n, fields{
		"type":    oneOf(&p.reader, &l.packageType, "npm", "pypi", "go", "oci"),
		"name":    p.text(&l.packageName),
		"version": p.text(&l.packageVer),
	})
	switch {
	case n.kind != object:
	case l.packageType == "" || l.packageName == "" || l.packageVer == "":
		p.wrong(n, `needs "type", "name" and "version"`)
	case l.packageType == "oci":
		p.wrong(n, `servers from container images are not supported yet; write the "command" that runs it, such as docker run -i --rm IMAGE`)
	case strings.ContainsAny(l.packageVer, "^~<>=*| ") || l.packageVer == "latest":
		p.wrong(n, "%q is not an exact version; write the one that you have checked", l.packageVer)
	case strings.HasPrefix(l.packageName, "-") || strings.ContainsAny(l.packageName, " \t\n"):
		p.wrong(n, "%q is not the name of a package", l.packageName)
	}
}

func (p *entryParser) expanded(dst *string) func(*node) {
	return func(n *node) {
		p.text(dst)(n)
		*dst = p.expand(n, *dst, p.l)
	}
}

func (p *entryParser) readArgs(n *node) {
	p.texts(&p.l.args)(n)
	for i := range p.l.args {
		p.l.args[i] = p.expand(n.items[i], p.l.args[i], p.l)
	}
}

func (p *entryParser) pairs(dst map[string]string) func(*node) {
	return func(n *node) {
		p.each(n, func(key string, value *node) {
			var s string
			p.text(&s)(value)
			dst[key] = p.expand(value, s, p.l)
		})
	}
}

func (p *entryParser) readCwd(n *node) {
	var dir string
	p.expanded(&dir)(n)
	if !filepath.IsAbs(dir) && !strings.HasPrefix(dir, instanceFolder) {
		dir = filepath.Join(p.dir, dir)
	}
	p.l.cwd = dir
}

// The upper bounds are a day, and ten times what any server was seen to need.
const (
	dayMs  = 24 * 60 * 60 * 1000
	daySec = 24 * 60 * 60
)

func (p *entryParser) readLifecycle(n *node) {
	e := p.e
	start := "lazy"
	initMs, callMs, idleSec, backoffMs := 10_000, 60_000, 300, 500
	p.object(n, fields{
		"start":         p.note("start", oneOf(&p.reader, &start, "lazy", "eager")),
		"initTimeoutMs": p.number(&initMs, 1, dayMs),
		"callTimeoutMs": p.number(&callMs, 1, dayMs),
		"idleStopSec":   p.number(&idleSec, 1, daySec),
		"restart": func(n *node) {
			p.object(n, fields{
				"max":       p.number(&e.maxRestarts, 0, 1000),
				"backoffMs": p.number(&backoffMs, 1, 60_000),
			})
		},
	})
	e.eager = start == "eager"
	e.initTimeout = time.Duration(initMs) * time.Millisecond
	e.callTimeout = time.Duration(callMs) * time.Millisecond
	e.idleStop = time.Duration(idleSec) * time.Second
	e.backoff = time.Duration(backoffMs) * time.Millisecond
}

func (p *entryParser) readLimits(n *node) {
	p.object(n, fields{
		"concurrency":     p.number(&p.e.concurrency, 1, 1024),
		"maxMessageBytes": p.number(&p.e.maxMessage, 1024, 256<<20),
	})
}

// readSandbox refuses what is a promise of isolation that nothing keeps yet.
func (p *entryParser) readSandbox(n *node) {
	network, memory := "host", 0
	p.object(n, fields{
		"network":  oneOf(&p.reader, &network, "host", "none"),
		"memoryMB": p.number(&memory, 1, 1<<20),
	})
	if network == "host" && memory == 0 {
		return
	}
	p.nodes["isolation"] = n
}

func (p *entryParser) readTools(n *node) {
	rules := &p.e.tools
	p.object(n, fields{
		"allow": p.texts(&rules.allow),
		"deny":  p.texts(&rules.deny),
		"approval": func(n *node) {
			p.each(n, func(pattern string, value *node) {
				rule := approvalRule{pattern: pattern, mode: ApprovalRequired}
				oneOf(&p.reader, &rule.mode, ApprovalNever, ApprovalHint, ApprovalRequired)(value)
				rules.approval = append(rules.approval, rule)
			})
		},
	})
}

func (p *entryParser) readRelease(n *node) {
	if n.value == nil && n.kind == scalar || n.value == "" {
		p.wrong(n, `must be "origin", "all", "none" or a list of types such as ["EMAIL","PHONE"]`)
		return
	}
	if n.kind == array {
		var types []string
		p.texts(&types)(n)
	}
	if err := json.Unmarshal(n.raw, &p.e.Release); err != nil {
		p.wrong(n, "%v", err)
	}
}
