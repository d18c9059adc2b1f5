package skills

import (
	"slices"
	"strings"
)

// pythonLayout reads Python as far as its layout goes: strings, brackets and
// indentation. That finds what scripts that write code get wrong most often, a text
// cut off or quoted badly; a parser of the whole language is in the sandbox alone.
type pythonLayout struct {
	file    string
	code    string
	at      int
	line    int
	open    []opened
	indents []int
	// opens says that the last statement ended in ":".
	opens bool
	// begun says that a statement has begun on this line or an earlier one.
	begun bool
}

type opened struct {
	bracket byte
	line    int
}

var closers = map[byte]byte{')': '(', ']': '[', '}': '{'}

// checkPython refuses a file whose layout no interpreter would take.
func checkPython(file, code string) error {
	if len(code) > maxCodeBytes {
		return fault(file, 0, "holds more than 64 KiB of code; split it into files")
	}
	p := &pythonLayout{file: file, code: strings.ReplaceAll(code, "\r\n", "\n"), line: 1, indents: []int{0}}
	for p.at < len(p.code) {
		if err := p.step(); err != nil {
			return err
		}
	}
	switch {
	case len(p.open) > 0:
		last := p.open[len(p.open)-1]
		return p.fault(last.line, "a bracket is never closed")
	case p.opens:
		return p.fault(p.line, "a line that ends in \":\" needs an indented block after it")
	}
	return nil
}

func (p *pythonLayout) fault(line int, problem string) error {
	return fault(p.file, line, "does not parse: "+problem)
}

// step reads one line's beginning, string, comment or character.
func (p *pythonLayout) step() error {
	if !p.begun && len(p.open) == 0 {
		if done, err := p.beginLine(); done || err != nil {
			return err
		}
	}
	c := p.code[p.at]
	switch {
	case c == '\n':
		p.line++
		p.begun = len(p.open) > 0
		p.at++
	case c == '\\' && p.at+1 < len(p.code) && p.code[p.at+1] == '\n':
		p.line++
		p.at += 2
	case c == '#':
		p.skipComment()
	case c == '"' || c == '\'':
		p.opens = false
		return p.skipString(c)
	case strings.IndexByte("([{", c) >= 0:
		if p.open = append(p.open, opened{c, p.line}); len(p.open) > maxNesting {
			return p.fault(p.line, "it is nested more than 200 levels deep")
		}
		p.opens = false
		p.at++
	case closers[c] != 0:
		n := len(p.open)
		if n == 0 || p.open[n-1].bracket != closers[c] {
			return p.fault(p.line, "a bracket is closed that was not opened")
		}
		p.open, p.opens = p.open[:n-1], false
		p.at++
	default:
		if c != ' ' && c != '\t' {
			p.opens = c == ':' && len(p.open) == 0
		}
		p.at++
	}
	return nil
}

// beginLine compares the indentation with the lines before. Blank lines and
// comments have none.
func (p *pythonLayout) beginLine() (done bool, err error) {
	width := 0
	for ; p.at < len(p.code) && (p.code[p.at] == ' ' || p.code[p.at] == '\t' || p.code[p.at] == '\f'); p.at++ {
		if p.code[p.at] == '\t' {
			width = width/8*8 + 8 // as the language's reference counts tabs
		} else {
			width++
		}
	}
	if p.at == len(p.code) || p.code[p.at] == '\n' || p.code[p.at] == '#' {
		if p.at < len(p.code) && p.code[p.at] == '#' {
			p.skipComment()
		}
		if p.at < len(p.code) {
			p.at++
			p.line++
		}
		return true, nil
	}
	deepest := p.indents[len(p.indents)-1]
	switch {
	case p.opens && width <= deepest:
		return false, p.fault(p.line, "an indented block is missing after \":\"")
	case p.opens:
		p.indents = append(p.indents, width)
	case width > deepest:
		return false, p.fault(p.line, "the line is indented for no reason")
	case width < deepest:
		at, known := slices.BinarySearch(p.indents, width)
		if !known {
			return false, p.fault(p.line, "the indentation fits no line before")
		}
		p.indents = p.indents[:at+1]
	}
	p.opens, p.begun = false, true
	return false, nil
}

func (p *pythonLayout) skipComment() {
	for p.at < len(p.code) && p.code[p.at] != '\n' {
		p.at++
	}
}

// skipString reads to the string's end. A raw string's backslash keeps the quote
// after it too.
func (p *pythonLayout) skipString(quote byte) error {
	begun, end := p.line, string(quote)
	if triple := strings.Repeat(end, 3); strings.HasPrefix(p.code[p.at:], triple) {
		end = triple
	}
	p.at += len(end)
	for p.at < len(p.code) {
		switch {
		case p.code[p.at] == '\\' && p.at+1 < len(p.code):
			if p.code[p.at+1] == '\n' {
				p.line++
			}
			p.at += 2
		case strings.HasPrefix(p.code[p.at:], end):
			p.at += len(end)
			return nil
		case p.code[p.at] == '\n' && len(end) == 1:
			return p.fault(begun, "a string has no end on its line")
		default:
			if p.code[p.at] == '\n' {
				p.line++
			}
			p.at++
		}
	}
	return p.fault(begun, "a string has no end")
}
