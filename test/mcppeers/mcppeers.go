// Package mcppeers finds the MCP hosts and suites of npm that tests run against, and
// the Node that they need, all in test/mcp; make deps installs them. Tests only.
package mcppeers

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var update = flag.Bool("update-conformance", false, "write the tables of docs/CONFORMANCE.md anew")

// root is where the packages are. The source file's own place tells, wherever a test
// runs.
func root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "mcp", "node_modules")
}

// Node is the program that runs the packages, which want a newer one than most
// machines have.
func Node(tb testing.TB) string {
	tb.Helper()
	found, err := filepath.Glob(filepath.Join(root(), "node-*", "bin", "node"))
	if err != nil || len(found) == 0 {
		tb.Fatalf("there is no Node in test/mcp; make deps installs it (Linux on x64 and arm64)")
	}
	return found[0]
}

// Script is a file of a package.
func Script(tb testing.TB, path string) string {
	tb.Helper()
	full := filepath.Join(root(), filepath.FromSlash(path))
	if _, err := os.Stat(full); err != nil {
		tb.Fatalf("%s is not installed; make deps does that", path)
	}
	return full
}

// HoldTable compares rows with those between the marks of that name in a document, or
// with -update-conformance writes them there.
func HoldTable(tb testing.TB, document, name string, rows []string) {
	tb.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		tb.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->"
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		tb.Fatalf("%s has no %q and %q", document, begin, end)
	}
	head, _, _ := strings.Cut(old, "|---")
	lines := strings.SplitAfter(old, "\n")
	if len(lines) < 2 || head == "" {
		tb.Fatalf("%s: the table %s has no head", document, name)
	}
	table := lines[0] + lines[1] + strings.Join(rows, "\n") + "\n"
	switch {
	case table == old:
	case *update:
		if err := os.WriteFile(document, []byte(before+begin+table+end+after), 0o600); err != nil {
			tb.Fatal(err)
		}
	default:
		tb.Errorf("%s is not what was found; make conformance writes it anew:\n%s", document, table)
	}
}
