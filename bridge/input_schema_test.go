package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func describeAll(broken []violation) string {
	return describeViolations(broken, func(string) bool { return true })
}

func TestInputSchema(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ schema, arguments, want string }{
		"fits":                       {`{"properties":{"a":{"type":"string"}}}`, `{"a":"x"}`, ""},
		"no schema takes any object": {``, `{"a":1}`, ""},
		"a boolean one":              {`false`, `{}`, "/: schema"},
		"nested path":                {`{"properties":{"a":{"items":{"properties":{"b":{"type":"integer"}}}}}}`, `{"a":[{},{"b":"x"}]}`, "/a/1/b: type (want integer)"},
		"an enumeration": {`{"properties":{"a":{"enum":["x","y"]}}}`, `{"a":"z"}`,
			`/a: enum (want one of ["x","y"])`},
		"a constant":              {`{"properties":{"a":{"const":1}}}`, `{"a":2}`, `/a: const (want 1)`},
		"alternatives":            {`{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"integer"}]}}}`, `{"a":true}`, "/a: anyOf"},
		"a pattern":               {`{"properties":{"a":{"pattern":"^x"}}}`, `{"a":"y"}`, "/a: pattern (want ^x)"},
		"a pattern that looks":    {`{"properties":{"a":{"pattern":"^(?!bad)\\w+$"}}}`, `{"a":"bad1"}`, `/a: pattern (want ^(?!bad)\w+$)`},
		"lengths":                 {`{"properties":{"a":{"minLength":2},"b":{"maxItems":1}}}`, `{"a":"x","b":[1,2]}`, ""},
		"draft 7 definitions":     {`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"n":{"type":"number"}},"properties":{"a":{"$ref":"#/definitions/n"}}}`, `{"a":"x"}`, "/a: type (want number)"},
		"big integers are exact":  {`{"properties":{"a":{"maximum":9007199254740992}}}`, `{"a":9007199254740993}`, "/a: maximum (want at most 9007199254740992)"},
		"an id of its own":        {`{"$id":"https://example.com/tool.json","$defs":{"n":{"type":"number"}},"properties":{"a":{"$ref":"#/$defs/n"}}}`, `{"a":"x"}`, "/a: type (want number)"},
		"a reference to itself":   {`{"properties":{"kid":{"$ref":"#"}},"additionalProperties":false}`, `{"kid":{"kid":{"x":1}}}`, "/kid/kid: additionalProperties (there are fields that the tool does not know)"},
		"many violations are cut": {`{"additionalProperties":{"type":"string"}}`, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(tc.schema)
			if err != nil {
				t.Fatal(err)
			}
			broken, err := s.check(tc.arguments)
			if err != nil {
				t.Fatal(err)
			}
			got := describeAll(broken)
			switch name {
			case "lengths":
				if !strings.Contains(got, "/a: minLength (want at least 2 characters)") || !strings.Contains(got, "/b: maxItems (want at most 1)") {
					t.Errorf("got %s", got)
				}
			case "many violations are cut":
				if !strings.HasSuffix(got, "and 2 more") {
					t.Errorf("got %s", got)
				}
			default:
				if got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
			}
		})
	}
}

func TestSchemasThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		schema string
		want   error // nil: any
	}{
		"not JSON":              {`{`, errSchemaJSON},
		"not a schema":          {`{"type":7}`, nil},
		"remote":                {`{"$ref":"https://example.com/x.json"}`, errRemote},
		"a file":                {`{"$ref":"file:///etc/passwd"}`, errRemote},
		"relative":              {`{"$ref":"other.json"}`, errRemote},
		"remote by an id":       {`{"$id":"https://example.com/a/","properties":{"x":{"$ref":"b.json"}}}`, errRemote},
		"a remote dialect":      {`{"$schema":"https://example.com/dialect"}`, errRemote},
		"nothing there":         {`{"$ref":"#/$defs/none"}`, nil},
		"dynamic references":    {`{"$dynamicAnchor":"n","properties":{"x":{"$dynamicRef":"#n"}}}`, errDynamic},
		"a pattern in no words": {`{"pattern":"("}`, nil},
		"too large":             {`{"description":"` + strings.Repeat("x", maxSchema) + `"}`, errSchemaSize},
		"nested too deep":       {strings.Repeat(`{"not":`, 5000) + `{}` + strings.Repeat(`}`, 5000), errSchemaJSON},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(tc.schema)
			if err == nil || s != nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}

