package skills

import (
	"encoding/json"
	"path"
	"regexp"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// Bounds of what is handed to the parser, which is recursive: 256 KiB of "(" end
// our process by a stack overflow that nothing can catch, and of "!" take 1 GB
// (measured with esbuild 0.28.2). With these the worst found takes 130 MB.
const (
	maxCodeBytes = 64 << 10
	maxNesting   = 200
)

// parsers lets one parse run at a time, to bound their memory together.
type parsers struct{ mu sync.Mutex }

// loaders are the files that must parse.
var loaders = map[string]api.Loader{
	".js": api.LoaderJS, ".mjs": api.LoaderJS, ".cjs": api.LoaderJS, ".ts": api.LoaderTS,
}

// check refuses a bundle with a file that does not parse. Of Python the layout is
// looked at: brackets, strings and indentation.
func (p *parsers) check(b bundle) error {
	for _, name := range b.names() {
		data := b.files[name]
		loader, code := loaders[path.Ext(name)]
		switch {
		case code:
			if err := p.checkCode(name, string(data), loader); err != nil {
				return err
			}
		case path.Ext(name) == ".py":
			if err := checkPython(name, string(data)); err != nil {
				return err
			}
		case path.Ext(name) == ".json" && !json.Valid(data):
			return fault(name, 0, "is not valid JSON")
		}
	}
	return nil
}

func (p *parsers) checkCode(name, code string, loader api.Loader) error {
	if len(code) > maxCodeBytes {
		return fault(name, 0, "holds more than 64 KiB of code; split it into files")
	}
	if tooDeep(code) {
		return fault(name, 0, "is nested more than 200 levels deep; write it flatter")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	result := api.Transform(code, api.TransformOptions{
		Loader: loader, Target: api.ESNext, LogLevel: api.LogLevelSilent,
	})
	if len(result.Errors) == 0 {
		return nil
	}
	first := result.Errors[0]
	line := 0
	if first.Location != nil {
		line = first.Location.Line
	}
	return fault(name, line, "does not parse: "+quoted.ReplaceAllString(first.Text, "…"))
}

// quoted is what the parser quotes of the code, which must not be told.
var quoted = regexp.MustCompile(`"[^"]*"?`)

// tooDeep reports nesting that could exhaust the parser's stack. It counts brackets
// without knowing strings and comments, and runs of prefix operators, which is
// enough for code that people and models write.
func tooDeep(code string) bool {
	depth, run := 0, 0
	for i := 0; i < len(code); i++ {
		switch code[i] {
		case '(', '[', '{':
			depth++
			run = 0
		case ')', ']', '}':
			depth = max(depth-1, 0)
			run = 0
		case '!', '~':
			run++
		case ' ', '\t', '\n', '\r', '+', '-':
		default:
			run = 0
		}
		if depth > maxNesting || run > maxNesting {
			return true
		}
	}
	return false
}
