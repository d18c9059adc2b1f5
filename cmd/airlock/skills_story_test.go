package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
)

// regionShare is a skill as a model writes it.
const regionShare = `// Tells which share of the revenue each region has.
// Keywords: share of revenue by region, regional share, revenue share
// Example: return await require("/skills/region_share.js")({})
// Test: return (await require("/skills/region_share.js")({})).report.includes("%")
module.exports = async function regionShare() {
  const rows = await callMCPTool("database__query", { query: "SELECT region, SUM(amount) AS total FROM sales GROUP BY region ORDER BY total DESC" });
  const sum = rows.reduce((a, r) => a + r.total, 0);
  return { report: rows.map((r) => "- " + r.region + ": " + (100 * r.total / sum).toFixed(1) + " %").join("\n") };
};
`

// TestWhatOneTaskLearnsAnotherUses has a model write a skill in one task, find and use
// it in the next, in a session of its own, and a third task, worded differently, be
// answered by the skill alone.
func TestWhatOneTaskLearnsAnotherUses(t *testing.T) {
	t.Parallel()
	write, err := json.Marshal("await fs.writeFile('/skills/region_share.js', " + quoteJS(t, regionShare) + "); return await require('/skills/region_share.js')({})")
	if err != nil {
		t.Fatal(err)
	}
	model := llmtest.NewServer(t,
		llmtest.Turn{Calls: []llm.Call{{ID: "c1", Name: "execute_code", Arguments: `{"code":` + string(write) + `}`}}},
		llmtest.Turn{Text: "Done, and kept as a skill."},
		llmtest.Turn{Calls: []llm.Call{{ID: "c2", Name: "execute_code", Arguments: `{"code":"return await require(\"/skills/region_share.js\")({})"}`}}},
		llmtest.Turn{Text: "As the skill says."},
	)
	dir := t.TempDir()
	played := func(skillsFirst bool) func(*Config) {
		return func(c *Config) {
			c.DataDir, c.SkillsFirst = dir, skillsFirst
			c.LLMProvider, c.LLMAPIKey, c.LLMBaseURL, c.LLMModel = "openai", "key", model.OpenAIURL(), "m"
		}
	}
	c := openSystem(t, played(false))
	first := c.task(t, "user123", "Work out the regions' shares, and keep the code for later")
	if first.Status != "completed" || !strings.Contains(string(first.Output), " %") {
		t.Fatalf("the first task ended %+v", first)
	}
	second := c.task(t, "user123", "What is each region's share of revenue?")
	requests := model.Requests()
	if second.Status != "completed" || second.SessionID == first.SessionID || len(requests) != 4 {
		t.Fatalf("the second task ended %+v after %d requests", second, len(requests))
	}
	if asked := string(requests[2]); !strings.Contains(asked, "- /skills/region_share.js (user-made): Tells which share of the revenue each region has.") {
		t.Error("the second task's model was not told of the skill")
	}
	if !strings.Contains(string(second.Output), " %") {
		t.Errorf("the skill gave %s", second.Output)
	}

	third := openSystem(t, played(true)).task(t, "user123", "show me the regional share")
	if third.Status != "completed" || !strings.Contains(third.Message, " %") {
		t.Errorf("the third task ended %+v", third)
	}
	if n := len(model.Requests()); n != 4 {
		t.Errorf("the model was asked %d times, of which %d by the third task", n, n-4)
	}
	var kept skill
	if err := c.do(t.Context(), "/skills/region_share?userId=user123", nil, &kept); err != nil || kept.Runs == nil || kept.Runs.Count != 3 || kept.Runs.Failures != 0 {
		t.Errorf("its runs are %+v, %v; the writing script ran it too", kept.Runs, err)
	}
	var history struct {
		Versions []struct {
			How, Task, Session string
			Tools              map[string]string
		}
	}
	if err := c.do(t.Context(), "/skills/region_share/history?userId=user123", nil, &history); err != nil {
		t.Fatal(err)
	}
	if len(history.Versions) != 1 || history.Versions[0].How != "script" || history.Versions[0].Task != first.TaskID ||
		history.Versions[0].Session != first.SessionID || history.Versions[0].Tools["database__query"] == "" {
		t.Errorf("its history is %+v", history)
	}
}

func quoteJS(t *testing.T, text string) string {
	t.Helper()
	quoted, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	return string(quoted)
}

// TestPythonSkillsOfTheLibraryVerify runs their examples and tests in containers; the
// story skills.txtar runs those of the others.
func TestPythonSkillsOfTheLibraryVerify(t *testing.T) {
	t.Parallel()
	c := openDockerSystem(t)
	for _, name := range []string{"chart-maker", "excel-report", "symbolic-computation"} {
		var answer struct {
			Passed bool
			Checks []ranCheck
		}
		body := map[string]any{"userId": "user123"}
		if err := c.send(t.Context(), http.MethodPost, "/skills/"+name+"/verify", body, &answer); err != nil || !answer.Passed || len(answer.Checks) != 2 {
			t.Errorf("%s: %+v, %v", name, answer, err)
		}
	}
	saved := c.executeIn(t, "", "python", "", `open("/skills/greet.py", "w").write('"""Greets."""\ndef run(input): return {"report": "hello"}\n'); result = 1`)
	if len(saved.Saved) != 1 {
		t.Errorf("a script in Python saved %v, refused %v", saved.Saved, saved.Refused)
	}
	if answer := c.task(t, "user123", "What is the derivative of x^3?"); !strings.Contains(answer.Message, "3*x**2") {
		t.Errorf("a task was answered %+v", answer)
	}
}
