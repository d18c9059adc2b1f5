package servers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// What real servers sent as schemas reaches callers byte for byte. The lists are
// data kept outside the project.
func TestRealSchemasSurviveByteForByte(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("AIRLOCK_TESTDATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "shared", "data")
	}
	files, err := filepath.Glob(filepath.Join(dir, "mcp-tools", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		missing := "no tool lists in " + dir + "; set AIRLOCK_TESTDATA to the folder that holds mcp-tools"
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	tools := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var page toolPage
		if err := json.Unmarshal(data, &page); err != nil {
			t.Fatal(err)
		}
		for _, raw := range page.Tools {
			tools++
			var sent map[string]json.RawMessage
			if err := json.Unmarshal(raw, &sent); err != nil {
				t.Fatal(err)
			}
			tool, err := toolOf("real", raw)
			if err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
				continue
			}
			if told(t, tool.InputSchema) != string(sent["inputSchema"]) || told(t, tool.OutputSchema) != string(sent["outputSchema"]) {
				t.Errorf("%s: the schemas of %s were changed", filepath.Base(file), tool.Name)
			}
		}
	}
	if tools != 913 {
		t.Errorf("%d tools, the data has 913", tools)
	}
}
