package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Arguments are JSON as a script wrote it, where C1 controls and those that reorder
// text may stand as they are.
func TestWhoIsAskedSeesAllOfACall(t *testing.T) {
	t.Parallel()
	terminal, err := os.Create(filepath.Join(t.TempDir(), "terminal"))
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	typed := make(chan string, 1)
	typed <- "n"
	a := &asker{tty: terminal, lines: typed}
	call := &approval{Tool: "mail__send\x1b[2J", Arguments: json.RawMessage("{\"to\":\"ä\u009b2K\u202eelpmaxe\u2066\u200b\"}"), Releases: []string{"EMAIL"}}
	if _, err := a.ask(context.Background(), call); err != nil {
		t.Fatal(err)
	}
	shown, err := os.ReadFile(terminal.Name())
	if err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexAny(string(shown), "\x1b\u009b\u202e\u2066\u200b"); i >= 0 {
		t.Errorf("the terminal is sent %q", shown)
	}
	for _, want := range []string{`mail__send\u001b[2J`, `{"to":"ä\u009b2K\u202eelpmaxe\u2066\u200b"}`} {
		if !strings.Contains(string(shown), want) {
			t.Errorf("%q is not in %q", want, shown)
		}
	}
}
