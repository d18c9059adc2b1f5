package servers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// node is one value of the catalog with its place in the file, so that a
// mistake can be named by line and path. encoding/json reports neither.
type node struct {
	path    string
	line    int
	raw     json.RawMessage
	value   any // nil, bool, json.Number or string; unset for the other two
	kind    nodeKind
	members []member
	items   []*node
}

type nodeKind uint8

const (
	scalar nodeKind = iota
	object
	array
)

type member struct {
	key   string
	line  int
	value *node
}

// maxDepth is far deeper than a catalog goes and far from the stack's end.
const maxDepth = 32

// placeError is a mistake at a line of the catalog.
type placeError struct {
	line int
	text string
}

func (e *placeError) Error() string { return e.text }

// byteOrderMark is what some editors begin a file with.
var byteOrderMark = []byte("\xef\xbb\xbf")

// parseDocument reads one JSON value with the places of everything in it.
func parseDocument(data []byte) (*node, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	p := documentParser{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	p.dec.UseNumber()
	root, err := p.parse("", 0)
	if err != nil {
		return nil, p.placed(err)
	}
	if _, err := p.dec.Token(); !errors.Is(err, io.EOF) {
		return nil, p.problem("something follows the end of the document")
	}
	return root, nil
}

type documentParser struct {
	data []byte
	dec  *json.Decoder
}

func (p *documentParser) line() int { return p.lineAt(p.dec.InputOffset()) }

func (p *documentParser) lineAt(offset int64) int {
	return 1 + bytes.Count(p.data[:min(offset, int64(len(p.data)))], []byte("\n"))
}

func (p *documentParser) problem(format string, args ...any) error {
	return &placeError{line: p.line(), text: fmt.Sprintf(format, args...)}
}

func (p *documentParser) placed(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return &placeError{line: p.lineAt(syntax.Offset), text: "not valid JSON: " + syntax.Error()}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &placeError{line: p.lineAt(int64(len(p.data))), text: "not valid JSON: the file ends too early"}
	default:
		return err
	}
}

func (p *documentParser) parse(path string, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, p.problem("nested deeper than %d levels", maxDepth)
	}
	token, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	n := &node{path: path, line: p.line()}
	start := p.dec.InputOffset() - 1
	switch token {
	case json.Delim('{'):
		n.kind, err = object, p.members(n, depth)
	case json.Delim('['):
		n.kind, err = array, p.items(n, depth)
	default:
		n.value = token
		n.raw, err = json.Marshal(token)
		return n, err
	}
	if err == nil {
		n.raw = p.data[start:p.dec.InputOffset()]
	}
	return n, err
}

func (p *documentParser) members(n *node, depth int) error {
	for p.dec.More() {
		token, err := p.dec.Token()
		if err != nil {
			return err
		}
		key, line := token.(string), p.line() // object keys are strings, or Token fails
		for _, m := range n.members {
			if m.key == key {
				return p.problem("%s is given twice", join(n.path, key))
			}
		}
		value, err := p.parse(join(n.path, key), depth+1)
		if err != nil {
			return err
		}
		n.members = append(n.members, member{key: key, line: line, value: value})
	}
	_, err := p.dec.Token()
	return err
}

func (p *documentParser) items(n *node, depth int) error {
	for p.dec.More() {
		value, err := p.parse(fmt.Sprintf("%s[%d]", n.path, len(n.items)), depth+1)
		if err != nil {
			return err
		}
		n.items = append(n.items, value)
	}
	_, err := p.dec.Token()
	return err
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// kindName says what a value is, as a reader of JSON would.
func (n *node) kindName() string {
	switch n.kind {
	case object:
		return "an object"
	case array:
		return "a list"
	}
	switch n.value.(type) {
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	}
	return "null"
}
