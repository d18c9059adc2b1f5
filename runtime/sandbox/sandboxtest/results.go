package sandboxtest

import (
	"testing"

	"airlock/runtime/sandbox"
)

func (s *suite) testResults(t *testing.T) {
	box := s.open(t)
	for name, tc := range map[string]struct{ code, want string }{
		"nothing":             {`1 + 1`, ``},
		"undefined":           {`return undefined`, ``},
		"null":                {`return null`, `null`},
		"a number":            {`return 6 * 7`, `42`},
		"a fraction":          {`return 0.1 + 0.2`, `0.30000000000000004`},
		"not a number":        {`return [NaN, Infinity]`, `[null,null]`},
		"a big integer":       {`return 12345678901234567890n`, `"12345678901234567890"`},
		"a string":            {`return "grüße 🎉 \u2028\n"`, `"grüße 🎉 ` + "\u2028" + `\n"`},
		"an empty string":     {`return ""`, `""`},
		"false":               {`return false`, `false`},
		"an array":            {`return [1, "a", null, [2]]`, `[1,"a",null,[2]]`},
		"an object":           {`return {a: 1, b: {c: [true]}}`, `{"a":1,"b":{"c":[true]}}`},
		"a date":              {`return new Date(0)`, `"1970-01-01T00:00:00.000Z"`},
		"an awaited value":    {`return await Promise.resolve(5)`, `5`},
		"a returned promise":  {`return Promise.resolve(5)`, `5`},
		"after a timer":       {`await new Promise((go) => setTimeout(go, 1)); return "late"`, `"late"`},
		"after many promises": {`let n = 0; for (let i = 0; i < 1000; i++) n += await i; return n`, `499500`},
		"over several lines":  {"const a = 1\nconst b = 2\n\nreturn a +\n  b // three", `3`},
		"after a comment":     {"// hello\nreturn 1 /* one */", `1`},
	} {
		t.Run(name, func(t *testing.T) {
			o := run(t, box, script(tc.code))
			o.want(t, sandbox.ReasonOK)
			if o.value != tc.want {
				t.Errorf("value is %q, want %q", o.value, tc.want)
			}
			if o.Error != nil {
				t.Errorf("there is an error: %s", o.describe())
			}
		})
	}
}

func (s *suite) testNoJSON(t *testing.T) {
	box := s.open(t)
	for name, code := range map[string]string{
		"a function":               `return () => 1`,
		"a symbol":                 `return Symbol("s")`,
		"a cycle":                  `const a = {}; a.self = a; return a`,
		"a throwing getter":        `return { get a() { throw new Error("no") } }`,
		"a throwing toJSON":        `return { toJSON() { throw new Error("no") } }`,
		"nested far too deeply":    `let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a`,
		"a proxy that throws":      `return new Proxy({}, { ownKeys() { throw new Error("no") } })`,
		"larger than its limit":    `return "x".repeat(200000)`,
		"a rejection with nothing": `return Promise.reject()`,
	} {
		t.Run(name, func(t *testing.T) {
			x := script(code)
			x.Limits.ResultBytes = 100_000
			o := run(t, box, x)
			o.want(t, sandbox.ReasonError)
			if o.value != "" {
				t.Errorf("there is a value of %d bytes", len(o.value))
			}
		})
	}
}
