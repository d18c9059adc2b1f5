package importer

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"airlock/servers/internal/document"
	"airlock/servers/internal/secrets"
)

// clientFile reads {"mcpServers": {name: server}}, which Claude's programs,
// Cursor, Cline, Windsurf and others share. The settings of such a program may
// hold it beside much else, which is of no concern here.
func (c *converter) clientFile(root *document.Node) {
	c.Each(root.Member("mcpServers"), func(name string, n *document.Node) { c.client(name, n) })
}

// clientServer is a server of a client's file while it is read.
type clientServer struct {
	e                    Entry
	kind                 string
	disabled             bool
	approved, off, allow []string
}

func (c *converter) client(name string, n *document.Node) {
	s := clientServer{e: Entry{Env: map[string]string{}, Headers: map[string]string{}}}
	e := &s.e
	c.Object(n, document.Fields{
		"type": c.Text(&s.kind), "transport": c.Text(&s.kind), "transportType": c.Text(&s.kind),
		"command": c.value(&e.Command), "args": c.values(&e.Args), "env": c.pairs(e.Env), "cwd": c.value(&e.Cwd),
		"url": c.value(&e.URL), "serverUrl": c.value(&e.URL), "httpUrl": c.value(&e.URL), "headers": c.pairs(e.Headers),
		"description": c.Text(&e.Description),
		"disabled":    c.Flag(&s.disabled),
		"alwaysAllow": c.Texts(&s.approved), "autoApprove": c.Texts(&s.approved),
		"disabledTools": c.Texts(&s.off), "excludeTools": c.Texts(&s.off), "includeTools": c.Texts(&s.allow),
		"timeout":       c.unsupported("programs differ in its unit; write lifecycle.callTimeoutMs, in milliseconds"),
		"envFile":       c.unsupported("the variables of a file are not read; write them into env, secrets as inputs"),
		"headersHelper": c.unsupported("no program is run for headers; write them into headers, secrets as inputs"),
		"oauth":         c.unsupported("how to sign in is not taken over; use airlock servers login"),
		"auth":          c.unsupported("how to sign in is not taken over; use airlock servers login"),
		"sandbox":       c.unsupported("isolation is not taken over"), "sandboxEnabled": c.unsupported("isolation is not taken over"),
		"trust": c.unsupported("approvals are not taken over; write them into tools.approval"),
		"dev":   ignore, "gallery": ignore, "version": ignore, "name": ignore, "icon": ignore,
	})
	c.finish(name, n, &s)
}

// finish looks at a server as a whole.
func (c *converter) finish(name string, n *document.Node, s *clientServer) {
	e := &s.e
	transport, err := transportOf(s.kind)
	if err != nil {
		c.Wrong(n, "%v", err)
		return
	}
	switch {
	case e.URL != "" && e.Command != "":
		c.Wrong(n, "has a command and a url; keep the one that is meant")
		return
	case e.URL != "" && s.kind == "":
		transport = "streamable-http"
	case e.URL == "" && e.Command == "":
		c.Wrong(n, "has neither a command nor a url")
		return
	}
	if (transport == "stdio") != (e.Command != "") {
		c.Wrong(n, "its type %q does not fit what it has", s.kind)
		return
	}
	e.Transport = transport
	if s.disabled {
		off := false
		e.Enabled = &off
	}
	c.takeTools(s)
	c.hideSecrets(n, name, e)
	c.pin(n, e)
	c.add(n, name, *e)
}

// takeTools keeps what a program asks about: all but what it was told always to
// allow.
func (c *converter) takeTools(s *clientServer) {
	if len(s.approved)+len(s.off)+len(s.allow) == 0 {
		return
	}
	t := &Tools{Allow: s.allow, Deny: s.off}
	if len(s.approved) > 0 {
		t.Approval = map[string]string{"*": "required"}
		for _, tool := range s.approved {
			t.Approval[tool] = "never"
		}
	}
	s.e.Tools = t
}

func (c *converter) value(dst *string) func(*document.Node) {
	return func(n *document.Node) {
		if s, ok := c.scalarText(n); ok {
			*dst = c.variables(n, s)
		}
	}
}

func (c *converter) values(dst *[]string) func(*document.Node) {
	return func(n *document.Node) {
		if n.Kind != document.Array {
			c.Wrong(n, "must be a list of strings, not %s", n.KindName())
			return
		}
		for _, item := range n.Items {
			var s string
			c.value(&s)(item)
			*dst = append(*dst, s)
		}
	}
}

func (c *converter) pairs(dst map[string]string) func(*document.Node) {
	return func(n *document.Node) {
		c.Each(n, func(key string, value *document.Node) {
			if value.Kind == document.Scalar && value.Value == nil {
				c.Warn(value, "left out: null removes a variable, but servers get none that env or inheritEnv does not name")
				return
			}
			var s string
			c.value(&s)(value)
			dst[key] = s
		})
	}
}

// placeholder is what client programs replace in values: ${input:id}, ${env:NAME},
// ${NAME}, ${NAME:-default} and a few words of VS Code's.
var placeholder = regexp.MustCompile(`\$\{([^}]*)\}`)

func (c *converter) variables(n *document.Node, s string) string {
	return placeholder.ReplaceAllStringFunc(s, func(whole string) string {
		inside := whole[2 : len(whole)-1]
		if id, ok := strings.CutPrefix(inside, "input:"); ok {
			return c.declared(n, id)
		}
		if name, ok := strings.CutPrefix(inside, "env:"); ok {
			inside = name
		}
		name, fallback, hasDefault := strings.Cut(inside, ":-")
		switch {
		case inside == "workspaceFolder":
			return c.workspace(n, whole)
		case inside == "userHome":
			name = "HOME"
		case inside == "/" || inside == "pathSeparator":
			return "/"
		case !variable.MatchString(name):
			c.Wrong(n, "%s is not known; write the value itself", whole)
			return whole
		}
		if hasDefault {
			c.Warn(n, "the default %q of %s is not taken over; set the variable", fallback, name)
		}
		return c.fromEnvironment(name, secrets.Looks(name, "x"), "")
	})
}

// declared refers to an input of the file, which must have it.
func (c *converter) declared(n *document.Node, id string) string {
	fit := strings.Trim(notID.ReplaceAllString(id, "_"), "_")
	if _, ok := c.inputs[fit]; !ok {
		c.Wrong(n, "there is no input %q in the file; add it to its inputs", id)
	}
	return "${input:" + fit + "}"
}

// workspace is the folder that holds .vscode.
func (c *converter) workspace(n *document.Node, whole string) string {
	full, err := filepath.Abs(c.path)
	if folder := filepath.Dir(full); err == nil && filepath.Base(folder) == ".vscode" {
		return filepath.Dir(folder)
	}
	c.Wrong(n, "%s is only known for a file in a folder .vscode; write the folder itself", whole)
	return whole
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
