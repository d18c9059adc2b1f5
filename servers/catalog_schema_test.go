package servers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"airlock/docs"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func inputsOf(list string) string { return `{"schemaVersion":1,"inputs":[` + list + `]}` }

// TestSchemaAndReaderAgree holds the published schema and the reader together:
// an editor must not mark what airlock takes, nor pass what it refuses.
func TestSchemaAndReaderAgree(t *testing.T) {
	t.Parallel()
	good := map[string]string{
		"every field":            wholeEntry,
		"nothing":                `{"schemaVersion":1}`,
		"no servers":             `{"schemaVersion":1,"servers":{},"inputs":[]}`,
		"byte order mark":        "\xef\xbb\xbf" + `{"schemaVersion":1}`,
		"command":                one(`"command":"x"`),
		"package":                one(`"package":{"type":"pypi","name":"a-b","version":"1.0rc1"}`),
		"Go package":             one(`"package":{"type":"go","name":"example.com/a/b","version":"v1.0.0"}`),
		"command and package":    one(`"command":"x","package":{"type":"npm","name":"@a/b","version":"1"}`),
		"empty command, package": one(`"command":"","package":{"type":"npm","name":"@a/b","version":"1"}`),
		"url":                    one(`"url":"https://example.com/mcp","headers":{"X":"y"}`),
		"upper-case scheme":      one(`"url":"HTTPS://example.com/mcp"`),
		"oauth":                  one(`"url":"https://example.com/mcp","oauth":{"clientId":"a","clientSecret":"","scopes":["x"],"port":1}`),
		"empty oauth":            one(`"transport":"sse","url":"https://example.com/sse","oauth":{}`),
		"sse":                    one(`"transport":"sse","url":"https://example.com/sse"`),
		"remote, eager":          one(`"url":"https://example.com/mcp","lifecycle":{"start":"eager"}`),
		"builtin by category":    one(`"category":"builtin"`),
		"builtin by transport":   one(`"transport":"builtin","lifecycle":{"start":"eager"}`),
		"stdio, eager":           one(`"command":"x","instance":"shared","lifecycle":{"start":"eager"}`),
		"isolated":               one(`"command":"x","sandbox":{"network":"none","memoryMB":64,"write":["a","/b"]}`),
		"isolated by an empty":   one(`"command":"x","sandbox":{}`),
		"release types":          one(`"command":"x","release":["EMAIL"]`),
		"no types":               one(`"command":"x","release":[]`),
		"inputs":                 inputsOf(`{"id":"a.b-c_D9","secret":true,"from":"env:A"},{"id":"b","value":"","description":"x"}`),
		"address from an input":  `{"schemaVersion":1,"inputs":[{"id":"u","from":"env:NOT_SET"}],"servers":{"s":{"url":"${input:u}/mcp"}}}`,
		"longest name":           `{"schemaVersion":1,"servers":{"` + strings.Repeat("a", 48) + `":{"command":"x"}}}`,
		"bounds":                 one(`"command":"x","limits":{"concurrency":1024,"maxMessageBytes":268435456},"lifecycle":{"idleStopSec":86400,"restart":{"max":1000,"backoffMs":60000}}`),
	}
	bad := map[string]string{
		"a list": `[]`, "a string": `"x"`, "no version": `{}`, "other version": `{"schemaVersion":2}`, "version as text": `{"schemaVersion":"1"}`,
		"unknown field":         `{"schemaVersion":1,"plugins":{}}`,
		"$schema":               `{"schemaVersion":1,"$schema":1}`,
		"servers as a list":     `{"schemaVersion":1,"servers":[]}`,
		"inputs as an object":   `{"schemaVersion":1,"inputs":{}}`,
		"input as text":         inputsOf(`"a"`),
		"input without an id":   inputsOf(`{"value":"x"}`),
		"id with a space":       inputsOf(`{"id":"a b","value":"x"}`),
		"input without source":  inputsOf(`{"id":"a"}`),
		"input with two":        inputsOf(`{"id":"a","value":"x","from":"env:A"}`),
		"input from a file":     inputsOf(`{"id":"a","from":"file:x"}`),
		"input from nothing":    inputsOf(`{"id":"a","from":"env:"}`),
		"input, unknown field":  inputsOf(`{"id":"a","value":"x","default":"y"}`),
		"upper-case name":       `{"schemaVersion":1,"servers":{"A":{"command":"x"}}}`,
		"separator in a name":   `{"schemaVersion":1,"servers":{"a__b":{"command":"x"}}}`,
		"name too long":         `{"schemaVersion":1,"servers":{"` + strings.Repeat("a", 49) + `":{"command":"x"}}}`,
		"empty name":            `{"schemaVersion":1,"servers":{"":{"command":"x"}}}`,
		"nothing to start":      one(``),
		"empty command":         one(`"command":""`),
		"builtin needs no file": one(`"transport":"builtin","command":"x"`),
		"builtin with a url":    one(`"transport":"builtin","url":"https://example.com"`),
		"stdio with a url":      one(`"transport":"stdio","command":"x","url":"https://example.com"`),
		"stdio with oauth":      one(`"command":"x","oauth":{}`),
		"builtin with oauth":    one(`"transport":"builtin","oauth":{}`),
		"oauth without an id":   one(`"url":"https://example.com","oauth":{"clientSecret":""}`),
		"oauth, bad port":       one(`"url":"https://example.com","oauth":{"port":65536}`),
		"oauth, unknown field":  one(`"url":"https://example.com","oauth":{"scope":"a"}`),
		"stdio with headers":    one(`"command":"x","headers":{}`),
		"remote with a command": one(`"url":"https://example.com","command":"x"`),
		"remote with env":       one(`"url":"https://example.com","env":{}`),
		"remote without url":    one(`"transport":"sse"`),
		"url of a file":         one(`"url":"file:///etc/passwd"`),
		"url without host":      one(`"url":"https:///mcp"`),
		"relative url":          one(`"url":"example.com/mcp"`),
		"stdio, eager":          one(`"command":"x","lifecycle":{"start":"eager"}`),
		"remote, eager by user": one(`"url":"https://example.com","instance":"user","lifecycle":{"start":"eager"}`),
		"remote, isolated":      one(`"url":"https://example.com","sandbox":{}`),
		"builtin, isolated":     one(`"transport":"builtin","sandbox":{}`),
		"too little memory":     one(`"command":"x","sandbox":{"memoryMB":63}`),
		"range":                 one(`"package":{"type":"npm","name":"x","version":"^1"}`),
		"latest":                one(`"package":{"type":"npm","name":"x","version":"latest"}`),
		"empty version":         one(`"package":{"type":"npm","name":"x","version":""}`),
		"no version of it":      one(`"package":{"type":"npm","name":"x"}`),
		"package as a flag":     one(`"package":{"type":"npm","name":"-x","version":"1"}`),
		"package with a space":  one(`"package":{"type":"npm","name":"x y","version":"1"}`),
		"other registry":        one(`"package":{"type":"cargo","name":"x","version":"1"}`),
		"image":                 one(`"package":{"type":"oci","name":"x","version":"1"}`),
		"package, unknown":      one(`"package":{"type":"npm","name":"x","version":"1","sha":"1"}`),
		"release":               one(`"command":"x","release":"some"`),
		"empty release":         one(`"command":"x","release":""`),
		"null release":          one(`"command":"x","release":null`),
		"null type":             one(`"command":"x","release":[null]`),
		"approval":              one(`"command":"x","tools":{"approval":{"*":"maybe"}}`),
		"approval as a list":    one(`"command":"x","tools":{"approval":["*"]}`),
		"zero":                  one(`"command":"x","limits":{"concurrency":0}`),
		"fraction":              one(`"command":"x","lifecycle":{"idleStopSec":1.5}`),
		"small messages":        one(`"command":"x","limits":{"maxMessageBytes":1}`),
		"many restarts":         one(`"command":"x","lifecycle":{"restart":{"max":1001}}`),
		"start":                 one(`"command":"x","lifecycle":{"start":"now"}`),
		"empty category":        one(`"command":"x","category":""`),
		"null":                  one(`"command":null`),
		"number in args":        one(`"command":"x","args":[1]`),
		"number in env":         one(`"command":"x","env":{"A":1}`),
		"enabled as text":       one(`"command":"x","enabled":"yes"`),
		"new protocol":          one(`"command":"x","protocol":"2026-07-28"`),
		"instance":              one(`"command":"x","instance":"team"`),
	}
	for want, documents := range map[bool]map[string]string{true: good, false: bad} {
		for name, text := range documents {
			path := write(t, text)
			_, read := LoadCatalog(path, func(name string) (string, bool) { return "", name == "PG_URL" || name == "A" })
			schema := ValidateCatalog(path)
			if (read == nil) != want || (schema == nil) != want {
				t.Errorf("%s: should be good: %v\nreader: %v\nschema: %v", name, want, read, schema)
			}
			if schema != nil && !strings.Contains(schema.Error(), path+":") {
				t.Errorf("%s: the schema's error has no place: %v", name, schema)
			}
		}
	}
}

