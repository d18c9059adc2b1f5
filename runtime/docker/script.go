package docker

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"airlock/pii"
	"airlock/runtime/docker/internal/typescript"
	"airlock/runtime/docker/internal/wire"
	"airlock/runtime/sandbox"
)

// script is a script as it goes to the container.
type script struct {
	language sandbox.Language
	code     string
	name     string
	stripped *typescript.Script // nil if it goes as it came
}

// prepareCode makes JavaScript of TypeScript; a mistake in it is the outcome.
func (b *Backend) prepareCode(x sandbox.Execution) (script, *sandbox.Result) {
	s := script{language: x.Language, code: x.Code, name: scriptName(x.Name)}
	if x.Language != sandbox.TypeScript {
		return s, nil
	}
	stripped, err := b.typescript.Strip(x.Code)
	var mistake *typescript.Error
	if errors.As(err, &mistake) {
		return s, &sandbox.Result{Reason: sandbox.ReasonError, Error: &sandbox.ScriptError{
			Name: "SyntaxError", Message: pii.NewRaw(clean(mistake.Message, 64<<10)), Line: mistake.Line, Column: mistake.Column,
		}}
	}
	s.language, s.code, s.stripped = sandbox.JavaScript, stripped.Code, &stripped
	return s, nil
}

// located is an error of the script with positions as its author knows them.
func (s script) located(e *wire.Error) *sandbox.ScriptError {
	if s.stripped == nil {
		return scriptError(e)
	}
	moved := *e
	if e.Line > 0 {
		moved.Line, moved.Column = s.stripped.Position(e.Line, e.Column)
	}
	moved.Stack = s.moveStack(e.Stack)
	return scriptError(&moved)
}

var position = regexp.MustCompile(`([A-Za-z0-9._/-]+):(\d{1,9}):(\d{1,9})`)

// moveStack brings the positions in a stack trace that are the script's to where
// they came from.
func (s script) moveStack(stack string) string {
	return position.ReplaceAllStringFunc(stack, func(at string) string {
		parts := strings.Split(at, ":")
		if parts[0] != s.name {
			return at
		}
		line, _ := strconv.Atoi(parts[1])
		column, _ := strconv.Atoi(parts[2])
		line, column = s.stripped.Position(line, column)
		return s.name + ":" + strconv.Itoa(line) + ":" + strconv.Itoa(column)
	})
}
