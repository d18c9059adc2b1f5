package helpers

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// script is one run of a script against the fake host in testdata.
type script struct {
	Script string            `json:"script"`
	Files  map[string]string `json:"files,omitempty"`
	Bridge map[string]answer `json:"bridge,omitempty"`
}

// answer is what the fake bridge says to "METHOD path".
type answer struct {
	Status int `json:"status,omitempty"`
	Body   any `json:"body"`
}

// outcome is how a script ended and what it did.
type outcome struct {
	Result    string            `json:"result"`
	Error     *thrown           `json:"error"`
	Stuck     bool              `json:"stuck"`
	Unhandled []thrown          `json:"unhandled"`
	Stdout    string            `json:"stdout"`
	Stderr    string            `json:"stderr"`
	Calls     []call            `json:"calls"`
	Files     map[string]string `json:"files"`
}

type thrown struct {
	Name, Message, Stack, Code, Hint, Tool string
	Content                                json.RawMessage
}

type call struct{ Method, Path, Body string }

// engines are what every behaviour is tested in: a bare context of Node and the
// engine that the sandbox embeds.
var engines = []string{"node", "quickjs"}

// runAll runs scripts in one Node process, each in a fresh engine.
func runAll(t *testing.T, engine string, scripts []script) []outcome {
	t.Helper()
	input, err := json.Marshal(map[string]any{"prelude": JavaScript(), "engine": engine, "cases": scripts})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "testdata/run.mjs")
	cmd.Stdin = bytes.NewReader(input)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("run scripts in node: %v\n%s", err, stderr.String())
	}
	var outcomes []outcome
	if err := json.Unmarshal(output, &outcomes); err != nil {
		t.Fatalf("read outcomes: %v\n%.500s", err, output)
	}
	return outcomes
}

// test is a script and what must come of it. Empty fields are not looked at.
type test struct {
	name   string
	script script
	want   string // the result's JSON
	stdout string
	stderr string
	fails  string // the error's "name: message" starts so
	check  func(*testing.T, outcome)
	only   string // the one engine that can do it
}

// runTests runs a table in every engine.
func runTests(t *testing.T, tests []test) {
	t.Helper()
	t.Parallel()
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			runTable(t, engine, tests)
		})
	}
}

func runTable(t *testing.T, engine string, tests []test) {
	tests = slices.DeleteFunc(slices.Clone(tests), func(one test) bool { return one.only != "" && one.only != engine })
	scripts := make([]script, len(tests))
	for i, one := range tests {
		scripts[i] = one.script
	}
	outcomes := runAll(t, engine, scripts)
	for i, one := range tests {
		t.Run(one.name, func(t *testing.T) { one.verify(t, outcomes[i]) })
	}
}

func (one test) verify(t *testing.T, got outcome) {
	switch {
	case got.Stuck:
		t.Fatal("the script never ended")
	case one.fails == "" && got.Error != nil && one.check == nil:
		t.Fatalf("failed: %+v", *got.Error)
	case one.fails != "" && got.Error == nil:
		t.Fatalf("returned %s, want the error %q", got.Result, one.fails)
	case one.fails != "" && !strings.HasPrefix(got.Error.Name+": "+got.Error.Message, one.fails):
		t.Fatalf("failed with %s: %s\nwant %s", got.Error.Name, got.Error.Message, one.fails)
	}
	if one.want != "" && got.Result != one.want {
		t.Errorf("result\n got %s\nwant %s", got.Result, one.want)
	}
	if one.stdout != "" && got.Stdout != one.stdout {
		t.Errorf("stdout\n got %q\nwant %q", got.Stdout, one.stdout)
	}
	if one.stderr != "" && got.Stderr != one.stderr {
		t.Errorf("stderr\n got %q\nwant %q", got.Stderr, one.stderr)
	}
	if one.check != nil {
		one.check(t, got)
	}
}

// js is a script without files or bridge.
func js(code string) script { return script{Script: code} }
