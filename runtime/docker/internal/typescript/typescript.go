// Package typescript takes the types out of a script, so that Node can run it, and
// brings positions in the result back to where the author wrote them.
//
// A script may use await, return and imports at its top, which TypeScript's
// grammar knows apart only: return within a function, imports outside of one. So
// the imports at a script's beginning are taken off, the rest is read as the body
// of an async function, and both are put together again. An import after another
// statement is therefore a mistake in TypeScript, though not in JavaScript.
package typescript

import (
	"fmt"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// Bounds of what is parsed. The parser is recursive, and a stack overflow ends our
// whole process: 256 KiB of "(" do so with esbuild 0.28.2.
const (
	maxBytes   = 64 << 10
	maxNesting = 200
)

// Script is JavaScript made of a script.
type Script struct {
	Code  string
	lines int
	moved sourceMap
}

// Error is what keeps a script from being read. The position counts from 1.
type Error struct {
	Message      string
	Line, Column int
}

// Error returns the message and where it belongs.
func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message) }

// Stripper strips one script at a time, which bounds the memory of all together.
// The zero value is ready.
type Stripper struct{ mu sync.Mutex }

const (
	prefix = "async function script() {\n"
	suffix = "\n}"
)

// Strip makes JavaScript of a script; its error is an *Error.
func (s *Stripper) Strip(code string) (Script, error) {
	if len(code) > maxBytes {
		return Script{}, &Error{Message: "the script holds more than 64 KiB of TypeScript; write it in JavaScript, or put data into a file", Line: 1, Column: 1}
	}
	if line := tooDeep(code); line > 0 {
		return Script{}, &Error{Message: "the script is nested more than 200 levels deep; write it flatter", Line: line, Column: 1}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := strings.Count(code, "\n") + 1
	head := code[:importsEnd(code)]
	imports, _, err := transform(head, lines, 0)
	if err != nil {
		return Script{}, err
	}
	blank := strings.Repeat("\n", strings.Count(head, "\n"))
	column := len(head) - 1 - strings.LastIndex(head, "\n")
	body, m, err := transform(prefix+blank+strings.Repeat(" ", column)+code[len(head):]+suffix, lines, 1)
	if err != nil {
		return Script{}, err
	}
	_, body, _ = strings.Cut(body, "\n") // the line of the prefix
	body = body[:max(strings.LastIndexByte(body, '}'), 0)]
	moved, err := parseSourceMap(m)
	if err != nil {
		return Script{}, &Error{Message: "the script's positions cannot be followed", Line: 1, Column: 1}
	}
	return Script{Code: strings.ReplaceAll(strings.TrimSpace(imports), "\n", " ") + "\n" + body, lines: lines, moved: moved}, nil
}

// transform runs esbuild over code that has shift lines before the script.
func transform(code string, lines, shift int) (out string, sourceMap []byte, err error) {
	result := api.Transform(code, api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ESNext, Charset: api.CharsetUTF8, LogLevel: api.LogLevelSilent,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
		TsconfigRaw: `{"compilerOptions":{"target":"ESNext","useDefineForClassFields":true,"verbatimModuleSyntax":true}}`,
	})
	if len(result.Errors) == 0 {
		return string(result.Code), result.Map, nil
	}
	first := result.Errors[0]
	e := &Error{Message: first.Text, Line: 1, Column: 1}
	if first.Location != nil {
		e.Line, e.Column = first.Location.Line-shift, first.Location.Column+1
	}
	if e.Line > lines { // the suffix, which the author does not know
		e = &Error{Message: "Unexpected end of the script", Line: lines, Column: 1}
	}
	e.Line = max(e.Line, 1)
	return "", nil, e
}

// Position brings a position in Code back to the script.
func (s Script) Position(line, column int) (int, int) {
	line, column = s.moved.original(line, column)
	line-- // the prefix
	return min(max(line, 1), s.lines), max(column, 1)
}

// tooDeep returns the line at which brackets or runs of prefix operators are nested
// too deeply, 0 if nowhere. It does not know strings and comments, which code that
// people and models write does not make matter.
func tooDeep(code string) int {
	depth, run, line := 0, 0, 1
	for _, c := range []byte(code) {
		switch c {
		case '(', '[', '{', '<':
			depth, run = depth+1, 0
		case ')', ']', '}', '>':
			depth, run = max(depth-1, 0), 0
		case '!', '~':
			run++
		case '\n':
			line++
		case ' ', '\t', '\r', '+', '-':
		default:
			run = 0
		}
		if depth > maxNesting || run > maxNesting {
			return line
		}
	}
	return 0
}
