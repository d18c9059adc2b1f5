package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEraseGoesThroughTheServer erases a user beside a serving process, which has the
// store, and asks that one what is left.
func TestEraseGoesThroughTheServer(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "air") // a short path, for the socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	_, c := serveMCPOnLoopback(t, func(c *Config) { c.DataDir = dir })
	for _, user := range []string{"ann", "bob"} {
		if err := c.do(t.Context(), "/execute", map[string]any{"userId": user, "language": "javascript", "code": leaveFile}, &executed{}); err != nil {
			t.Fatal(err)
		}
	}
	erase := func(user string) string {
		path, environ := program(t)
		command := exec.CommandContext(t.Context(), path, "erase", user)
		command.Env = append(environ, "DATA_DIR="+dir)
		out, _ := command.CombinedOutput() // a failure shows in what it says
		return string(out)
	}
	if got := erase("ann"); !strings.Contains(got, "erased everything of ann") {
		t.Errorf("erase said %s", got)
	}
	for user, left := range map[string]int{"ann": 0, "bob": 1} {
		var list struct{ Count int }
		if err := c.do(t.Context(), "/artifacts/"+user, nil, &list); err != nil || list.Count != left {
			t.Errorf("%s has %d artifacts, %v; want %d", user, list.Count, err, left)
		}
	}
	hide := func(from, to string) {
		if err := os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)); err != nil {
			t.Fatal(err)
		}
	}
	hide("control.sock", "hidden.sock")
	defer hide("hidden.sock", "control.sock")
	if got := erase("bob"); !strings.Contains(got, "another airlock process has the store of DATA_DIR") {
		t.Errorf("beside a server that cannot be reached, erase said %s", got)
	}
}
