package mcpserver

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"airlock/test/mcppeers"
)

// How often the suite is run, each time in full: a notification that is lost once in
// a while shows itself by then.
var conformanceRuns = flag.Int("conformance-runs", 1, "how often to run the conformance suite")

// conformanceSuite is the part of the suite that is run: all scenarios for servers of
// the newest stable revision that it knows, those it calls pending included.
const conformanceSuite = "all"

// TestConformance runs the protocol's own suite against airlock's server with the
// suite's tools added, and holds docs/CONFORMANCE.md against what it finds.
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a program of npm; run without -short")
	}
	t.Parallel()
	face := newFace(t, returns("1"))
	addFixtures(face)
	url := serveHTTP(t, face)
	var first []scenario
	for run := range *conformanceRuns {
		found := runConformance(t, url)
		for _, s := range found {
			if s.failed > 0 || s.warned > 0 || s.passed == 0 {
				t.Errorf("run %d: %s: %d passed, %d failed, %d warned: %s", run+1, s.name, s.passed, s.failed, s.warned, strings.Join(s.why, "; "))
			}
		}
		if run == 0 {
			first = found
		} else if len(found) != len(first) {
			t.Errorf("run %d has %d scenarios, the first had %d", run+1, len(found), len(first))
		}
	}
	var rows []string
	checks := 0
	for _, s := range first {
		rows = append(rows, fmt.Sprintf("| `%s` | %d |", s.name, s.passed))
		checks += s.passed
	}
	rows = append(rows, fmt.Sprintf("| **%d scenarios** | **%d** |", len(first), checks))
	mcppeers.HoldTable(t, "../../docs/CONFORMANCE.md", "server", rows)
}

// scenario is what the suite found in one of its scenarios.
type scenario struct {
	name                   string
	passed, failed, warned int
	why                    []string
}

func runConformance(t *testing.T, url string) []scenario {
	t.Helper()
	dir := t.TempDir()
	command := exec.CommandContext(t.Context(), mcppeers.Node(t), mcppeers.Script(t, "@modelcontextprotocol/conformance/dist/index.js"),
		"server", "--url", url, "--suite", conformanceSuite, "--output-dir", dir)
	out, err := command.CombinedOutput()
	results, globErr := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if globErr != nil || len(results) == 0 {
		t.Fatalf("the suite left no results: %v %v\n%s", err, globErr, out)
	}
	var all []scenario
	for _, path := range results {
		all = append(all, readChecks(t, path))
	}
	slices.SortFunc(all, func(a, b scenario) int { return strings.Compare(a.name, b.name) })
	return all
}

// runTime is the end of a folder's name.
var runTime = regexp.MustCompile(`-\d{4}-\d\d-\d\dT[\d-]+Z$`)

func readChecks(t *testing.T, path string) scenario {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct{ ID, Status, ErrorMessage string }
	if err := json.Unmarshal(text, &checks); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	s := scenario{name: runTime.ReplaceAllString(strings.TrimPrefix(filepath.Base(filepath.Dir(path)), "server-"), "")}
	for _, c := range checks {
		switch c.Status {
		case "SUCCESS":
			s.passed++
		case "FAILURE":
			s.failed++
			s.why = append(s.why, c.ID+": "+c.ErrorMessage)
		case "WARNING":
			s.warned++
			s.why = append(s.why, c.ID+": "+c.ErrorMessage)
		}
	}
	return s
}
