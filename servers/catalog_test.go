package servers

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func load(t *testing.T, text string) (*Catalog, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := map[string]string{"PG_URL": "postgres://u:canary@host/db", "EMPTY": ""}
	c, err := LoadCatalog(path, func(name string) (string, bool) { v, ok := environ[name]; return v, ok })
	if err != nil && !strings.Contains(err.Error(), path) {
		t.Errorf("the error does not name the file: %v", err)
	}
	return c, err
}

// wholeEntry has every field that an entry may have.
const wholeEntry = `{"$schema":"./docs/catalog.schema.json","schemaVersion":1,
 "inputs":[{"id":"pg_url","secret":true,"from":"env:PG_URL","description":"where the data is"},{"id":"mode","value":"ro"}],
 "servers":{"postgres":{
  "description":"asks a database","category":"archived","tags":["sql"],"enabled":true,
  "transport":"stdio","protocol":"2025-06-18",
  "package":{"type":"npm","name":"@x/postgres","version":"1.2.3"},
  "args":["--${input:mode}","${input:pg_url}"],"env":{"URL":"${input:pg_url}"},"inheritEnv":["PATH"],"cwd":"sub",
  "lifecycle":{"start":"eager","initTimeoutMs":1,"callTimeoutMs":2,"idleStopSec":3,"restart":{"max":0,"backoffMs":4}},
  "limits":{"concurrency":5,"maxMessageBytes":4096},
  "instance":"shared","users":["a*"],
  "sandbox":{"network":"host"},
  "tools":{"allow":["q*"],"deny":["qx"],"approval":{"q*":"hint","query":"never","q?":"required"}},
  "release":["EMAIL"],"requires":["postgresql"]}}}`

func TestEveryFieldOfAnEntryIsRead(t *testing.T) {
	t.Parallel()
	c, err := load(t, wholeEntry)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings()) > 0 {
		t.Errorf("warnings: %v", c.Warnings())
	}
	e := c.entries[0]
	if e.Name != "postgres" || e.Description != "asks a database" || e.Category != "archived" || !e.Enabled || e.Transport != "stdio" ||
		e.Instance != "shared" || strings.Join(e.Tags, ",") != "sql" || strings.Join(e.Requires, ",") != "postgresql" {
		t.Errorf("entry: %+v", e)
	}
	if e.protocol != "2025-06-18" || !e.eager || e.initTimeout != time.Millisecond || e.callTimeout != 2*time.Millisecond ||
		e.idleStop != 3*time.Second || e.maxRestarts != 0 || e.backoff != 4*time.Millisecond || e.concurrency != 5 || e.maxMessage != 4096 {
		t.Errorf("life cycle and limits: %+v", e)
	}
	l := e.launch
	if l.packageType != "npm" || l.packageName != "@x/postgres" || l.packageVer != "1.2.3" ||
		strings.Join(l.args, " ") != "--ro postgres://u:canary@host/db" || l.env["URL"] != "postgres://u:canary@host/db" ||
		strings.Join(l.inheritEnv, ",") != "PATH" || l.cwd != filepath.Join(c.dir, "sub") {
		t.Error("the launch differs from the catalog")
	}
	if !e.serves("anna") || e.serves("bob") || !e.admits("query") || e.admits("qx") || e.admits("other") {
		t.Error("users or tools differ from the catalog")
	}
	if printed := fmt.Sprintf("%v %+v %#v", *e, e, c.Entries()); strings.Contains(printed, "canary") {
		t.Error("printing an entry shows a secret")
	}
}