// TestWhatOnlyTheReaderCanTell lists where the schema is silent, so that no
// further difference goes unseen.
func TestWhatOnlyTheReaderCanTell(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"unknown input": one(`"command":"x","args":["${input:nobody}"]`),
		"input twice":   inputsOf(`{"id":"a","value":""},{"id":"a","value":""}`),
		"whole number":  one(`"command":"x","lifecycle":{"idleStopSec":1e2}`),
	} {
		path := write(t, text)
		if _, err := LoadCatalog(path, nil); err == nil {
			t.Errorf("%s: the reader accepts it", name)
		}
		if err := ValidateCatalog(path); err != nil {
			t.Errorf("%s: the schema can tell, too; move it to the other table: %v", name, err)
		}
	}
}

// TestSchemaKnowsTheReadersFields asks the reader at each object of the format
// which fields it knows.
func TestSchemaKnowsTheReadersFields(t *testing.T) {
	t.Parallel()
	var schema struct {
		Properties map[string]any `json:"properties"`
		Defs       map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(docs.CatalogSchema, &schema); err != nil {
		t.Fatal(err)
	}
	lifecycle := schema.Defs["lifecycle"].Properties
	restart := lifecycle["restart"].(map[string]any)["properties"].(map[string]any)
	for text, properties := range map[string]map[string]any{
		`{"schemaVersion":1,"zzzzzz":1}`:                  schema.Properties,
		inputsOf(`{"id":"a","value":"","zzzzzz":1}`):      schema.Defs["input"].Properties,
		one(`"zzzzzz":1`):                                 schema.Defs["server"].Properties,
		one(`"package":{"zzzzzz":1}`):                     schema.Defs["package"].Properties,
		one(`"lifecycle":{"zzzzzz":1}`):                   lifecycle,
		one(`"lifecycle":{"restart":{"zzzzzzzzzzzz":1}}`): restart,
		one(`"limits":{"zzzzzz":1}`):                      schema.Defs["limits"].Properties,
		one(`"sandbox":{"zzzzzz":1}`):                     schema.Defs["sandbox"].Properties,
		one(`"tools":{"zzzzzzzzzzz":1}`):                  schema.Defs["tools"].Properties,
	} {
		_, err := load(t, text)
		if err == nil {
			t.Fatalf("%s is accepted", text)
		}
		allowed := regexp.MustCompile(`unknown field; allowed here: (.*)`).FindStringSubmatch(err.Error())
		if allowed == nil {
			t.Fatalf("%s: %v", text, err)
		}
		names := make([]string, 0, len(properties))
		for name := range properties {
			names = append(names, name)
		}
		slices.Sort(names)
		if strings.Join(names, ", ") != allowed[1] {
			t.Errorf("%s:\nreader: %s\nschema: %s", text, allowed[1], strings.Join(names, ", "))
		}
	}
}
