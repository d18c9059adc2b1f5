package importer

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"airlock/servers/internal/document"
	"airlock/servers/internal/secrets"
)

// converter collects what one file holds.
type converter struct {
	document.Reader
	path   string
	result Result
	inputs map[string]Input // by id
	names  map[string]bool  // of servers
	// hides says which secret each variable stands for, so that two secrets do not
	// share one.
	hides map[string]string
}

var (
	notName = regexp.MustCompile(`[^a-z0-9]+`)
	notID   = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)
	// variable is how an environment can call something.
	variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// The longest name of a server and id of an input that a catalog takes.
const (
	maxName = 48
	maxID   = 64
)

// add takes a server over under a name that a catalog takes.
func (c *converter) add(n *document.Node, name string, e Entry) {
	fit := strings.Trim(notName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	if len(fit) > maxName {
		fit = strings.Trim(fit[:maxName], "-")
	}
	switch {
	case fit == "":
		c.Wrong(n, "the name %q has no letter or digit that a server's name can have", name)
		return
	case c.names[fit]:
		c.Wrong(n, "two servers would be called %q; rename one", fit)
		return
	case fit != name:
		c.Warn(n, "called %q here: names are lower-case letters, digits and dashes", fit)
	}
	c.names[fit] = true
	c.result.Servers = append(c.result.Servers, Server{Name: fit, Entry: e})
}

// input notes an input and returns the reference to it. Of two that differ, the
// later one gets another id.
func (c *converter) input(in Input) string {
	base := strings.Trim(notID.ReplaceAllString(in.ID, "_"), "_")
	base = base[:min(len(base), maxID-4)] // leaves room for the number
	in.ID = base
	for i := 2; ; i++ {
		known, taken := c.inputs[in.ID]
		if !taken {
			break
		}
		if known.From == in.From && known.Value == in.Value {
			return "${input:" + in.ID + "}"
		}
		in.ID = fmt.Sprintf("%s_%d", base, i)
	}
	c.inputs[in.ID] = in
	c.result.Inputs = append(c.result.Inputs, in)
	return "${input:" + in.ID + "}"
}

// refuseReferences looks for what a catalog would fill in. A description of a
// server that somebody else wrote could take the secrets of other servers by it.
func (c *converter) refuseReferences(n *document.Node) {
	if text, ok := n.Value.(string); ok && (strings.Contains(text, "${input:") || strings.Contains(text, "${instance:")) {
		c.Wrong(n, "has a reference into the catalog, which this format does not have")
	}
	for _, m := range n.Members {
		if strings.Contains(m.Key, "${") {
			c.Wrong(m.Value, "has a reference in its name")
		}
		c.refuseReferences(m.Value)
	}
	for _, item := range n.Items {
		c.refuseReferences(item)
	}
}

// fromEnvironment is an input that reads a variable.
func (c *converter) fromEnvironment(name string, secret bool, description string) string {
	return c.input(Input{ID: strings.ToLower(name), Secret: secret, From: "env:" + name, Description: description})
}

// scalarText reads a string, or a number or truth value as the text that an
// environment or an argument would hold.
func (c *converter) scalarText(n *document.Node) (string, bool) {
	switch v := n.Value.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	}
	c.Wrong(n, "must be a string, not %s", n.KindName())
	return "", false
}

// ignore reads a field that means nothing for a catalog.
func ignore(*document.Node) {}

// unsupported reads a field whose meaning a catalog cannot take over.
func (c *converter) unsupported(what string) func(*document.Node) {
	return func(n *document.Node) { c.Warn(n, "left out: %s", what) }
}

// hideSecrets replaces secrets that are written into an entry by inputs.
func (c *converter) hideSecrets(n *document.Node, server string, e *Entry) {
	c.hidePairs(n, server, e.Env, true)
	c.hidePairs(n, server, e.Headers, false)
	c.hideArgs(n, server, e.Args)
	if secrets.InURL(e.URL) {
		e.URL = c.hidden(n, server, "url", "", e.URL)
	}
}