// The work of a validation stays bounded where the schema multiplies it.
func TestCostlyValidationIsRefused(t *testing.T) {
	t.Parallel()
	nested := strings.Repeat(`{"l":`, 60) + `1` + strings.Repeat(`}`, 60)
	var chain strings.Builder
	for i := range 60 {
		fmt.Fprintf(&chain, `"D%d":{"allOf":[{"$ref":"#/$defs/D%d"},{"$ref":"#/$defs/D%d"}]},`, i, i+1, i+1)
	}
	wide := `{"allOf":[` + strings.TrimSuffix(strings.Repeat(`{"additionalProperties":{"type":"array","items":{"type":"integer"}}},`, 1000), ",") + `]}`
	for name, tc := range map[string]struct{ schema, arguments string }{
		"alternatives that contain the schema": {`{"anyOf":[{"properties":{"l":{"$ref":"#"}},"required":["x"]},{"properties":{"l":{"$ref":"#"}},"required":["y"]}]}`, nested},
		"doubling in place":                    {`{"$ref":"#/$defs/D0","$defs":{` + chain.String() + `"D60":{}}}`, `{}`},
		"negations that contain the schema":    {`{"not":{"properties":{"l":{"$ref":"#"}},"not":{"properties":{"l":{"$ref":"#"}}}}}`, nested},
		"a thousand schemas for each value":    {wide, `{"a":[` + strings.Repeat("1,", 1<<17) + `1]}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := compileSchema(tc.schema)
			if err != nil {
				t.Fatal(err)
			}
			begin := time.Now()
			if _, err := s.check(tc.arguments); !errors.Is(err, errTooCostly) {
				t.Errorf("got %v", err)
			}
			if d := time.Since(begin); d > 10*time.Second {
				t.Errorf("took %v to refuse", d)
			}
		})
	}
}

func TestLargeArgumentsAreChecked(t *testing.T) {
	t.Parallel()
	s, err := compileSchema(`{"properties":{"rows":{"type":"array","items":{"$ref":"#/$defs/row"}}},"$defs":{"row":{"type":"object","properties":{"id":{"type":"integer"},"next":{"$ref":"#/$defs/row"}}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Repeat(`{"id":1,"next":{"id":2}},`, 20_000)
	if broken, err := s.check(`{"rows":[` + rows + `{"id":"x"}]}`); err != nil || describeAll(broken) != "/rows/20000/id: type (want integer)" {
		t.Errorf("got %v, %v", describeAll(broken), err)
	}
}

func TestBacktrackingPatternIsGivenUp(t *testing.T) {
	t.Parallel()
	s, err := compileSchema(`{"additionalProperties":{"type":"string","pattern":"^(?=x)(x+x+)+y$"}}`)
	if err != nil {
		t.Fatal(err)
	}
	var arguments strings.Builder
	for i := range 200 {
		fmt.Fprintf(&arguments, `"k%d":"%s",`, i, strings.Repeat("x", 60))
	}
	begin := time.Now()
	broken, err := s.check(`{` + strings.TrimSuffix(arguments.String(), ",") + `}`)
	if err != nil || len(broken) != 200 {
		t.Errorf("%d violations, %v", len(broken), err)
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}

// unusable are the real tools whose input schema no arguments fit.
var unusable = map[string]string{
	"netlify__netlify-coding-rules": "minItems", // an enumeration of nothing, which draft 7 forbids
}

// All schemas of real servers can be used.
func TestSchemasOfRealTools(t *testing.T) {
	t.Parallel()
	var cache schemaCache
	n := 0
	for name, schema := range realSchemas(t) {
		n++
		_, err := cache.get(schema)
		if reason, ok := unusable[name]; ok {
			if err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("%s: %v, want %s", name, err, reason)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	t.Logf("%d schemas", n)
}

// realSchemas reads the input schemas of real servers, which are data kept outside
// the project; without them a test is skipped, except in CI.
func realSchemas(tb testing.TB) map[string]string {
	tb.Helper()
	dir := os.Getenv("AIRLOCK_TESTDATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	files, err := filepath.Glob(filepath.Join(dir, "mcp-tools", "*.json"))
	if err != nil {
		tb.Fatal(err)
	}
	if len(files) == 0 {
		missing := "no tool lists in " + dir + "; set AIRLOCK_TESTDATA to the folder that holds mcp-tools"
		if os.Getenv("CI") == "true" {
			tb.Fatal(missing)
		}
		tb.Skip(missing)
	}
	all := map[string]string{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			tb.Fatal(err)
		}
		var list struct {
			Tools []struct {
				Name        string
				InputSchema json.RawMessage
			}
		}
		if err := json.Unmarshal(data, &list); err != nil {
			tb.Fatalf("%s: %v", file, err)
		}
		for _, tool := range list.Tools {
			all[strings.TrimSuffix(filepath.Base(file), ".json")+"__"+tool.Name] = string(tool.InputSchema)
		}
	}
	return all
}

func FuzzCheckJSON(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"c"}]}`, `{"a":1,"a":2}`, `[[[[]]]]`, `"x"`, `{"a":{"":null,"\u0000":1e5}}`, `{`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if checkJSON(data) == nil && !json.Valid(data) {
			t.Errorf("%q is taken", data)
		}
	})
}

func FuzzInputSchema(f *testing.F) {
	f.Add(`{"properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#"}]}}}`, `{"a":{"a":"x"}}`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"not":{"$ref":"#"}}}}`, `{}`)
	f.Add(`{"multipleOf":0.01,"minimum":1e300}`, `1e-300`)
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		s, err := compileSchema(schema)
		if err != nil || checkJSON([]byte(arguments)) != nil {
			return
		}
		_, _ = s.check(arguments) // ends, without a panic
	})
}
