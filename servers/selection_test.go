package servers

import (
	"errors"
	"strings"
	"testing"
)

func TestOnlyEnablesWhatItNames(t *testing.T) {
	t.Parallel()
	c, err := load(t, `{"schemaVersion":1,"servers":{"a":{"command":"x","enabled":false},"b":{"command":"y"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	one, err := c.Only("a")
	if err != nil || len(one.Entries()) != 1 || !one.Entries()[0].Enabled || c.Entries()[0].Enabled {
		t.Errorf("%+v, %v", one.Entries(), err)
	}
	for name, want := range map[string]string{"bb": `did you mean "b"?`, "zzzzz": "it has: a, b"} {
		if _, err := c.Only(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestMissingStartsNothing(t *testing.T) {
	t.Parallel()
	m := managerOf(t, `"absent":{"package":{"type":"pypi","name":"x","version":"1"},"env":{"PATH":"/nowhere"}},
		"there":{"command":"/bin/sh","args":["-c","exit 1"]},"remote":{"url":"http://127.0.0.1:1/mcp"}`, nil)
	if err := m.Missing("absent"); !errors.Is(err, ErrUpstream) || !strings.Contains(err.Error(), "pip install uv") {
		t.Errorf("a program that is not there: %v", err)
	}
	for _, name := range []string{"there", "remote"} {
		if err := m.Missing(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := m.Missing("nobody"); err == nil {
		t.Error("a server that is not there misses nothing")
	}
}

func TestSourceShowsNoArgument(t *testing.T) {
	t.Parallel()
	c, err := load(t, `{"schemaVersion":1,"servers":{"a":{"package":{"type":"npm","name":"@a/b","version":"1"},"args":["canary"]},
		"b":{"command":"y","args":["canary"]},"c":{"url":"https://example.com/canary"},"d":{"transport":"builtin"}}}`)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"npm:@a/b@1", "command y", "remote", "built in"} {
		if got := c.Entries()[i].Source(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
