package importer

import (
	"regexp"
	"strings"

	"airlock/servers/internal/document"
	"airlock/servers/internal/secrets"
)

// dockerServer reads a server.yaml of Docker's MCP registry: a server in a
// container, or a remote one.
func (c *converter) dockerServer(root *document.Node) {
	d := dockerReader{converter: c, e: Entry{Env: map[string]string{}, Headers: map[string]string{}}}
	var kind, image, requirement string
	config := root.Member("config")
	for _, part := range []struct { // what values refer to is read first
		name string
		read func(*document.Node)
	}{{"parameters", d.parameters}, {"secrets", d.secrets}} {
		if n := config.Member(part.name); n != nil {
			part.read(n)
		}
	}
	c.Object(root, document.Fields{
		"name": c.Text(&d.name), "type": c.Text(&kind), "image": c.Text(&image), "requirement": c.Text(&requirement),
		"meta": func(n *document.Node) { c.Object(n, document.Fields{"tags": c.Texts(&d.e.Tags), "category": ignore}) },
		"about": func(n *document.Node) {
			c.Object(n, document.Fields{"description": c.Text(&d.e.Description), "title": ignore, "icon": ignore})
		},
		"remote": d.remote, "run": d.run,
		"config": func(n *document.Node) {
			c.Object(n, document.Fields{"parameters": ignore, "secrets": ignore, "description": ignore, "env": d.environment,
				"anyOf": c.unsupported("look at the file for which values belong together")})
		},
		"oauth":  c.unsupported("how to sign in is not taken over; use airlock servers login"),
		"tools":  c.unsupported("tools that are containers of their own cannot be run"),
		"source": ignore, "dynamic": ignore, "longLived": ignore,
	})
	if requirement != "" {
		d.e.Requires = append(d.e.Requires, requirement)
	}
	d.place(root, kind, image)
}

type dockerReader struct {
	*converter
	name     string
	e        Entry
	defaults map[string]string // of parameters, by their path
	flags    []string          // of docker run
	command  []string
}

func (d *dockerReader) place(root *document.Node, kind, image string) {
	c := d.converter
	switch {
	case kind == "poci":
		c.Wrong(root, "each of its tools is a container of its own, which cannot be run")
		return
	case d.e.URL != "":
		d.e.Env = nil // a remote server has none; its secrets are in the headers
	case image != "":
		c.image(root, &d.e, image, d.flags, d.command)
	default:
		c.Wrong(root, `has neither "image" nor "remote"`)
		return
	}
	if d.e.Transport == "" {
		d.e.Transport = "stdio"
	}
	c.hideSecrets(root, d.name, &d.e)
	c.add(root, d.name, d.e)
}

func (d *dockerReader) remote(n *document.Node) {
	kind := "streamable-http"
	headers := map[string]string{}
	d.Object(n, document.Fields{"transport_type": d.Text(&kind), "url": d.Text(&d.e.URL), "headers": func(h *document.Node) {
		d.Each(h, func(key string, value *document.Node) {
			text, _ := d.scalarText(value)
			headers[key] = d.variables(value, d.template(value, text))
		})
	}})
	transport, err := transportOf(kind)
	if err != nil || transport == "stdio" {
		d.Wrong(n, "%q is no transport of a remote server", kind)
	}
	d.e.Transport, d.e.Headers = transport, headers
}

func (d *dockerReader) run(n *document.Node) {
	var user string
	var volumes []string
	var noNetwork bool
	d.Object(n, document.Fields{
		"command": d.texts(&d.command), "volumes": d.texts(&volumes), "user": func(v *document.Node) { text, _ := d.scalarText(v); user = d.template(v, text) },
		"env": func(v *document.Node) {
			d.Each(v, func(key string, value *document.Node) {
				text, _ := d.scalarText(value)
				d.e.Env[key] = d.template(value, text)
			})
		},
		"disableNetwork": d.Flag(&noNetwork),
		"allowHosts":     d.unsupported("the hosts that it may reach are not limited"),
		"ports":          d.unsupported("ports are not published"),
	})
	if noNetwork {
		d.flags = append(d.flags, "--network", "none")
	}
	if user != "" {
		d.flags = append(d.flags, "-u", user)
	}
	for _, v := range volumes {
		d.flags = append(d.flags, "-v", v)
	}
}

