package servers

import (
	"regexp"
	"strings"
)

// input is a value that entries refer to as ${input:id}.
type input struct {
	id, env, value string
	secret         bool
	set            bool
}

var (
	inputForm     = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)
	referenceForm = regexp.MustCompile(`\$\{input:([^}]*)\}`)
)

func (p *catalogParser) readInputs(n *node) {
	p.inputs = map[string]*input{}
	if n == nil {
		return
	}
	if n.kind != array {
		p.wrong(n, "must be a list of objects, not %s", n.kindName())
		return
	}
	for _, item := range n.items {
		p.readInput(item)
	}
}

func (p *catalogParser) readInput(n *node) {
	in, from, description := &input{}, "", ""
	var fromNode, valueNode *node
	p.object(n, fields{
		"id":          p.text(&in.id),
		"description": p.text(&description),
		"secret":      p.flag(&in.secret),
		"from":        func(m *node) { fromNode = m; p.text(&from)(m) },
		"value":       func(m *node) { valueNode = m; p.text(&in.value)(m) },
	})
	switch {
	case n.kind != object:
		return
	case !inputForm.MatchString(in.id):
		p.wrong(n, `needs an "id" of letters, digits and ._-`)
		return
	case p.inputs[in.id] != nil:
		p.wrong(n, "input %q is given twice", in.id)
		return
	case (fromNode == nil) == (valueNode == nil):
		p.wrong(n, `needs either "from": "env:NAME" or "value"`)
		return
	}
	p.fill(in, from, fromNode, valueNode)
	p.inputs[in.id] = in
}

func (p *catalogParser) fill(in *input, from string, fromNode, valueNode *node) {
	if valueNode != nil {
		in.set = true
		if in.secret || looksSecret(in.id, in.value) {
			p.warn(valueNode, `a secret is written into the file; use "from": "env:%s" and set that variable`, envName(in.id))
		}
		return
	}
	name, ok := strings.CutPrefix(from, "env:")
	if !ok || name == "" {
		p.wrong(fromNode, `must have the form "env:NAME"`)
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
func (p *catalogParser) noteFolder(n *node, s string, l *launch) {
	for _, ref := range instanceForm.FindAllString(s, -1) {
		if ref != instanceFolder {
			p.wrong(n, "%s is not known; there is %s", ref, instanceFolder)
		}
		l.folder = true
	}
}

// expand fills the references of one string in. An input without a value does
// not stop the other servers: its entry fails when it is started.
func (p *catalogParser) expand(n *node, s string, l *launch) string {
	p.noteFolder(n, s, l)
	return referenceForm.ReplaceAllStringFunc(s, func(ref string) string {
		id := referenceForm.FindStringSubmatch(ref)[1]
		in := p.inputs[id]
		switch {
		case in == nil:
			p.wrong(n, `there is no input %q; add it to "inputs"`, id)
			return ""
		case !in.set:
			l.missing = append(l.missing, in.env)
			return ""
		}
		return in.value
	})
}
