// Package script makes people's scripts fit for the engine and brings error
// positions back to where the person wrote them.
//
// A script may use await and return at its top, and static imports; the engine
// knows these only inside an async function, or only in modules. So the script
// becomes the body of an async function that begins on its first line, and its
// imports become awaited ones. Lines stay where they are, except in TypeScript,
// which esbuild prints anew and for which positions go through its source map.
//
// The wrapping is convenience, not protection: a script can break out of it, and
// finds itself in the same sandbox.
package script

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

const (
	prefix = "(async()=>{"
	suffix = "\n})()"
)

// Source is a script ready for the engine.
type Source struct {
	// Code is what to evaluate; its value is a promise of the script's result.
	Code string
	// File is the name that the engine's stack traces use for it.
	File  string
	lines int
	moved *sourceMap // nil where lines stayed
}

// SyntaxError is what keeps a script from being read.
type SyntaxError struct {
	Message      string
	Line, Column int
}

// Error returns the message and where it belongs.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message)
}

// JavaScript wraps a script.
func JavaScript(code, file string) Source {
	return Source{Code: prefix + awaitImports(code) + suffix, File: file, lines: countLines(code)}
}

// TypeScript wraps a script and takes its types out.
func TypeScript(code, file string) (Source, error) {
	s := JavaScript(code, file)
	out, moved, err := stripTypes(s.Code, file)
	if err != nil {
		return Source{}, s.unwrapped(err)
	}
	s.Code, s.moved = out, moved
	return s, nil
}

// unwrapped brings a mistake that was found in the wrapped script back to it.
func (s Source) unwrapped(err error) error {
	var e *SyntaxError
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Line > s.lines: // the wrapper's end, which the author does not know
		return &SyntaxError{"Unexpected end of the script", s.lines, 1}
	case e.Line == 1:
		return &SyntaxError{e.Message, 1, max(e.Column-len(prefix), 1)}
	default:
		return e
	}
}

// StripTypes makes JavaScript of a TypeScript module.
func StripTypes(code, file string) (string, error) {
	out, _, err := stripTypes(code, file)
	return out, err
}

func stripTypes(code, file string) (string, *sourceMap, error) {
	result := api.Transform(code, api.TransformOptions{
		Loader: api.LoaderTS, Target: api.ESNext, Sourcefile: file,
		Sourcemap: api.SourceMapExternal, SourcesContent: api.SourcesContentExclude,
		TsconfigRaw: `{"compilerOptions":{"target":"ESNext","useDefineForClassFields":true}}`,
		LogLevel:    api.LogLevelSilent,
	})
	if len(result.Errors) > 0 {
		return "", nil, syntaxError(result.Errors[0])
	}
	moved, err := parseSourceMap(result.Map)
	return string(result.Code), moved, err
}

func syntaxError(m api.Message) error {
	e := &SyntaxError{Message: m.Text}
	if m.Location != nil {
		e.Line, e.Column = m.Location.Line, m.Location.Column+1
	}
	return e
}

func countLines(code string) int { return strings.Count(code, "\n") + 1 }