func (c *converter) hidePairs(n *document.Node, server string, pairs map[string]string, environment bool) {
	for _, name := range sortedKeys(pairs) {
		value := pairs[name]
		if !secrets.Looks(name, value) && !secrets.InURL(value) {
			continue
		}
		variableName := ""
		if environment && variable.MatchString(name) {
			variableName = name
		}
		pairs[name] = c.hidden(n, server, name, variableName, value)
	}
}

func (c *converter) hideArgs(n *document.Node, server string, args []string) {
	flag := ""
	for i, arg := range args {
		name, value, found := strings.Cut(arg, "=")
		switch {
		case strings.HasPrefix(arg, "-") && found && (secrets.Looks(name, value) || secrets.InURL(value)):
			args[i] = name + "=" + c.hidden(n, server, name, "", value)
		case !strings.HasPrefix(arg, "-") && found && variable.MatchString(name) && secrets.Looks(name, value): // docker run -e NAME=value
			args[i] = name + "=" + c.hidden(n, server, name, name, value)
		case !strings.HasPrefix(arg, "-") && secrets.Looks(flag, arg):
			args[i] = c.hidden(n, server, flag, "", arg)
		case secrets.InURL(arg):
			args[i] = c.hidden(n, server, "url", "", arg)
		}
		flag = ""
		if strings.HasPrefix(arg, "-") && !found {
			flag = arg
		}
	}
}

// hidden makes an input of a secret. What stands before it, such as Bearer, and
// references beside it stay.
func (c *converter) hidden(n *document.Node, server, name, variableName, value string) string {
	before := ""
	for _, scheme := range []string{"Bearer ", "Basic "} {
		if strings.HasPrefix(value, scheme) {
			before = scheme
		}
	}
	id := secrets.InputID(server, name)
	variableName = c.freeVariable(variableName, secrets.EnvName(id), value)
	c.Warn(n, "the secret of %s is not taken over; set the variable %s to it", strings.TrimLeft(name, "-"), variableName)
	return before + c.input(Input{ID: id, Secret: true, From: "env:" + variableName})
}

// freeVariable chooses the variable for a secret: the one that the server itself
// reads, unless that stands for another secret of the file already.
func (c *converter) freeVariable(own, base, value string) string {
	name := own
	if name == "" {
		name = base
	}
	for i := 2; ; i++ {
		if known, taken := c.hides[name]; !taken || known == value {
			c.hides[name] = value
			return name
		}
		if name = base; i > 2 || own == "" {
			name = fmt.Sprintf("%s_%d", base, i)
		}
	}
}

// pin makes a package of a command that runs one at an exact version.
func (c *converter) pin(n *document.Node, e *Entry) {
	kind := map[string]string{"npx": "npm", "uvx": "pypi"}[e.Command]
	if kind == "" {
		return
	}
	rest := e.Args
	for len(rest) > 0 && (rest[0] == "-y" || rest[0] == "--yes") {
		rest = rest[1:]
	}
	if len(rest) == 0 || strings.HasPrefix(rest[0], "-") {
		c.Warn(n, "it is not seen which version %s runs; give the package an exact one", e.Command)
		return
	}
	name, version := splitVersion(rest[0])
	if name == "" || !exact.MatchString(version) {
		c.Warn(n, "%s is run at whatever version is newest; give it an exact one, as NAME@VERSION", rest[0])
		return
	}
	e.Package = &Package{Type: kind, Name: name, Version: version}
	e.Command, e.Args = "", rest[1:]
}

// exact are versions of npm's and Python's forms, not ranges and not tags.
var exact = regexp.MustCompile(`^v?[0-9]+(\.[0-9A-Za-z]+)*([-+.][0-9A-Za-z.+-]+)?$`)

func splitVersion(spec string) (name, version string) {
	if name, version, ok := strings.Cut(spec, "=="); ok {
		return name, version
	}
	if i := strings.LastIndex(spec, "@"); i > 0 {
		return spec[:i], spec[i+1:]
	}
	return spec, ""
}

func transportOf(kind string) (string, error) {
	switch strings.ToLower(kind) {
	case "stdio", "":
		return "stdio", nil
	case "http", "streamable-http", "streamablehttp", "streamable_http":
		return "streamable-http", nil
	case "sse":
		return "sse", nil
	}
	return "", fmt.Errorf("%q is no transport that airlock has: stdio, streamable-http or sse", kind)
}
