package script

import (
	"regexp"
	"strconv"
	"strings"
)

// Position is a place in a script as its author wrote it, both counted from 1.
type Position struct{ Line, Column int }

// frame is a stack frame of the engine: "    at name (file:line:column)".
var frame = regexp.MustCompile(`^\s*at (?:(.*?) \()?(.*?):(\d+)(?::(\d+))?\)?$`)

// Locate rewrites the engine's stack trace, so that positions in the script are
// the author's and the wrapper does not show, and returns the first of them. The
// frames of the error's own constructor, class, do not count: where it was made is
// what matters.
func (s Source) Locate(stack, class string) (first Position, clean string) {
	var out []string
	constructed := Position{}
	for line := range strings.Lines(stack) {
		line = strings.TrimRight(line, "\r\n")
		m := frame.FindStringSubmatch(line)
		if m == nil || m[2] != s.File {
			if line != "" {
				out = append(out, line)
			}
			continue
		}
		if m[1] == "<eval>" {
			if first == (Position{}) { // nothing but the wrapper: a syntax error
				first = s.position(m[3], m[4])
			}
			continue
		}
		p := s.position(m[3], m[4])
		switch {
		case first != (Position{}):
		case m[1] == class && constructed == (Position{}):
			constructed = p
		default:
			first = p
		}
		out = append(out, s.frame(m[1], p))
	}
	if first == (Position{}) {
		first = constructed
	}
	return first, strings.Join(out, "\n")
}

func (s Source) frame(name string, p Position) string {
	at := s.File + ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
	if name == "" {
		return "    at " + at
	}
	return "    at " + name + " (" + at + ")"
}

// position brings a position in Code back to the author's script.
func (s Source) position(line, column string) Position {
	l, _ := strconv.Atoi(line)
	c, _ := strconv.Atoi(column)
	p := Position{l, max(c, 1)}
	if s.moved != nil {
		p = s.moved.original(p)
	}
	if p.Line == 1 {
		p.Column = max(p.Column-len(prefix), 1)
	}
	if p.Line > s.lines {
		p = Position{s.lines, 1}
	}
	return p
}
