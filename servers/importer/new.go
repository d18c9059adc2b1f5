package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"airlock/servers/internal/document"
	"airlock/servers/internal/secrets"
)

// Spec is a server as a person names it on the command line. Exactly one of NPM,
// PyPI, URL and Command is set.
type Spec struct {
	Name, Description string
	NPM, PyPI         string // NAME@VERSION
	URL, Command      string
	Args              []string
	Env               []string // NAME=VALUE, or NAME to take it from the environment
	Headers           []string // NAME: VALUE
	SSE               bool
}

// New makes one entry of what a person said.
func New(s Spec) (*Result, error) {
	c := converter{Reader: document.Reader{File: "command line"}, inputs: map[string]Input{}, names: map[string]bool{}, hides: map[string]string{}}
	c.result.Format = "command line"
	at := &document.Node{Line: 1, Path: s.Name}
	e := Entry{Description: s.Description, Transport: "stdio", Command: s.Command, URL: s.URL, Args: s.Args, Env: map[string]string{}, Headers: map[string]string{}}
	switch {
	case s.NPM != "":
		e.Package = c.spec(at, "npm", s.NPM)
	case s.PyPI != "":
		e.Package = c.spec(at, "pypi", s.PyPI)
	case s.URL != "":
		e.Transport = "streamable-http"
		if s.SSE {
			e.Transport = "sse"
		}
	}
	c.specPairs(at, s, &e)
	c.hideSecrets(at, s.Name, &e)
	c.add(at, s.Name, e)
	if len(c.Problems) > 0 {
		problems := make([]string, len(c.Problems))
		for i, p := range c.Problems {
			problems[i] = withoutLine(p.Error())
		}
		return nil, errors.New(strings.Join(problems, "\n"))
	}
	for _, w := range c.Warnings {
		c.result.Warnings = append(c.result.Warnings, withoutLine(w))
	}
	return &c.result, nil
}

// withoutLine drops the place of a remark: a command line has no lines.
func withoutLine(remark string) string { return strings.TrimPrefix(remark, "command line:1: ") }

func (c *converter) spec(at *document.Node, kind, text string) *Package {
	name, version := splitVersion(text)
	if name == "" || !exact.MatchString(version) {
		c.Wrong(at, "%s has no exact version; write %s@VERSION with the one that you have checked", text, name)
	}
	return &Package{Type: kind, Name: name, Version: version}
}

func (c *converter) specPairs(at *document.Node, s Spec, e *Entry) {
	for _, pair := range s.Env {
		name, value, found := strings.Cut(pair, "=")
		if !found {
			value = c.fromEnvironment(name, secrets.Looks(name, "x"), "")
		}
		e.Env[name] = value
	}
	for _, header := range s.Headers {
		name, value, found := strings.Cut(header, ":")
		if !found {
			c.Wrong(at, `a header must be "NAME: VALUE"`)
		}
		e.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
}

func (r *Result) names() []string {
	names := make([]string, len(r.Servers))
	for i, s := range r.Servers {
		names[i] = s.Name
	}
	return names
}

// Only keeps the named servers and the inputs that these refer to.
func (r *Result) Only(names ...string) error {
	for _, name := range names {
		if !slices.ContainsFunc(r.Servers, func(s Server) bool { return s.Name == name }) {
			return fmt.Errorf("the file has no server %q; it has: %s", name, strings.Join(r.names(), ", "))
		}
	}
	r.Servers = slices.DeleteFunc(r.Servers, func(s Server) bool { return !slices.Contains(names, s.Name) })
	used, err := compact(r.Servers)
	if err != nil {
		return err
	}
	r.Inputs = slices.DeleteFunc(r.Inputs, func(in Input) bool { return !strings.Contains(string(used), "${input:"+in.ID+"}") })
	return nil
}
