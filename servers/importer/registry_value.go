package importer

import (
	"regexp"
	"strings"

	"airlock/servers/internal/document"
	"airlock/servers/internal/secrets"
)

// setting is what a server.json calls an Input: a value, or how to get one.
type setting struct {
	node                                           *document.Node
	name, kind, hint, value, fallback, description string
	given, required, secret, repeated              bool
	variables                                      *document.Node
}

func (c *converter) setting(n *document.Node) setting {
	s := setting{node: n}
	c.Object(n, document.Fields{
		"name": c.Text(&s.name), "type": c.Text(&s.kind), "valueHint": c.Text(&s.hint), "description": c.Text(&s.description),
		"value": func(v *document.Node) { s.given = true; c.Text(&s.value)(v) }, "default": func(v *document.Node) { s.fallback, _ = c.scalarText(v) },
		"isRequired": c.Flag(&s.required), "isSecret": c.Flag(&s.secret), "isRepeated": c.Flag(&s.repeated),
		"variables": func(v *document.Node) { s.variables = v },
		"format":    ignore, "placeholder": ignore, "choices": ignore,
	})
	return s
}

// resolve gives the value of a setting: the fixed one, its default, or a reference
// to an input. ok is false for an optional one that has neither.
func (c *converter) resolve(server string, s setting) (value string, ok bool) {
	called := s.name
	if called == "" {
		called = s.hint
	}
	switch {
	case s.given:
		return c.substitute(server, s.value, s.variables), true
	case s.fallback != "" && !s.secret:
		return s.fallback, true
	case !s.required:
		c.Warn(s.node, "left out: the setting is optional and has no value")
		return "", false
	}
	id := secrets.InputID(server, called)
	from := secrets.EnvName(id)
	if variable.MatchString(called) && called == strings.ToUpper(called) {
		from = called
	}
	c.Warn(s.node, "set the variable %s", from)
	return c.input(Input{ID: id, Secret: s.secret, From: "env:" + from, Description: s.description}), true
}

// curly is a variable in a value: {name}.
var curly = regexp.MustCompile(`\{([A-Za-z0-9_.-]+)\}`)

// substitute fills {name} in where the file says what it stands for. Others stay,
// as the format asks.
func (c *converter) substitute(server, text string, variables *document.Node) string {
	return curly.ReplaceAllStringFunc(text, func(whole string) string {
		name := whole[1 : len(whole)-1]
		n := variables.Member(name)
		if n == nil {
			return whole
		}
		s := c.setting(n)
		if s.name == "" {
			s.name = name
		}
		s.required = true // a gap in the middle of a value is no value
		value, _ := c.resolve(server, s)
		return value
	})
}

func (c *converter) registryEnvironment(server string, list []*document.Node, into map[string]string) {
	for _, n := range list {
		s := c.setting(n)
		if s.name == "" {
			c.Wrong(n, `has no "name"`)
			continue
		}
		if value, ok := c.resolve(server, s); ok {
			into[s.name] = value
		}
	}
}

func (c *converter) arguments(server string, list []*document.Node) []string {
	var args []string
	for _, n := range list {
		s := c.setting(n)
		switch s.kind {
		case "positional":
			if value, ok := c.resolve(server, s); ok {
				args = append(args, value)
			}
		case "named":
			args = append(args, c.namedArgument(server, s)...)
		default:
			c.Wrong(n, `its type must be "positional" or "named"`)
		}
		if s.repeated {
			c.Warn(n, "may be given several times; add more to args")
		}
	}
	return args
}

// namedArgument is --name, or --name and a value. One without any word of a value
// is a flag, which is given if it is required.
func (c *converter) namedArgument(server string, s setting) []string {
	if s.name == "" {
		c.Wrong(s.node, `has no "name"`)
		return nil
	}
	value, ok := c.resolve(server, s)
	switch {
	case !ok:
		return nil
	case value == "":
		return []string{s.name}
	}
	return []string{s.name, value}
}
