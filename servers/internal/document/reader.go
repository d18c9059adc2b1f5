package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"airlock/servers/internal/nearest"
)

// Reader turns nodes into Go values and collects what is wrong with them, so
// that one run shows every mistake of a document.
type Reader struct {
	File     string
	Problems []error
	Warnings []string
	// Lenient makes unknown fields warnings: formats of others grow.
	Lenient bool
}

// maxProblems keeps the report of a wholly wrong file readable.
const maxProblems = 20

// Problem notes a mistake at a line and path. The first twenty are kept.
func (r *Reader) Problem(line int, path, format string, args ...any) {
	if len(r.Problems) >= maxProblems {
		return
	}
	r.Problems = append(r.Problems, errors.New(r.place(line, path)+fmt.Sprintf(format, args...)))
}

// Wrong notes a mistake at a node.
func (r *Reader) Wrong(n *Node, format string, args ...any) {
	r.Problem(n.Line, n.Path, format, args...)
}

// Warn notes what is allowed but unwise at a node.
func (r *Reader) Warn(n *Node, format string, args ...any) {
	r.warnAt(n.Line, n.Path, format, args...)
}

func (r *Reader) warnAt(line int, path, format string, args ...any) {
	r.Warnings = append(r.Warnings, r.place(line, path)+fmt.Sprintf(format, args...))
}

func (r *Reader) place(line int, path string) string {
	place := fmt.Sprintf("%s:%d: ", r.File, line)
	if path != "" {
		place += path + ": "
	}
	return place
}

// Fields says what an object may hold and what to do with each.
type Fields map[string]func(*Node)

// Object hands each member to its field and reports those that have none.
func (r *Reader) Object(n *Node, known Fields) {
	if n.Kind != Object {
		r.Wrong(n, "must be an object, not %s", n.KindName())
		return
	}
	for _, m := range n.Members {
		if read, ok := known[m.Key]; ok {
			read(m.Value)
			continue
		}
		if r.Lenient {
			r.warnAt(m.Line, m.Value.Path, "unknown field, left out; %s", suggest(m.Key, known))
			continue
		}
		r.Problem(m.Line, m.Value.Path, "unknown field; %s", suggest(m.Key, known))
	}
}

func suggest(key string, known Fields) string {
	names := make([]string, 0, len(known))
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	if name := nearest.Name(key, names); name != "" {
		return fmt.Sprintf("did you mean %q?", name)
	}
	return "allowed here: " + strings.Join(names, ", ")
}

// Each hands every member of an object of free keys to read.
func (r *Reader) Each(n *Node, read func(key string, value *Node)) {
	if n.Kind != Object {
		r.Wrong(n, "must be an object, not %s", n.KindName())
		return
	}
	for _, m := range n.Members {
		read(m.Key, m.Value)
	}
}

// Text reads a string.
func (r *Reader) Text(dst *string) func(*Node) {
	return func(n *Node) {
		s, ok := n.Value.(string)
		if !ok || n.Kind != Scalar {
			r.Wrong(n, "must be a string, not %s", n.KindName())
			return
		}
		*dst = s
	}
}

// Texts reads a list of strings.
func (r *Reader) Texts(dst *[]string) func(*Node) {
	return func(n *Node) {
		if n.Kind != Array {
			r.Wrong(n, "must be a list of strings, not %s", n.KindName())
			return
		}
		list := make([]string, len(n.Items))
		for i, item := range n.Items {
			r.Text(&list[i])(item)
		}
		*dst = list
	}
}

// Flag reads true or false.
func (r *Reader) Flag(dst *bool) func(*Node) {
	return func(n *Node) {
		b, ok := n.Value.(bool)
		if !ok {
			r.Wrong(n, "must be true or false, not %s", n.KindName())
			return
		}
		*dst = b
	}
}

// Number reads a whole number within bounds: zero never means unlimited.
func (r *Reader) Number(dst *int, low, high int) func(*Node) {
	return func(n *Node) {
		literal, ok := n.Value.(json.Number)
		if !ok {
			r.Wrong(n, "must be a number, not %s", n.KindName())
			return
		}
		i, err := literal.Int64()
		if err != nil || i < int64(low) || i > int64(high) {
			r.Wrong(n, "%s is not a whole number from %d to %d", literal, low, high)
			return
		}
		*dst = int(i)
	}
}

// OneOf reads a string that must be one of a few.
func OneOf[T ~string](r *Reader, dst *T, allowed ...T) func(*Node) {
	return func(n *Node) {
		var s string
		if r.Text(&s)(n); s == "" {
			if n.Value == "" {
				r.Wrong(n, "is empty; allowed: %s", list(allowed))
			}
			return
		}
		if !slices.Contains(allowed, T(s)) {
			r.Wrong(n, "%q is not known; allowed: %s", s, list(allowed))
			return
		}
		*dst = T(s)
	}
}

func list[T ~string](values []T) string {
	names := make([]string, len(values))
	for i, v := range values {
		names[i] = string(v)
	}
	return strings.Join(names, ", ")
}
