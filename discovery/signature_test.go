package discovery

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evanw/esbuild/pkg/api"
)

// checkTypeScript fails unless text is one valid declaration.
func checkTypeScript(tb testing.TB, text string) {
	tb.Helper()
	result := api.Transform(text, api.TransformOptions{Loader: api.LoaderTS, LogLevel: api.LogLevelSilent})
	for _, e := range result.Errors {
		tb.Errorf("line %d: %s\n%s", e.Location.Line, e.Text, text)
	}
	// A declaration leaves no code: what does has escaped from it.
	if len(result.Errors) == 0 && strings.TrimSpace(string(result.Code)) != "" {
		tb.Errorf("leaves the code %q:\n%s", result.Code, text)
	}
}

func TestSignature(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ in, want string }{
		"required and optional, in the author's order": {
			`{"type":"object","properties":{"query":{"type":"string"},"database":{"type":"string"}},"required":["query"]}`,
			`args: { query: string; database?: string }`},
		"nothing required makes the arguments optional": {
			`{"type":"object","properties":{"n":{"type":"integer"}}}`, `args?: { n?: number }`},
		"no properties and no others": {`{"type":"object","properties":{},"additionalProperties":false}`, `args?: {}`},
		"any object":                  {`{"type":"object"}`, `args?: Record<string, unknown>`},
		"a map":                       {`{"type":"object","additionalProperties":{"type":"number"}}`, `args?: Record<string, number>`},
		"named properties and others": {
			`{"properties":{"a":{"type":"string"}},"additionalProperties":{"type":"number"}}`,
			`args?: { a?: string; [key: string]: unknown }`},
		"not a schema":  {`[1,`, `args?: Record<string, unknown>`},
		"a boolean one": {`true`, `args?: Record<string, unknown>`},
		"enum, const and null": {
			`{"properties":{"a":{"enum":["x",1,null]},"b":{"const":"only"},"c":{"type":["string","null"]},"d":{"type":"string","nullable":true}}}`,
			`args?: { a?: "x" | 1 | null; b?: "only"; c?: string | null; d?: string | null }`},
		"arrays, of unions too": {
			`{"properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"type":"array","items":{"enum":[1,2]}},"c":{"type":"array"}}}`,
			`args?: { a?: string[]; b?: (1 | 2)[]; c?: unknown[] }`},
		"tuples": {
			`{"properties":{"a":{"type":"array","prefixItems":[{"type":"string"},{"enum":[1,2]}],"items":false}}}`,
			`args?: { a?: [(string)?, (1 | 2)?] }`},
		"unions with one alternative that says nothing": {
			`{"properties":{"a":{"anyOf":[{"type":"string"},{}]},"b":{"oneOf":[{"type":"string"},{"type":"number"}]}}}`,
			`args?: { a?: unknown; b?: string | number }`},
		"conditions on a known object add nothing": {
			`{"type":"object","properties":{"a":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}`,
			`args?: { a?: string }`},
		"allOf": {
			`{"properties":{"a":{"allOf":[{"properties":{"x":{"type":"string"}}},{"anyOf":[{"properties":{"y":{}}},{"type":"null"}]}]}}}`,
			`args?: { a?: { x?: string } & ({ y?: unknown } | null) }`},
		"references": {
			`{"properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/x~1y%25"}},"$defs":{"A":{"type":"string"},"x/y%":{"type":"number"}}}`,
			`args?: { a?: string; b?: number }`},
		"references into elsewhere, to anchors and to nothing": {
			`{"properties":{"a":{"$ref":"https://example.com/s"},"b":{"$ref":"#anchor"},"c":{"$ref":"#/$defs/none"}}}`,
			`args?: { a?: unknown; b?: unknown; c?: unknown }`},
		"a type within itself": {
			`{"properties":{"tree":{"$ref":"#/$defs/N"}},"$defs":{"N":{"properties":{"v":{"type":"string"},"kids":{"type":"array","items":{"$ref":"#/$defs/N"}}}}}}`,
			`args?: { tree?: { v?: string; kids?: unknown[] } }`},
		"a reference to itself alone": {`{"properties":{"a":{"$ref":"#/properties/a"}}}`, `args?: { a?: unknown }`},
		"property names that are no identifiers": {
			`{"properties":{"a-b":{},"$a":{},"a\"":{},"":{}}}`,
			`args?: { "a-b"?: unknown; $a?: unknown; "a\""?: unknown; ""?: unknown }`},
		"properties that are named as keywords": {
			`{"properties":{"$ref":{"type":"string"},"type":{"type":"number"},"properties":{"type":"boolean"}}}`,
			`args?: { $ref?: string; type?: number; properties?: boolean }`},
		"the last of repeated properties": {`{"properties":{"a":{"type":"string"},"a":{"type":"number"}}}`, `args?: { a?: number }`},
		"types that do not exist":         {`{"properties":{"a":{"type":"strnig"},"b":{"type":7},"c":5}}`, `args?: { a?: unknown; b?: unknown; c?: unknown }`},
		"comments: description, format, default": {
			`{"properties":{"since":{"type":"string","description":"First\n day.","format":"date","default":"2024-01-01"}}}`,
			"args?: {\n  /** First day. Format: date. Default: \"2024-01-01\". */\n  since?: string;\n}"},
		"comments that try to end": {
			`{"properties":{"a":{"description":"x */ evil() /*","default":"*/","type":"string"}}}`,
			"args?: {\n  /** x * / evil() /* Default: \"* /\". */\n  a?: string;\n}"},
		"a description from the reference": {
			`{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"string","description":"An A."}}}`,
			"args?: {\n  /** An A. */\n  a?: string;\n}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Signature("s__t", []byte(tc.in), nil)
			want := `declare function callMCPTool(name: "s__t", ` + tc.want + `): Promise<any>;`
			if got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			checkTypeScript(t, got)
		})
	}
}

