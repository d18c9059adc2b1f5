package servers

import (
	"regexp"
	"strings"

	"airlock/servers/internal/document"
	"airlock/servers/internal/secrets"
)

// input is a value that entries refer to as ${input:id}.
type input struct {
	id, env, value string
	secret         bool
	set            bool
}

var (
	inputForm = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
)

func (p *catalogParser) readInputs(n *document.Node) {
	p.inputs = map[string]*input{}
	if n == nil {
		return
	}
	if n.Kind != document.Array {
		p.Wrong(n, "must be a list of objects, not %s", n.KindName())
		return
	}
	for _, item := range n.Items {
		p.readInput(item)
	}
}

func (p *catalogParser) readInput(n *document.Node) {
	in, from, description := &input{}, "", ""
	var fromNode, valueNode *document.Node
	p.Object(n, document.Fields{
		"id":          p.Text(&in.id),
		"description": p.Text(&description),
		"secret":      p.Flag(&in.secret),
		"from":        func(m *document.Node) { fromNode = m; p.Text(&from)(m) },
		"value":       func(m *document.Node) { valueNode = m; p.Text(&in.value)(m) },
	})
	switch {
	case n.Kind != document.Object:
		return
	case !inputForm.MatchString(in.id):
		p.Wrong(n, `needs an "id" of letters, digits and ._-`)
		return
	case p.inputs[in.id] != nil:
		p.Wrong(n, "input %q is given twice", in.id)
		return
	case (fromNode == nil) == (valueNode == nil):
		p.Wrong(n, `needs either "from": "env:NAME" or "value"`)
		return
	}
	p.fill(in, from, fromNode, valueNode)
	p.inputs[in.id] = in
}

func (p *catalogParser) fill(in *input, from string, fromNode, valueNode *document.Node) {
	if valueNode != nil {
		in.set = true
		if in.secret || secrets.Looks(in.id, in.value) {
			p.Warn(valueNode, `a secret is written into the file; use "from": "env:%s" and set that variable`, secrets.EnvName(in.id))
		}
		return
	}
	name, ok := strings.CutPrefix(from, "env:")
	if !ok || name == "" {
		p.Wrong(fromNode, `must have the form "env:NAME"`)
		return
	}
	in.env = name
	if p.lookup != nil {
		in.value, in.set = p.lookup(name)
	}
}

// instanceFolder stands for a folder that belongs to one instance of the server.
// It is filled in when the instance starts.
const instanceFolder = "${instance:folder}"

var instanceForm = regexp.MustCompile(`\$\{instance:[^}]*\}`)

// noteFolder remembers that an entry has to do with its instance's folder.
func (p *catalogParser) noteFolder(n *document.Node, s string, l *launch) {
	for _, ref := range instanceForm.FindAllString(s, -1) {
		if ref != instanceFolder {
			p.Wrong(n, "%s is not known; there is %s", ref, instanceFolder)
		}
		l.folder = true
	}
}

// expand fills the references of one string in. An input without a value does
// not stop the other servers: its entry fails when it is started.
func (p *catalogParser) expand(n *document.Node, s string, l *launch) string {
	p.noteFolder(n, s, l)
	return secrets.Reference.ReplaceAllStringFunc(s, func(ref string) string {
		id := secrets.Reference.FindStringSubmatch(ref)[1]
		in := p.inputs[id]
		switch {
		case in == nil:
			p.Wrong(n, `there is no input %q; add it to "inputs"`, id)
			return ""
		case !in.set:
			l.missing = append(l.missing, in.env)
			return ""
		}
		return in.value
	})
}
