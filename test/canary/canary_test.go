// Package canary drives whole tasks through the built program with personal data
// made at random, and looks for every value in all that leaves: what the model was
// sent, answers for a model's side, the log, the audit, the disk.
//
// The program runs as a process, with its real sandbox; the model is played from a
// script and an MCP server is part of the test. Each value is planted at one
// crossing only, so that a leak names where it came from.
package canary

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
)

// rounds is how many tasks are driven, each with values of its own seed.
const rounds = 3

func TestNoValueLeaves(t *testing.T) {
	t.Parallel()
	program := build(t)
	for _, mode := range []string{"sealed", "open"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			plant := newPlanting()
			shop := newShop(t, plant)
			var turns []llmtest.Turn
			for n := range rounds {
				turns = append(turns, conversation(t, n)...)
			}
			model := llmtest.NewServer(t, turns...)
			a := start(t, program, mode, shop.url, model)
			for n := range rounds {
				a.drive(n, plant)
			}
			a.stop()
			for i, body := range model.Requests() {
				plant.search(t, place{what: fmt.Sprintf("request %d to the model", i+1)}, body)
			}
			plant.search(t, place{what: "the log"}, a.log.Bytes())
			for where, text := range a.answers {
				plant.search(t, place{what: where}, text)
			}
			a.searchDisk(plant, mode)
			shop.checkReleased(t)
			if n := bytes.Count(bytes.Join(model.Requests(), nil), []byte("[EMAIL_")); n < 10*rounds {
				t.Errorf("the model was sent %d tokens of addresses: the values were not asked for", n)
			}
		})
	}
}

// conversation is what the model answers to the task of round n.
func conversation(t *testing.T, n int) []llmtest.Turn {
	t.Helper()
	turns := []llmtest.Turn{{Calls: []llm.Call{
		{ID: "list", Name: "list_mcp_tools", Arguments: `{"detail":"full","server":"crm"}`},
		{ID: "details", Name: "get_mcp_tool_details", Arguments: `{"name":"crm__lookup"}`},
		{ID: "none", Name: "get_mcp_tool_details", Arguments: `{"name":"crm__none"}`},
	}}}
	for i, code := range scripts(n) {
		arguments, err := json.Marshal(map[string]string{"language": "javascript", "code": code})
		if err != nil {
			t.Fatal(err)
		}
		turns = append(turns, llmtest.Turn{Calls: []llm.Call{{ID: fmt.Sprint("run", i), Name: "execute_code", Arguments: string(arguments)}}})
	}
	return append(turns, llmtest.Turn{Text: "All is in the file."})
}

// drive posts the task of round n, and runs the same scripts as somebody's own
// agent would, whose answers are for a model's side.
func (a *airlock) drive(n int, plant *planting) {
	var task strings.Builder
	for i, v := range plant.values("the task", n) {
		task.WriteString(v.Sentence(uint64(i)) + "\n")
	}
	user := fmt.Sprintf("user%d", n)
	var answer struct {
		Status, Message string
		Output          json.RawMessage
		Error           *struct{ Message string }
		Artifacts       []struct{ Name string }
	}
	if err := json.Unmarshal(a.post("/task", map[string]any{"userId": user, "task": task.String()}), &answer); err != nil {
		a.t.Fatal(err)
	}
	if answer.Status != "completed" {
		a.t.Fatalf("task %d ended %s: %v", n, answer.Status, answer.Error)
	}
	if first := plant.values("rows", n)[0].Text; !strings.Contains(string(answer.Output), first) {
		a.t.Errorf("the user's output of task %d does not hold the real value of a row: %.300s", n, answer.Output)
	}
	for i, code := range scripts(n) {
		answer := a.post("/execute", map[string]any{"userId": user + "agent", "code": code})
		var ended struct{ Status string }
		if err := json.Unmarshal(answer, &ended); err != nil || i < 3 && ended.Status != "ok" {
			a.t.Errorf("script %d of task %d ended %q, %v: %.600s", i, n, ended.Status, err, answer)
		}
		a.answers[fmt.Sprintf("the answer of /execute to script %d of task %d", i, n)] = answer
	}
	for _, path := range []string{"/tools?detail=full", "/tools/crm__lookup", "/tools/crm__none", "/skills?userId=" + user} {
		a.answers["the answer of "+path] = a.get(path)
	}
}
