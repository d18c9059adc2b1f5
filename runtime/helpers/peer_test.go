package helpers

import (
	"os"
	"strings"
	"testing"
)

// Where a shim stands for something that Node has, Node says what is right: each
// line of a table is an expression that must give the same text there and here.
func TestShimsAgreeWithNode(t *testing.T) {
	t.Parallel()
	var scripts []script
	for _, name := range []string{"url", "clone", "encoding", "buffer", "numbers", "dates", "collation", "console", "abort", "path"} {
		scripts = append(scripts, expressions(t, "testdata/peer/"+name+".txt")...)
	}
	want := runAll(t, "peer", scripts)
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			for i, got := range runAll(t, engine, scripts) {
				if g, w := describe(got), describe(want[i]); g != w {
					code := scripts[i].Script
					t.Errorf("%s\n got %s\nwant %s", code[strings.LastIndex(code, ";\n")+1:], g, w)
				}
			}
		})
	}
}

// expressions reads a table; lines that start with "#" are comments, and one
// that starts with "define " goes before every expression.
func expressions(t *testing.T, file string) []script {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []script
	define := ""
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch rest, isDefine := strings.CutPrefix(line, "define "); {
		case line == "" || strings.HasPrefix(line, "#"):
		case isDefine:
			define += rest + ";\n"
		case strings.HasPrefix(line, "console."):
			found = append(found, js(define+line))
		default:
			found = append(found, js(define+"return "+line))
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s holds no expression", file)
	}
	return found
}

// describe is what two runs are compared by. Messages of errors may differ.
func describe(o outcome) string {
	if o.Error != nil {
		return "throws " + o.Error.Name
	}
	return o.Result + o.Stdout + o.Stderr
}