func TestDefaultsOfAnEntry(t *testing.T) {
	t.Parallel()
	c, err := load(t, `{"schemaVersion":1,"servers":{"a":{"command":"x"},"b":{"url":"https://example.com/mcp"},"c":{"category":"builtin"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"stdio user", "streamable-http shared", "builtin shared"} {
		e := c.entries[i]
		if got := e.Transport + " " + e.Instance; got != want {
			t.Errorf("%s: %s, want %s", e.Name, got, want)
		}
		if !e.Enabled || e.protocol != "2025-11-25" || e.initTimeout != 10*time.Second || e.callTimeout != time.Minute || e.idleStop != 5*time.Minute ||
			e.maxRestarts != 5 || e.backoff != 500*time.Millisecond || e.concurrency != 8 || e.maxMessage != 8<<20 || e.eager {
			t.Errorf("%s: %+v", e.Name, e)
		}
		if !e.serves("x") || !e.admits("y") || e.Approval("y") != ApprovalNever || !slices.Equal(e.launch.inheritEnv, inherited) {
			t.Errorf("%s: users, tools, approvals or environment differ", e.Name)
		}
		if policy, err := e.Release.MarshalJSON(); err != nil || string(policy) != `"origin"` {
			t.Errorf("%s: release %s, %v", e.Name, policy, err)
		}
	}
}

func TestPackagesGetTimeToBeDownloaded(t *testing.T) {
	t.Parallel()
	const pack = `"package":{"type":"npm","name":"x","version":"1"}`
	for fields, want := range map[string]time.Duration{
		pack:                    packageInitTimeout,
		pack + `,"command":"x"`: 10 * time.Second,
		pack + `,"lifecycle":{"initTimeoutMs":5000}`: 5 * time.Second,
	} {
		c, err := load(t, one(fields))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.entries[0].initTimeout; got != want {
			t.Errorf("%s: %v, want %v", fields, got, want)
		}
	}
}

// one is a catalog whose only entry starts on line 4.
func one(fields string) string {
	return "{\n\"schemaVersion\":1,\n\"servers\":{\"s\":{\n" + fields + "\n}}}"
}

func TestMistakesAreNamedByLineAndPath(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, want string }{
		"not JSON":               {"{\n\"schemaVersion\":1,\n}", `catalog.json:3: not valid JSON`},
		"cut off":                {"{\n\"schemaVersion\":1", `catalog.json:2: not valid JSON: the file ends too early`},
		"empty":                  {"", `not valid JSON: the file ends too early`},
		"more behind":            {"{\"schemaVersion\":1}\n{}", `something follows the end`},
		"a list":                 {"[]", `must be an object, not a list`},
		"no version":             {`{"servers":{}}`, `schemaVersion: is missing; write "schemaVersion": 1`},
		"other version":          {`{"schemaVersion":2}`, `schemaVersion: 2 is not a whole number from 1 to 1`},
		"unknown top field":      {`{"schemaVersion":1,"plugins":{}}`, `plugins: unknown field; allowed here: $schema, inputs, schemaVersion, servers`},
		"mistyped field":         {one(`"command":"x",` + "\n" + `"transprot":"stdio"`), `catalog.json:5: servers.s.transprot: unknown field; did you mean "transport"?`},
		"nested unknown":         {one(`"command":"x","limits":{"concurency":1}`), `catalog.json:4: servers.s.limits.concurency: unknown field; did you mean "concurrency"?`},
		"given twice":            {one(`"command":"x","command":"y"`), `servers.s.command is given twice`},
		"wrong kind":             {one(`"command":["x"]`), `servers.s.command: must be a string, not a list`},
		"wrong item":             {one(`"command":"x","args":["a",1]`), `servers.s.args[1]: must be a string, not a number`},
		"not a flag":             {one(`"command":"x","enabled":"yes"`), `servers.s.enabled: must be true or false, not a string`},
		"zero":                   {one(`"command":"x","limits":{"concurrency":0}`), `0 is not a whole number from 1 to 1024`},
		"fraction":               {one(`"command":"x","lifecycle":{"idleStopSec":1.5}`), `1.5 is not a whole number`},
		"huge":                   {one(`"command":"x","lifecycle":{"idleStopSec":1e99}`), `1e99 is not a whole number`},
		"null":                   {one(`"command":null`), `servers.s.command: must be a string, not null`},
		"bad transport":          {one(`"transport":"carrier-pigeon"`), `"carrier-pigeon" is not known; allowed: stdio, streamable-http, sse, builtin`},
		"new protocol":           {one(`"command":"x","protocol":"2026-07-28"`), `"2026-07-28" is not known; allowed: 2025-11-25`},
		"nothing to start":       {one(`"transport":"stdio"`), `catalog.json:3: servers.s: a stdio server needs "command" or "package"`},
		"no url":                 {one(`"transport":"streamable-http"`), `transport streamable-http needs "url"`},
		"url of a file":          {one(`"url":"file:///etc/passwd"`), `is not an http or https address`},
		"url and command":        {one(`"transport":"stdio","command":"x","url":"http://localhost"`), `servers.s.url: has no meaning for transport stdio; remove it`},
		"version range":          {one(`"package":{"type":"npm","name":"x","version":"^1.0.0"}`), `"^1.0.0" is not an exact version`},
		"latest":                 {one(`"package":{"type":"npm","name":"x","version":"latest"}`), `"latest" is not an exact version`},
		"half a package":         {one(`"package":{"type":"npm","name":"x"}`), `needs "type", "name" and "version"`},
		"package as a flag":      {one(`"package":{"type":"npm","name":"--call=x","version":"1"}`), `is not the name of a package`},
		"container image":        {one(`"package":{"type":"oci","name":"x","version":"1"}`), `not supported yet`},
		"isolation of a remote":  {one(`"url":"https://example.com","sandbox":{"network":"none"}`), `servers.s.sandbox: has no meaning for transport streamable-http; remove it`},
		"half a network":         {one(`"command":"x","sandbox":{"network":"lan"}`), `servers.s.sandbox.network: "lan" is not known; allowed: host, none`},
		"too little memory":      {one(`"command":"x","sandbox":{"memoryMB":63}`), `63 is not a whole number from 64 to 1048576`},
		"eager without sharing":  {one(`"command":"x","lifecycle":{"start":"eager"}`), `eager needs "instance": "shared"`},
		"bad approval":           {one(`"command":"x","tools":{"approval":{"*":"maybe"}}`), `servers.s.tools.approval.*: "maybe" is not known; allowed: never, hint, required`},
		"bad release":            {one(`"command":"x","release":"some"`), `servers.s.release: release "some"`},
		"bad name":               {`{"schemaVersion":1,"servers":{"a__b":{"command":"x"}}}`, `servers.a__b: the name of a server`},
		"unknown input":          {one(`"command":"x","args":["${input:nobody}"]`), `servers.s.args[0]: there is no input "nobody"; add it to "inputs"`},
		"input without a source": {`{"schemaVersion":1,"inputs":[{"id":"a"}]}`, `inputs[0]: needs either "from": "env:NAME" or "value"`},
		"input from elsewhere":   {`{"schemaVersion":1,"inputs":[{"id":"a","from":"file:x"}]}`, `inputs[0].from: must have the form "env:NAME"`},
		"input twice":            {`{"schemaVersion":1,"inputs":[{"id":"a","value":""},{"id":"a","value":""}]}`, `input "a" is given twice`},
		"instance reference":     {one(`"command":"x","args":["${instance:user}"]`), `servers.s.args[0]: ${instance:user} is not known; there is ${instance:folder}`},
		"folder of a remote":     {one(`"url":"https://example.com/${instance:folder}"`), `${instance:folder} has no meaning for transport streamable-http`},
		"two credentials":        {one(`"url":"https://example.com","headers":{"authorization":"${input:x}"},"oauth":{}`), `servers.s.oauth: cannot stand beside a header "Authorization"`},
		"too deep":               {strings.Repeat("[", 100), `nested deeper than 32 levels`},
	} {
		if _, err := load(t, c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

func TestAllMistakesAreReportedTogether(t *testing.T) {
	t.Parallel()
	_, err := load(t, `{"schemaVersion":1,"servers":{"a":{"comand":"x"},"b":{"url":1},"c":{"command":"x","limits":7}}}`)
	for _, want := range []string{"servers.a.comand", "servers.b.url", "servers.c.limits"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is not in: %v", want, err)
		}
	}
}

func TestMissingCatalogSaysHowToNameAnother(t *testing.T) {
	t.Parallel()
	_, err := LoadCatalog(filepath.Join(t.TempDir(), "none.json"), nil)
	if err == nil || !strings.Contains(err.Error(), "does not exist; create it or name another with CATALOG") {
		t.Errorf("%v", err)
	}
}

func TestLiteralSecretsAreWarnedOfWithTheFix(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fields, want string }{
		"environment":       {`"command":"x","env":{"API_KEY":"abc"}`, `catalog.json:4: servers.s.env.API_KEY: looks like a secret written into the file; add {"id":"s_api_key","secret":true,"from":"env:S_API_KEY"} to "inputs" and write "${input:s_api_key}" here`},
		"header":            {`"url":"https://example.com","headers":{"Authorization":"Bearer abc"}`, `servers.s.headers.Authorization`},
		"flag with value":   {`"command":"x","args":["--token=abc"]`, `servers.s.args[0]`},
		"flag before value": {`"command":"x","args":["--api-key","abc"]`, `servers.s.args[1]`},
		"known mark":        {`"command":"x","args":["ghp_abcdefghijklmnop"]`, `servers.s.args[0]`},
		"password in a url": {`"command":"x","args":["postgres://u:pw@host/db"]`, `servers.s.args[0]`},
		"key in a url":      {`"url":"https://example.com/mcp?api_key=abc"`, `servers.s.url`},
		"client secret":     {`"url":"https://example.com","oauth":{"clientId":"a","clientSecret":"abc"}`, `servers.s.oauth.clientSecret`},
		"unencrypted":       {`"url":"http://example.com/mcp"`, `use https`},
	} {
		catalog, err := load(t, one(c.fields))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if w := catalog.Warnings(); len(w) != 1 || !strings.Contains(w[0], c.want) || strings.Contains(w[0], "abc") {
			t.Errorf("%s: %q\nwant %s", name, w, c.want)
		}
	}
}

func TestReferencesAndPlainValuesAreNotWarnedOf(t *testing.T) {
	t.Parallel()
	c, err := load(t, `{"schemaVersion":1,"inputs":[{"id":"k","secret":true,"from":"env:PG_URL"}],"servers":{"s":{"command":"x",
		"env":{"API_KEY":"${input:k}","LOG_LEVEL":"debug","EMPTY_TOKEN":""},"args":["--token=${input:k}","--verbose","--token","${input:k}"]},
		"h":{"url":"http://localhost:1/mcp","headers":{"Authorization":"Bearer ${input:k}"}}}}`)
	if err != nil || len(c.Warnings()) > 0 {
		t.Errorf("%v, %q", err, c.Warnings())
	}
}

func TestUnsetInputFailsItsServerOnly(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalog.json")
	text := `{"schemaVersion":1,"inputs":[{"id":"k","from":"env:NOT_SET"}],"servers":{"s":{"command":"x","args":["${input:k}"]},"echo":{"transport":"builtin"}}}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := LoadCatalog(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(Options{Catalog: c, Builtins: map[string]Builtin{"echo": echoServer}})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	tools, faults := m.Tools(t.Context(), anyone)
	if len(tools) == 0 || len(faults) != 1 || !strings.Contains(faults[0].Err.Error(), "NOT_SET, which is not set") {
		t.Errorf("%d tools, faults %v", len(tools), faults)
	}
}

func TestApprovalTakesTheMostSpecificPattern(t *testing.T) {
	t.Parallel()
	c, err := load(t, one(`"command":"x","tools":{"approval":{"*":"required","get_*":"never","get_se*":"hint","*_secret":"required"}}`))
	if err != nil {
		t.Fatal(err)
	}
	for tool, want := range map[string]Approval{
		"delete": ApprovalRequired, "get_x": ApprovalNever, "get_setting": ApprovalHint, "get_secret": ApprovalRequired,
	} {
		if got := c.entries[0].Approval(tool); got != want {
			t.Errorf("%s: %s, want %s", tool, got, want)
		}
	}
	yes, no := true, false
	for _, a := range []struct {
		mode Approval
		t    Annotations
		want bool
	}{
		{ApprovalNever, Annotations{Destructive: &yes}, false},
		{ApprovalRequired, Annotations{ReadOnly: &yes}, true},
		{ApprovalHint, Annotations{}, true},
		{ApprovalHint, Annotations{ReadOnly: &yes}, false},
		{ApprovalHint, Annotations{ReadOnly: &no}, true},
		{ApprovalHint, Annotations{ReadOnly: &no, Destructive: &no}, false},
		{ApprovalHint, Annotations{ReadOnly: &yes, Destructive: &yes}, true},
	} {
		if got := a.mode.Asks(a.t); got != a.want {
			t.Errorf("%s with %+v asks: %v", a.mode, a.t, got)
		}
	}
}

func TestPatternsMatchWholeNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"*", "", true}, {"*", "a/b", true}, {"a*", "ab", true}, {"a*", "ba", false}, {"*a", "ba", true}, {"a*b*c", "a--b--c", true},
		{"a*b*c", "a--c--b", false}, {"?", "a", true}, {"?", "", false}, {"a", "ab", false}, {"", "", true}, {"", "a", false}, {"a**", "a", true},
		{"*ab", "aab", true}, {"[a]", "a", false},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("matches(%q, %q) = %v", c.pattern, c.name, got)
		}
	}
}

