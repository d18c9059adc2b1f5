package servers

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"airlock/servers/internal/nearest"
)

// reader turns nodes into Go values and collects what is wrong with them, so
// that one run shows every mistake of a catalog.
type reader struct {
	file     string
	problems []error
	warnings []string
}

// maxProblems keeps the report of a wholly wrong file readable.
const maxProblems = 20

func (r *reader) problem(line int, path, format string, args ...any) {
	if len(r.problems) >= maxProblems {
		return
	}
	r.problems = append(r.problems, errors.New(r.place(line, path)+fmt.Sprintf(format, args...)))
}

func (r *reader) wrong(n *node, format string, args ...any) {
	r.problem(n.line, n.path, format, args...)
}

func (r *reader) warn(n *node, format string, args ...any) {
	r.warnings = append(r.warnings, r.place(n.line, n.path)+fmt.Sprintf(format, args...))
}

func (r *reader) place(line int, path string) string {
	place := fmt.Sprintf("%s:%d: ", r.file, line)
	if path != "" {
		place += path + ": "
	}
	return place
}

// fields says what an object may hold and what to do with each.
type fields map[string]func(*node)

// object hands each member to its field and reports those that have none.
func (r *reader) object(n *node, known fields) {
	if n.kind != object {
		r.wrong(n, "must be an object, not %s", n.kindName())
		return
	}
	for _, m := range n.members {
		if read, ok := known[m.key]; ok {
			read(m.value)
			continue
		}
		r.problem(m.line, m.value.path, "unknown field; %s", suggest(m.key, known))
	}
}

func suggest(key string, known fields) string {
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

// each hands every member of an object of free keys to read.
func (r *reader) each(n *node, read func(key string, value *node)) {
	if n.kind != object {
		r.wrong(n, "must be an object, not %s", n.kindName())
		return
	}
	for _, m := range n.members {
		read(m.key, m.value)
	}
}

func (r *reader) text(dst *string) func(*node) {
	return func(n *node) {
		s, ok := n.value.(string)
		if !ok || n.kind != scalar {
			r.wrong(n, "must be a string, not %s", n.kindName())
			return
		}
		*dst = s
	}
}

func (r *reader) texts(dst *[]string) func(*node) {
	return func(n *node) {
		if n.kind != array {
			r.wrong(n, "must be a list of strings, not %s", n.kindName())
			return
		}
		list := make([]string, len(n.items))
		for i, item := range n.items {
			r.text(&list[i])(item)
		}
		*dst = list
	}
}

func (r *reader) flag(dst *bool) func(*node) {
	return func(n *node) {
		b, ok := n.value.(bool)
		if !ok {
			r.wrong(n, "must be true or false, not %s", n.kindName())
			return
		}
		*dst = b
	}
}

// number reads a whole number within bounds: zero never means unlimited.
func (r *reader) number(dst *int, low, high int) func(*node) {
	return func(n *node) {
		literal, ok := n.value.(json.Number)
		if !ok {
			r.wrong(n, "must be a number, not %s", n.kindName())
			return
		}
		i, err := literal.Int64()
		if err != nil || i < int64(low) || i > int64(high) {
			r.wrong(n, "%s is not a whole number from %d to %d", literal, low, high)
			return
		}
		*dst = int(i)
	}
}

// oneOf reads a string that must be one of a few.
func oneOf[T ~string](r *reader, dst *T, allowed ...T) func(*node) {
	return func(n *node) {
		var s string
		if r.text(&s)(n); s == "" {
			if n.value == "" {
				r.wrong(n, "is empty; allowed: %s", list(allowed))
			}
			return
		}
		if !slices.Contains(allowed, T(s)) {
			r.wrong(n, "%q is not known; allowed: %s", s, list(allowed))
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
