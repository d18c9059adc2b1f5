package discovery

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"airlock/pii"
	"airlock/servers"
)

// realTool is one tool as a real server listed it.
type realTool struct {
	Name         string
	Title        string
	Description  string
	InputSchema  json.RawMessage
	OutputSchema json.RawMessage

	full string
}

// realTools reads the tool lists of real servers, which are data kept outside the
// project. Without them a test is skipped, except in CI, where their absence is an
// error.
func realTools(tb testing.TB) []realTool {
	tb.Helper()
	dir := os.Getenv("AIRLOCK_TESTDATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	files, err := filepath.Glob(filepath.Join(dir, "mcp-tools", "*.json"))
	if err != nil {
		tb.Fatal(err)
	}
	if len(files) == 0 {
		missing := "no tool lists in " + dir + "; set AIRLOCK_TESTDATA to the folder that holds mcp-tools"
		if os.Getenv("CI") == "true" {
			tb.Fatal(missing)
		}
		tb.Skip(missing)
	}
	var all []realTool
	for _, file := range files {
		all = append(all, readToolList(tb, file)...)
	}
	return all
}

func readToolList(tb testing.TB, file string) []realTool {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var list struct{ Tools []realTool }
	if err := json.Unmarshal(data, &list); err != nil {
		tb.Fatalf("%s: %v", file, err)
	}
	server := strings.TrimSuffix(filepath.Base(file), ".json")
	for i := range list.Tools {
		list.Tools[i].full = server + separator + list.Tools[i].Name
	}
	return list.Tools
}

func (r realTool) tool() servers.Tool {
	server, name, _ := strings.Cut(r.full, separator)
	return servers.Tool{
		Server: server, Name: name,
		Title: pii.NewRaw(r.Title), Description: pii.NewRaw(r.Description),
		InputSchema: pii.NewRaw(string(r.InputSchema)), OutputSchema: pii.NewRaw(string(r.OutputSchema)),
	}
}

func realIndex(tb testing.TB) *Index {
	tb.Helper()
	var tools []servers.Tool
	for _, r := range realTools(tb) {
		tools = append(tools, r.tool())
	}
	ix, err := NewIndex(tools)
	if err != nil {
		tb.Fatal(err)
	}
	return ix
}
