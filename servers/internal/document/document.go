// Package document reads JSON so that a mistake in it can be named by line and
// path. It serves the catalog and the files that entries are imported from.
package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// Node is one value of a document with its place in the file, so that a
// mistake can be named by line and path. encoding/json reports neither.
type Node struct {
	Path    string
	Line    int
	Raw     json.RawMessage
	Value   any // nil, bool, json.Number or string; unset for the other two
	Kind    Kind
	Members []Member
	Items   []*Node
}

// Kind tells the three forms of a value apart.
type Kind uint8

// The kinds.
const (
	Scalar Kind = iota
	Object
	Array
)

// Member is one key of an object and its value.
type Member struct {
	Key   string
	Line  int
	Value *Node
}

// maxDepth is far deeper than these documents go and far from the stack's end.
const maxDepth = 32

// PlaceError is a mistake at a line of a document.
type PlaceError struct {
	Line int
	Text string
}

func (e *PlaceError) Error() string { return e.Text }

// ByteOrderMark is what some editors begin a file with.
var ByteOrderMark = []byte("\xef\xbb\xbf")

// Parse reads one JSON value with the places of everything in it.
func Parse(data []byte) (*Node, error) {
	data = bytes.TrimPrefix(data, ByteOrderMark)
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
	return &PlaceError{Line: p.line(), Text: fmt.Sprintf(format, args...)}
}

func (p *documentParser) placed(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return &PlaceError{Line: p.lineAt(syntax.Offset), Text: "not valid JSON: " + syntax.Error()}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &PlaceError{Line: p.lineAt(int64(len(p.data))), Text: "not valid JSON: the file ends too early"}
	default:
		return err
	}
}

func (p *documentParser) parse(path string, depth int) (*Node, error) {
	if depth > maxDepth {
		return nil, p.problem("nested deeper than %d levels", maxDepth)
	}
	token, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	n := &Node{Path: path, Line: p.line()}
	start := p.dec.InputOffset() - 1
	switch token {
	case json.Delim('{'):
		n.Kind, err = Object, p.members(n, depth)
	case json.Delim('['):
		n.Kind, err = Array, p.items(n, depth)
	default:
		n.Value = token
		n.Raw, err = json.Marshal(token)
		return n, err
	}
	if err == nil {
		n.Raw = p.data[start:p.dec.InputOffset()]
	}
	return n, err
}

func (p *documentParser) members(n *Node, depth int) error {
	for p.dec.More() {
		token, err := p.dec.Token()
		if err != nil {
			return err
		}
		key, line := token.(string), p.line() // object keys are strings, or Token fails
		for _, m := range n.Members {
			if m.Key == key {
				return p.problem("%s is given twice", Join(n.Path, key))
			}
		}
		value, err := p.parse(Join(n.Path, key), depth+1)
		if err != nil {
			return err
		}
		n.Members = append(n.Members, Member{Key: key, Line: line, Value: value})
	}
	_, err := p.dec.Token()
	return err
}

func (p *documentParser) items(n *Node, depth int) error {
	for p.dec.More() {
		value, err := p.parse(fmt.Sprintf("%s[%d]", n.Path, len(n.Items)), depth+1)
		if err != nil {
			return err
		}
		n.Items = append(n.Items, value)
	}
	_, err := p.dec.Token()
	return err
}

// Join makes the path of a member.
func Join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// KindName says what a value is, as a reader of JSON would.
func (n *Node) KindName() string {
	switch n.Kind {
	case Object:
		return "an object"
	case Array:
		return "a list"
	}
	switch n.Value.(type) {
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "true or false"
	}
	return "null"
}

// At finds the node that a list of keys and indexes leads to, or the nearest
// one above it.
func (n *Node) At(location []string) *Node {
	for _, step := range location {
		next := n.step(step)
		if next == nil {
			break
		}
		n = next
	}
	return n
}

func (n *Node) step(step string) *Node {
	if i, err := strconv.Atoi(step); err == nil && n.Kind == Array && i < len(n.Items) {
		return n.Items[i]
	}
	return n.Member(step)
}

// Member returns the value of a key, or nil.
func (n *Node) Member(key string) *Node {
	if n == nil {
		return nil
	}
	for _, m := range n.Members {
		if m.Key == key {
			return m.Value
		}
	}
	return nil
}
