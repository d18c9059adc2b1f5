package importer

import (
	"strings"

	"airlock/servers/internal/document"
	"airlock/servers/internal/secrets"
)

// vscodeFile reads {"inputs": [...], "servers": {...}}, which is mcp.json, or the
// member "mcp" of settings.json.
func (c *converter) vscodeFile(root *document.Node) {
	if root.Member("servers") == nil {
		root = root.Member("mcp")
	}
	if list := root.Member("inputs"); list != nil { // first, as servers refer to them
		if list.Kind != document.Array {
			c.Wrong(list, "must be a list of objects, not %s", list.KindName())
			return
		}
		for _, item := range list.Items {
			c.vscodeInput(item)
		}
	}
	c.Object(root, document.Fields{
		"inputs":  ignore,
		"servers": func(n *document.Node) { c.Each(n, func(name string, s *document.Node) { c.client(name, s) }) },
		"sandbox": c.unsupported("isolation is not taken over"),
	})
}

// vscodeInput makes what VS Code asks the user for a value from the environment,
// or a fixed one where there is a default that is no secret.
func (c *converter) vscodeInput(n *document.Node) {
	var id, kind, description, fallback string
	var password bool
	c.Object(n, document.Fields{
		"type": c.Text(&kind), "id": c.Text(&id), "description": c.Text(&description),
		"password": c.Flag(&password), "default": c.Text(&fallback),
		"options": ignore, "command": ignore, "args": ignore,
	})
	if n.Kind != document.Object {
		return
	}
	if id == "" {
		c.Wrong(n, `has no "id"`)
		return
	}
	in := Input{ID: id, Secret: password || secrets.Looks(id, "x"), Description: description}
	if fallback != "" && !in.Secret {
		in.Value = fallback
		c.Warn(n, "is not asked for: its default %q is used; change it in inputs", fallback)
	} else {
		in.From = "env:" + secrets.EnvName(strings.Trim(id, "_"))
		c.Warn(n, "is not asked for: set the variable %s", strings.TrimPrefix(in.From, "env:"))
	}
	c.input(in)
}
