package orchestrator

import (
	"flag"
	"os"
	"testing"

	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
)

var update = flag.Bool("update", false, "write golden files anew")

// The prompt is part of how airlock behaves: a change to it is to be seen. That it has
// at most 1,500 tokens is tested in test/contextcost, with a real tokenizer.
func TestSystemPromptIsAsRecorded(t *testing.T) {
	t.Parallel()
	const path = "testdata/system_prompt_v1.txt"
	script := llmtest.NewScript(llmtest.Turn{Text: "Done."})
	runTask(t, newTestService(t, script, nil), TaskRequest{User: user, Text: pii.NewRaw("Do it.")})
	got := script.Requests()[0].System.String()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; look, then run with -update. Got:\n%s", path, got)
	}
}