func TestSignatureOfResult(t *testing.T) {
	t.Parallel()
	got := Signature(`a-b__c"d`, []byte(`{"type":"object"}`), []byte(`{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`))
	want := `declare function callMCPTool(name: "a-b__c\"d", args?: Record<string, unknown>): Promise<{ ok: boolean }>;`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	checkTypeScript(t, got)
}

func TestSignatureStaysBounded(t *testing.T) {
	t.Parallel()
	wide, doubling := &strings.Builder{}, &strings.Builder{}
	for i := range 5000 {
		fmt.Fprintf(wide, `"property%d":{"type":"string","description":"d"},`, i)
	}
	for i := range 60 { // each refers to the next twice: 2^60 types when followed
		fmt.Fprintf(doubling, `"D%d":{"properties":{"l":{"$ref":"#/$defs/D%d"},"r":{"$ref":"#/$defs/D%d"}}},`, i, i+1, i+1)
	}
	inPlace := strings.NewReplacer(`{"properties":{"l":`, `{"allOf":[`, `,"r":`, `,`, `}}},`, `}]},`).Replace(doubling.String())
	many := strings.Repeat(`"value",`, 3000) + `"value"`
	for name, schema := range map[string]string{
		"many properties":      `{"properties":{` + wide.String() + `"z":{}}}`,
		"doubling references":  `{"properties":{"a":{"$ref":"#/$defs/D0"}},"$defs":{` + doubling.String() + `"z":{}}}`,
		"doubling in place":    `{"properties":{"a":{"$ref":"#/$defs/D0"}},"$defs":{` + inPlace + `"z":{}}}`,
		"a long enumeration":   `{"properties":{"a":{"enum":[` + many + `]}}}`,
		"deep nesting":         strings.Repeat(`{"properties":{"a":`, 3000) + `{}` + strings.Repeat(`}}`, 3000),
		"a very long constant": `{"properties":{"a":{"const":"` + strings.Repeat("x", 1<<20) + `"}}}`,
		"a very long name":     `{"properties":{"` + strings.Repeat("x", 1<<20) + `":{}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Signature("s__t", []byte(schema), []byte(schema))
			if len(got) > maxSignature+len("s__t") {
				t.Errorf("%d bytes, want at most %d", len(got), maxSignature)
			}
			checkTypeScript(t, got)
		})
	}
}

func TestSignatureOfRealTools(t *testing.T) {
	t.Parallel()
	tools, bytes := realTools(t), 0
	for _, tool := range tools {
		text := Signature(tool.full, tool.InputSchema, tool.OutputSchema)
		checkTypeScript(t, text)
		bytes += len(text)
		root, _ := readSchema(tool.InputSchema)
		if strings.Contains(text, "args?: Record<string, unknown>") && len(elements(member(root, "required"))) > 0 {
			t.Errorf("%s lost its arguments", tool.full)
		}
	}
	t.Logf("%d signatures, %d bytes on average", len(tools), bytes/len(tools))
}

func FuzzSignature(f *testing.F) {
	f.Add("s__t", `{"properties":{"a":{"anyOf":[{"type":"string"},{"$ref":"#"}],"description":"*/"}}}`, `{"enum":["*/",{"a":[]}]}`)
	f.Fuzz(func(t *testing.T, name, in, out string) {
		checkTypeScript(t, Signature(head(name, 100), []byte(in), []byte(out)))
	})
}