// TestShippedCatalog guards the catalog.json that people start with.
func TestShippedCatalog(t *testing.T) {
	t.Parallel()
	c, err := LoadCatalog(filepath.Join("..", "catalog.json"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warnings()) > 0 {
		t.Errorf("warnings: %v", c.Warnings())
	}
	var names []string
	for _, e := range c.Entries() {
		names = append(names, e.Name)
		if e.Enabled != (e.Name == "database") {
			t.Errorf("%s: enabled is %v", e.Name, e.Enabled)
		}
		if e.Description == "" || e.Category == "" || len(e.Tags) == 0 || len(e.Requires) == 0 && e.Category != "builtin" {
			t.Errorf("%s: description, category, tags or requires are missing", e.Name)
		}
		if e.Name == "mcp-installer" && e.Approval("install_repo_mcp_server") != ApprovalRequired {
			t.Error("mcp-installer runs code on this machine without asking")
		}
	}
	for _, name := range []string{
		"filesystem", "git", "memory", "fetch", "everything", "time", "sequential-thinking",
		"postgresql", "redis", "sqlite", "puppeteer", "sentry",
		"mongodb", "greptimedb", "unstructured", "semgrep", "mcp-installer", "postgresql-community",
	} {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not in the catalog", name)
		}
	}
}