// texts reads a list whose items may have templates. An item that stands for a
// list of the user's own is left out.
func (d *dockerReader) texts(dst *[]string) func(*document.Node) {
	return func(n *document.Node) {
		var list []string
		d.Texts(&list)(n)
		for i, text := range list {
			if strings.Contains(text, "|") && templated.MatchString(text) {
				d.Warn(n.Items[i], "left out: %s stands for a list of yours; add what you need to args", text)
				continue
			}
			*dst = append(*dst, d.template(n.Items[i], text))
		}
	}
}

func (d *dockerReader) environment(n *document.Node) {
	if n.Kind != document.Array {
		d.Wrong(n, "must be a list of objects, not %s", n.KindName())
		return
	}
	for _, item := range n.Items {
		var name, value string
		d.Object(item, document.Fields{
			"name": d.Text(&name), "value": func(v *document.Node) { value, _ = d.scalarText(v) },
			"example": ignore, "description": ignore, "required": ignore, "default": ignore,
		})
		switch {
		case name == "":
			d.Wrong(item, `has no "name"`)
		case value == "":
			d.e.Env[name] = d.fromEnvironment(name, false, "")
			d.Warn(item, "set the variable %s", name)
		default:
			d.e.Env[name] = d.template(item, value)
		}
	}
}

// secrets become inputs that read the variable which the server itself reads.
func (d *dockerReader) secrets(n *document.Node) {
	if n.Kind != document.Array {
		d.Wrong(n, "must be a list of objects, not %s", n.KindName())
		return
	}
	for _, item := range n.Items {
		var name, env, description string
		optional := false
		d.Object(item, document.Fields{"name": d.Text(&name), "env": d.Text(&env), "description": d.Text(&description),
			"required": func(v *document.Node) { optional = v.Value == false }, "example": ignore})
		switch {
		case !variable.MatchString(env):
			d.Wrong(item, `needs "env", the variable that the server reads`)
		case optional:
			d.Warn(item, "left out: the secret is optional; to use it, add %s to env", env)
		default:
			d.e.Env[env] = d.fromEnvironment(env, true, description)
			d.Warn(item, "set the variable %s", env)
		}
	}
}

func (d *dockerReader) parameters(n *document.Node) {
	d.defaults = map[string]string{}
	var collect func(path string, n *document.Node)
	collect = func(path string, n *document.Node) {
		properties := n.Member("properties")
		if properties == nil || properties.Kind != document.Object {
			return
		}
		for _, m := range properties.Members {
			where := strings.TrimPrefix(path+"."+m.Key, ".")
			if v := m.Value.Member("default"); v != nil && v.Kind == document.Scalar && v.Value != nil {
				d.defaults[where], _ = d.scalarText(v)
			}
			collect(where, m.Value)
		}
	}
	collect("", n)
}

// templated is a value of the user's: {{server.parameter}}.
var templated = regexp.MustCompile(`\{\{\s*([^{}|]+?)\s*(\|[^{}]*)?\}\}`)

func (d *dockerReader) template(n *document.Node, text string) string {
	return templated.ReplaceAllStringFunc(text, func(whole string) string {
		parts := templated.FindStringSubmatch(whole)
		if parts[2] != "" {
			d.Warn(n, "%s is taken as the plain value", whole)
		}
		server, name, ok := strings.Cut(parts[1], ".")
		if !ok {
			server, name = d.name, parts[1]
		}
		id := secrets.InputID(server, name)
		in := Input{ID: id, From: "env:" + secrets.EnvName(id)}
		if fallback, ok := d.defaults[name]; ok && fallback != "" {
			in.From, in.Value = "", fallback
		} else {
			d.Warn(n, "set the variable %s", secrets.EnvName(id))
		}
		return d.input(in)
	})
}
