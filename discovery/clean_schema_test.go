package discovery

import (
	"testing"
)

func TestCleanSchema(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ schema, want string }{
		"nothing hidden":          {"{ \"a\" :\n\t[1e400, \"\\u00e9\\n\", true]}", "{ \"a\" :\n\t[1e400, \"\\u00e9\\n\", true]}"},
		"as it is":                {"{\"a\": \"x\u200by\", \"b\":1.50}", "{\"a\": \"xy\", \"b\":1.50}"},
		"as an escape":            {`{"a":"x\u200by\"", "b" : "\u00e9"}`, `{"a":"xy\"", "b" : "\u00e9"}`},
		"in a key":                {"{\"a\u202e\":{\"description\":\"b\"}}", `{"a":{"description":"b"}}`},
		"as two halves":           {`{"a":"x\udb40\udc41y"}`, `{"a":"xy"}`},
		"no JSON":                 {"{\"a\": \"x\u200b", "{\"a\": \"x\u200b"},
		"nothing":                 {"", ""},
		"line breaks and tabs":    {`{"a":"x\u000ay\tz"}`, `{"a":"x\u000ay\tz"}`},
		"a hidden one by a quote": {"[\"\u200b\",\"\\\"\u200b\"]", `["","\""]`},
	} {
		if got := string(CleanSchema([]byte(tc.schema))); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}

func TestRealSchemasStayByteForByte(t *testing.T) {
	t.Parallel()
	for _, r := range realTools(t) {
		for _, schema := range [][]byte{r.InputSchema, r.OutputSchema} {
			if got := string(CleanSchema(schema)); got != string(schema) {
				t.Errorf("%s was changed", r.full)
			}
		}
	}
}

// What callMCPTool makes of a result is what the helpers' own tests say it is.
func TestResultValue(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ result, want string }{
		"structured":         {`{"content":[{"type":"text","text":"1"}],"structuredContent":{"a":1}}`, `{"a":1}`},
		"null is none":       {`{"content":[{"type":"text","text":"[1]"}],"structuredContent":null}`, `[1]`},
		"JSON in a text":     {`{"content":[{"type":"text","text":"{\"a\":\"b\"}"}]}`, `{"a":"b"}`},
		"prose":              {`{"content":[{"type":"text","text":"3 rows"}]}`, `""`},
		"two blocks":         {`{"content":[{"type":"text","text":"1"},{"type":"text","text":"b"}]}`, `[1,""]`},
		"an image":           {`{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}`, `{"path":"","mimeType":""}`},
		"an embedded text":   {`{"content":[{"type":"resource","resource":{"uri":"a:b","text":"x"}}]}`, `{"uri":"a:b","text":"x"}`},
		"an embedded file":   {`{"content":[{"type":"resource","resource":{"uri":"a:b","blob":"aGk="}}]}`, `{"path":"","mimeType":""}`},
		"a link":             {`{"content":[{"type":"resource_link","uri":"a:b"}]}`, `{"type":"resource_link","uri":"a:b"}`},
		"no content":         {`{"content":[]}`, ``},
		"nothing":            {`{}`, ``},
		"a text that is not": {`{"content":[{"type":"text","text":7}]}`, `null`},
	} {
		if got := string(ResultValue([]byte(tc.result))); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}
