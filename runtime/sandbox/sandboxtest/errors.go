package sandboxtest

import (
	"strings"
	"testing"

	"airlock/runtime/sandbox"
)

func (s *suite) testErrors(t *testing.T) {
	box := s.open(t)
	for name, tc := range map[string]struct {
		code, class, message string
		line                 int
	}{
		"on the first line":     {`throw new TypeError("bad")`, "TypeError", "bad", 1},
		"on a later line":       {"const a = 1;\n\nnull.b;", "TypeError", "", 3},
		"on the last line":      {"const a = 1;\nthrow new RangeError('end')", "RangeError", "end", 2},
		"in a function":         {"function f() {\n  throw new Error('inner');\n}\nf();", "Error", "inner", 2},
		"after an await":        {"await null;\nthrow new Error('later');", "Error", "later", 2},
		"in a callback":         {"[1].forEach(() => {\n\n  undefined.x;\n});", "TypeError", "", 3},
		"a class of its own":    {"class Mine extends Error { name = 'Mine' }\nthrow new Mine('own');", "Mine", "own", 2},
		"an unknown name":       {"\nnowhere();", "ReferenceError", "nowhere", 2},
		"a syntax error":        {"const a = 1;\nconst b = ;\n", "SyntaxError", "", 2},
		"an unfinished script":  {"if (true) {\n  f(", "SyntaxError", "", 2},
		"a thrown string":       {`throw "just text"`, "", "just text", 0},
		"a thrown null":         {`throw null`, "", "null", 0},
		"a thrown object":       {`throw { code: 7 }`, "", "7", 0},
		"a rejected promise":    {`await Promise.reject(new Error("rejected"))`, "Error", "rejected", 1},
		"a waiting for nothing": {`await new Promise(() => {})`, "", "", 0},
		"a hostile error":       {`throw { get name() { throw 1 }, get message() { throw 2 }, get stack() { throw 3 } }`, "", "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			o := run(t, box, script(tc.code))
			o.want(t, sandbox.ReasonError)
			if o.Error == nil {
				return
			}
			if tc.class != "" && o.Error.Name != tc.class {
				t.Errorf("class is %q, want %q", o.Error.Name, tc.class)
			}
			if !strings.Contains(o.message, tc.message) {
				t.Errorf("message is %q, want %q in it", o.message, tc.message)
			}
			if tc.line != 0 && o.Error.Line != tc.line {
				t.Errorf("line is %d, want %d; stack:\n%s", o.Error.Line, tc.line, o.stack)
			}
		})
	}
}
