package discovery

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// realTools returns the tools of real servers, which are data kept outside the
// project. Without them a test is skipped, except in CI, where their absence is an
// error.
func realTools(tb testing.TB) []realTool {
	tb.Helper()
	all := allRealTools()
	if len(all) == 0 {
		missing := "no tool lists in " + testData() + "; set AIRLOCK_TESTDATA to the folder that holds mcp-tools"
		if os.Getenv("CI") == "true" {
			tb.Fatal(missing)
		}
		tb.Skip(missing)
	}
	return all
}

func testData() string {
	if dir := os.Getenv("AIRLOCK_TESTDATA"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "shared", "data")
}

// allRealTools reads the lists, none if they are absent. One that cannot be read
// counts as absent.
var allRealTools = sync.OnceValue(func() []realTool {
	files, err := filepath.Glob(filepath.Join(testData(), "mcp-tools", "*.json"))
	if err != nil {
		return nil
	}
	var all []realTool
	for _, file := range files {
		list, err := readToolList(file)
		if err != nil {
			return nil
		}
		all = append(all, list...)
	}
	return all
})

func readToolList(file string) ([]realTool, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var list struct{ Tools []realTool }
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	server := strings.TrimSuffix(filepath.Base(file), ".json")
	for i := range list.Tools {
		list.Tools[i].full = server + separator + list.Tools[i].Name
	}
	return list.Tools, nil
}

func (r realTool) tool() servers.Tool {
	server, name, _ := strings.Cut(r.full, separator)
	return servers.Tool{
		Server: server, Name: name,
		Title: pii.NewRaw(r.Title), Description: pii.NewRaw(r.Description),
		InputSchema: pii.NewRaw(string(r.InputSchema)), OutputSchema: pii.NewRaw(string(r.OutputSchema)),
	}
}

// realIndex is the index over the real tools, made once, since that takes seconds
// under the race detector.
func realIndex(tb testing.TB) *Index {
	tb.Helper()
	realTools(tb) // skips
	ix, err := sharedIndex()
	if err != nil {
		tb.Fatal(err)
	}
	return ix
}

var sharedIndex = sync.OnceValues(func() (*Index, error) {
	var tools []servers.Tool
	for _, r := range allRealTools() {
		tools = append(tools, r.tool())
	}
	return NewIndex(tools)
})
