package importer

import (
	"strings"

	"airlock/servers/internal/document"
)

// registryServer reads a server.json, the form in which MCP registries describe a
// server (schemas of 2025-09-16 to 2025-12-11). It says in how many ways a server
// can be had; the first one that airlock can start is taken.
func (c *converter) registryServer(root *document.Node) {
	var name, description, status string
	var packages, remotes []*document.Node
	c.Object(root, document.Fields{
		"name": c.Text(&name), "description": c.Text(&description), "status": c.Text(&status),
		"packages": c.list(&packages), "remotes": c.list(&remotes),
		"$schema": ignore, "title": ignore, "version": ignore, "websiteUrl": ignore, "repository": ignore, "icons": ignore, "_meta": ignore,
	})
	if status == "deprecated" || status == "deleted" {
		c.Warn(root, "the registry calls it %s", status)
	}
	short := name[strings.LastIndex(name, "/")+1:]
	for i, n := range packages {
		if e, ok := c.registryPackage(short, n); ok {
			c.chosen(root, short, description, e, packages[i+1:], remotes)
			return
		}
	}
	for i, n := range remotes {
		if e, ok := c.registryRemote(short, n); ok {
			c.chosen(root, short, description, e, nil, remotes[i+1:])
			return
		}
	}
	if len(c.Problems) == 0 {
		c.Wrong(root, "offers no package of npm or PyPI, no image and no remote address")
	}
}

func (c *converter) chosen(root *document.Node, name, description string, e Entry, packages, remotes []*document.Node) {
	e.Description = description
	for _, n := range append(packages, remotes...) {
		c.Warn(n, "not taken: the server can be had in this way, too")
	}
	c.hideSecrets(root, name, &e)
	c.add(root, name, e)
}

func (c *converter) list(dst *[]*document.Node) func(*document.Node) {
	return func(n *document.Node) {
		if n.Kind != document.Array {
			c.Wrong(n, "must be a list of objects, not %s", n.KindName())
			return
		}
		*dst = n.Items
	}
}

// registryPackage reads one package; ok is false if airlock cannot run it.
func (c *converter) registryPackage(server string, n *document.Node) (e Entry, ok bool) {
	var kind, id, version, runtime, transport string
	var environment, runtimeArgs, packageArgs []*document.Node
	e = Entry{Transport: "stdio", Env: map[string]string{}}
	c.Object(n, document.Fields{
		"registryType": c.Text(&kind), "identifier": c.Text(&id), "version": c.Text(&version), "runtimeHint": c.Text(&runtime),
		"transport": func(t *document.Node) {
			c.Object(t, document.Fields{"type": c.Text(&transport), "url": ignore, "headers": ignore, "variables": ignore})
		},
		"environmentVariables": c.list(&environment), "runtimeArguments": c.list(&runtimeArgs), "packageArguments": c.list(&packageArgs),
		"registryBaseUrl":         ignore, // npx and uvx use the registry that they are set up with
		"fileSha256":              c.unsupported("the package's sum is not checked"),
		"postInstallInstructions": c.unsupported("read them in the file"),
	})
	switch {
	case n.Kind != document.Object:
		return e, false
	case transport != "" && transport != "stdio":
		c.Warn(n, "not taken: it is a program that serves %s; start it and give its address to: airlock servers add", transport)
		return e, false
	case kind != "npm" && kind != "pypi" && kind != "oci":
		c.Warn(n, "not taken: packages of %q cannot be run", kind)
		return e, false
	case id == "":
		c.Wrong(n, `has no "identifier"`)
		return e, false
	}
	c.registryEnvironment(server, environment, e.Env)
	before, after := c.arguments(server, runtimeArgs), c.arguments(server, packageArgs)
	if kind == "oci" {
		c.image(n, &e, imageName(id, version), before, after)
		return e, true
	}
	c.packaged(n, &e, Package{Type: kind, Name: id, Version: version}, before, after)
	return e, true
}

// packaged runs a package as the catalog does, or by the command it wants.
func (c *converter) packaged(n *document.Node, e *Entry, p Package, before, after []string) {
	if len(before) == 0 && exact.MatchString(p.Version) {
		e.Package, e.Args = &p, after
		return
	}
	spec := p.Name
	if p.Version != "" {
		spec += "@" + p.Version
	} else {
		c.Warn(n, "it is run at whatever version is newest; give it an exact one")
	}
	e.Command = "uvx"
	if p.Type == "npm" {
		e.Command, before = "npx", append([]string{"--yes"}, before...)
	}
	e.Args = append(append(before, spec), after...)
}

func imageName(id, version string) string {
	if last := id[strings.LastIndex(id, "/")+1:]; version == "" || strings.ContainsAny(last, ":@") {
		return id
	}
	return id + ":" + version
}

// image runs a container. Its variables are handed on by name, so that their
// values do not stand in the command line.
func (c *converter) image(n *document.Node, e *Entry, image string, before, after []string) {
	e.Command = "docker"
	e.Args = []string{"run", "-i", "--rm"}
	for _, name := range sortedKeys(e.Env) {
		e.Args = append(e.Args, "-e", name)
	}
	e.Args = append(append(append(e.Args, before...), image), after...)
	e.Requires = []string{"docker"}
	if last := image[strings.LastIndex(image, "/")+1:]; !strings.ContainsAny(last, ":@") || strings.HasSuffix(last, ":latest") {
		c.Warn(n, "the image %s has no exact version; give it a tag or a digest", image)
	}
}

func (c *converter) registryRemote(server string, n *document.Node) (e Entry, ok bool) {
	var kind, address string
	var headers []*document.Node
	variables := &document.Node{Kind: document.Object}
	e = Entry{Headers: map[string]string{}}
	c.Object(n, document.Fields{
		"type": c.Text(&kind), "url": c.Text(&address), "headers": c.list(&headers),
		"variables": func(v *document.Node) { variables = v },
	})
	if n.Kind != document.Object {
		return e, false
	}
	transport, err := transportOf(kind)
	if err != nil || transport == "stdio" {
		c.Wrong(n, "%q is no transport of a remote server", kind)
		return e, false
	}
	e.Transport = transport
	e.URL = c.substitute(server, address, variables)
	c.registryEnvironment(server, headers, e.Headers)
	return e, true
}
