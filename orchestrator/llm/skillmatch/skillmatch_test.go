package skillmatch

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"go.uber.org/goleak"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/llmtest"
	"airlock/pii"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newProvider(t *testing.T) *Provider {
	t.Helper()
	p, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ask(t *testing.T, r llm.Request) llmtest.Answer {
	t.Helper()
	got := llmtest.Collect(newProvider(t).Stream(t.Context(), r))
	if got.Err != nil || got.AfterEnd != 0 || got.Usage != (llm.Usage{}) {
		t.Fatalf("stream: %+v", got)
	}
	return got
}

func says(text pii.Tokenized) llm.Message {
	return llm.Message{Role: llm.User, Parts: []llm.Part{llm.Text{Text: text}}}
}

var (
	summary  = llm.Skill{Path: "/skills/library/sales-summary/main.js", Name: pii.Static("sales-summary"), Description: pii.Static("Totals of sales.\nMore."), Language: "javascript", Confidence: 0.9}
	trend    = llm.Skill{Path: "/skills/library/monthly-trend/main.js", Name: pii.Static("monthly-trend"), Description: pii.Static("Sales by month."), Language: "javascript", Confidence: 0.4}
	charts   = llm.Skill{Path: "/skills/library/chart/main.py", Name: pii.Static("chart-maker"), Description: pii.Static("Charts."), Language: "python", Confidence: 0.95}
	handbook = llm.Skill{Path: "/skills/handbook/SKILL.md", Name: pii.Static("hand-book"), Confidence: 0.99}
)

func at(s llm.Skill, confidence float64) llm.Skill {
	s.Confidence = confidence
	return s
}

func needing(s llm.Skill, inputs ...string) llm.Skill {
	s.Missing = inputs
	return s
}

func stale(s llm.Skill) llm.Skill {
	s.Stale = true
	return s
}

func TestRunsAPythonSkill(t *testing.T) {
	t.Parallel()
	chart := charts
	chart.Input = pii.Static(`{"kind":"bar"}`)
	got := ask(t, llm.Request{Messages: []llm.Message{says(pii.Static("it's \"a\" \\ chart"))}, Skills: []llm.Skill{chart}})
	if len(got.Calls) != 1 {
		t.Fatalf("got %+v", got)
	}
	var arguments map[string]string
	if err := json.Unmarshal([]byte(got.Calls[0].Arguments), &arguments); err != nil {
		t.Fatal(err)
	}
	want := `import json, runpy; result = runpy.run_path("/skills/library/chart/main.py")["run"](json.loads("{\"kind\":\"bar\",\"task\":\"it's \\\"a\\\" \\\\ chart\"}"))`
	if arguments["language"] != "python" || arguments["code"] != want {
		t.Errorf("got %v\nwant %s", arguments, want)
	}
}

// TestFirstAsksAModelWhereNoSkillFits follows a task that a skill answers, one that
// none fits, and one whose skill fails.
func TestFirstAsksAModelWhereNoSkillFits(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		request llm.Request
		asked   bool
	}{
		"a skill fits":     {llm.Request{Messages: []llm.Message{says(pii.Static("sales"))}, Skills: []llm.Skill{summary}}, false},
		"none fits":        {llm.Request{Messages: []llm.Message{says(pii.Static("sales"))}, Skills: []llm.Skill{trend}}, true},
		"an input lacks":   {llm.Request{Messages: []llm.Message{says(pii.Static("sales"))}, Skills: []llm.Skill{needing(summary, "file")}}, true},
		"the skill is run": {conversation(llm.ToolResult{Content: pii.Static(`{"status":"ok","result":{"report":"42"}}`)}), false},
		"the skill failed": {conversation(llm.ToolResult{IsError: true, Content: pii.Static(`{"status":"error","error":"no table"}`)}), true},
		"the model's call": {llm.Request{Skills: []llm.Skill{summary}, Messages: []llm.Message{says(pii.Static("sales")),
			{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "call_1", Name: "execute_code", Arguments: pii.Static(`{}`)}}},
			{Role: llm.User, Parts: []llm.Part{llm.ToolResult{ID: "call_1", Content: pii.Static(`{"status":"ok"}`)}}}}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.NewScript(llmtest.Turn{Text: "from the model"})
			got := llmtest.Collect(First(newProvider(t), model).Stream(t.Context(), tt.request))
			if asked := len(model.Requests()) > 0; asked != tt.asked || got.Err != nil {
				t.Errorf("the model was asked: %v, want %v (%+v)", asked, tt.asked, got)
			}
		})
	}
}

func TestRunsTheSkillThatFits(t *testing.T) {
	t.Parallel()
	given := summary
	given.Input = pii.Static(`{"from":"2024-04-01","names":["quoted"]}`)
	r := llm.Request{Messages: []llm.Message{says(pii.Static("Sales of last month, \"quoted\" </b>"))}, Skills: []llm.Skill{given, trend}}
	got := ask(t, r)
	if got.Stop != llm.StopTools || len(got.Calls) != 1 || got.Text != "" {
		t.Fatalf("got %+v", got)
	}
	call := got.Calls[0]
	if call.Name != "execute_code" || call.ID == "" {
		t.Errorf("call %+v", call)
	}
	var arguments map[string]string
	if err := json.Unmarshal([]byte(call.Arguments), &arguments); err != nil {
		t.Fatal(err)
	}
	want := `return await require("/skills/library/sales-summary/main.js")({"from":"2024-04-01","names":["quoted"],"task":"Sales of last month, \"quoted\" </b>"})`
	if arguments["language"] != "javascript" || arguments["code"] != want {
		t.Errorf("arguments %v\nwant code %s", arguments, want)
	}
	if again := ask(t, r); again.Calls[0] != call {
		t.Errorf("asked again, the call differs: %+v", again.Calls[0])
	}
}

func TestChoosesOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		task   pii.Tokenized
		skills []llm.Skill
		runs   string   // path; empty: none
		says   []string // when none
		silent []string
	}{
		"the best is run even if it is not listed first": {
			task: pii.Static("sales"), skills: []llm.Skill{trend, summary}, runs: summary.Path},
		"the threshold itself suffices": {
			task: pii.Static("sales"), skills: []llm.Skill{at(summary, 0.6)}, runs: summary.Path},
		"below the threshold nothing is run": {
			task: pii.Static("write a poem"), skills: []llm.Skill{at(summary, 0.59), at(trend, 0.1)},
			says:   []string{"No skill fits", "sales-summary (fits 59 %): Totals of sales.", "monthly-trend", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "LLM_BASE_URL"},
			silent: []string{"More."}},
		"no more than three are named": {
			task: pii.Static("x"), skills: []llm.Skill{at(summary, .3), at(trend, .2), at(summary, .1), {Path: "/a.js", Language: "javascript", Name: pii.Static("fourth")}},
			says: []string{"sales-summary"}, silent: []string{"fourth"}},
		"a tie is told": {
			task: pii.Static("sales"), skills: []llm.Skill{at(summary, 0.8), at(trend, 0.78), at(summary, 0.1)},
			says: []string{"equally well", "sales-summary (fits 80 %)", "monthly-trend (fits 78 %)"}, silent: []string{"10 %"}},
		"a name in the task breaks the tie": {
			task: pii.Static("sales, use Monthly-Trend please"), skills: []llm.Skill{at(summary, 0.8), at(trend, 0.78)}, runs: trend.Path},
		"a name in the task outweighs the numbers": {
			task: pii.Static("monthly-trend"), skills: []llm.Skill{summary, at(trend, 0.01)}, runs: trend.Path},
		"part of a longer name is no name": {
			task: pii.Static("not monthly-trends nor my-monthly-trend"), skills: []llm.Skill{at(trend, 0.1)}, says: []string{"No skill fits"}},
		"two names decide nothing": {
			task: pii.Static("sales-summary or monthly-trend"), skills: []llm.Skill{at(summary, 0.1), at(trend, 0.1)}, says: []string{"No skill fits"}},
		"what has no code is not run": {
			task: pii.Static("hand-book"), skills: []llm.Skill{handbook}, says: []string{"No skill is installed", "ANTHROPIC_API_KEY"}},
		"what the task does not tell is asked for": {
			task: pii.Static("sales"), skills: []llm.Skill{needing(summary, "file")}, says: []string{"sales-summary fits", "what it needs: file"}},
		"a stale one is told as such": {
			task: pii.Static("sales"), skills: []llm.Skill{stale(at(summary, 0.5))}, says: []string{"from 60 % on", "its tools have changed"}},
		"without skills it says so": {
			task: pii.Static("sales"), says: []string{"No skill is installed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, llm.Request{Messages: []llm.Message{says(tt.task)}, Skills: tt.skills})
			if tt.runs != "" {
				if len(got.Calls) != 1 || !strings.Contains(got.Calls[0].Arguments, `require(\"`+tt.runs+`\")`) {
					t.Fatalf("did not run %s: %+v", tt.runs, got)
				}
				return
			}
			if len(got.Calls) != 0 || got.Stop != llm.StopEnd {
				t.Fatalf("ran something: %+v", got)
			}
			contains(t, got.Text, tt.says, tt.silent)
		})
	}
}

func contains(t *testing.T, text string, wanted, unwanted []string) {
	t.Helper()
	for _, w := range wanted {
		if !strings.Contains(text, w) {
			t.Errorf("no %q in:\n%s", w, text)
		}
	}
	for _, u := range unwanted {
		if strings.Contains(text, u) {
			t.Errorf("%q in:\n%s", u, text)
		}
	}
}

// conversation is a run of the sales summary with this result.
func conversation(result llm.ToolResult) llm.Request {
	result.ID = "skill_1"
	return llm.Request{Skills: []llm.Skill{summary}, Messages: []llm.Message{
		says(pii.Static("sales")),
		{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "skill_1", Name: "execute_code",
			Arguments: pii.Static(`{"language":"javascript","code":"return await require(\"/skills/library/sales-summary/main.js\")({})"}`)}}},
		{Role: llm.User, Parts: []llm.Part{result}},
	}}
}

func TestAnswersWithWhatTheSkillReturned(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		result llm.ToolResult
		want   string
	}{
		"a report": {llm.ToolResult{Content: pii.Static(`{"status":"ok","result":{"report":"# Sales\n42","total":42},"stdout":""}`)},
			"# Sales\n42"},
		"a report without an envelope": {llm.ToolResult{Content: pii.Static(`{"report":"# Sales","status":"shipped"}`)},
			"# Sales"},
		"a report within a string": {llm.ToolResult{Content: pii.Static(`{"status":"ok","result":"{\"report\":\"# Sales\"}"}`)},
			"# Sales"},
		"a report and new files": {llm.ToolResult{Content: pii.Static(`{"status":"ok","result":{"report":"See trend.csv"},"artifacts":[{"name":"trend.csv","size":1},{"name":"end.csv"}]}`)},
			"See trend.csv\n\nFiles: end.csv"},
		"files of the result": {llm.ToolResult{Content: pii.Static(`{"result":{"report":"Done.","artifacts":["a.csv","a.csv"]}}`)},
			"Done.\n\nFiles: a.csv"},
		"a text": {llm.ToolResult{Content: pii.Static(`{"status":"ok","result":"it is 42"}`)},
			"it is 42"},
		"plain text": {llm.ToolResult{Content: pii.Static("it is 42")},
			"it is 42"},
		"rows": {llm.ToolResult{Content: pii.Static(`{"status":"ok","result":[{"name":"a|b","n":12345678901234567890},{"name":"c","n":null}]}`)},
			"| name | n |\n| --- | --- |\n| a\\|b | 12345678901234567890 |\n| c |  |"},
		"rows that differ": {llm.ToolResult{Content: pii.Static(`{"status":"ok","result":[{"a":1},{"b":2}]}`)},
			"```json\n[\n  {\n    \"a\": 1\n  },\n  {\n    \"b\": 2\n  }\n]\n```"},
		"an object": {llm.ToolResult{Content: pii.Static(`{"status":"shipped","total":42}`)},
			"```json\n{\n  \"status\": \"shipped\",\n  \"total\": 42\n}\n```"},
		"nothing": {llm.ToolResult{Content: pii.Static(`{"status":"ok","stdout":"x"}`)},
			"The skill sales-summary ran, but it reported nothing."},
		"an error": {llm.ToolResult{IsError: true, Content: pii.Static(`{"status":"error","error":{"name":"TypeError","message":"x is not a function","hint":"look at line 3"}}`)},
			"The skill sales-summary failed, so there is no result.\n\nReason: TypeError: x is not a function\nHint: look at line 3"},
		"an error that is not marked": {llm.ToolResult{Content: pii.Static(`{"status":"error","error":"no such table"}`)},
			"The skill sales-summary failed, so there is no result.\n\nReason: no such table"},
		"an error beside a partial result": {llm.ToolResult{Content: pii.Static(`{"status":"ok","result":{"report":"half"},"error":{"code":"artifact_lost","message":"disk full"}}`)},
			"The skill sales-summary failed, so there is no result.\n\nReason: disk full (artifact_lost)"},
		"a timeout": {llm.ToolResult{IsError: true, Content: pii.Static(`{"status":"timeout"}`)},
			"The skill sales-summary failed, so there is no result.\n\nReason: it ended with status timeout"},
		"a timeout with words": {llm.ToolResult{IsError: true, Content: pii.Static(`{"status":"timeout","error":{"message":"after 30 s"}}`)},
			"The skill sales-summary failed, so there is no result.\n\nReason: timeout: after 30 s"},
		"an error in plain text": {llm.ToolResult{IsError: true, Content: pii.Static("sandbox is gone\n\ntrace")},
			"The skill sales-summary failed, so there is no result.\n\nReason: sandbox is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ask(t, conversation(tt.result))
			stop := llm.StopEnd
			if strings.Contains(tt.want, "failed, so there is no result") {
				stop = llm.StopFailed
			}
			if got.Text != tt.want || got.Stop != stop || len(got.Calls) != 0 {
				t.Errorf("got %q\nwant %q (%+v)", got.Text, tt.want, got)
			}
		})
	}
}

func TestACutResultIsReadAgainForItsReport(t *testing.T) {
	t.Parallel()
	r := conversation(llm.ToolResult{Content: pii.Static(`{"status":"ok","result":"{\"rows\":[1,2,3","note":"result.json is cut here at 15 of 99999 bytes; all of it is in /workspace/.airlock/exec_1.result.json."}`)})
	got := ask(t, r)
	if len(got.Calls) != 1 || got.Calls[0].ID == "skill_1" {
		t.Fatalf("got %+v", got)
	}
	if want := `JSON.parse(await fs.readFile(\"/workspace/.airlock/exec_1.result.json\")`; !strings.Contains(got.Calls[0].Arguments, want) {
		t.Errorf("no %s in %s", want, got.Calls[0].Arguments)
	}
	read := func(result llm.ToolResult) string {
		result.ID = "skill_3"
		again := r
		again.Messages = append(again.Messages[:3:3],
			llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.ToolUse{ID: "skill_3", Name: "execute_code", Arguments: pii.Static(`{"language":"javascript","code":"const { report } = 1"}`)}}},
			llm.Message{Role: llm.User, Parts: []llm.Part{result}})
		answer := ask(t, again)
		if len(answer.Calls) != 0 {
			t.Errorf("called again: %+v", answer.Calls)
		}
		return answer.Text
	}
	if text := read(llm.ToolResult{Content: pii.Static(`{"status":"ok","result":{"report":"# Rows","artifacts":["r.md"]}}`)}); text != "# Rows\n\nFiles: r.md" {
		t.Errorf("got %q", text)
	}
	long := pii.Static(`{"status":"ok","result":"{\"report\":\"# Rows\\n\\u00","artifacts":["r.md"],"note":"all of it is in /workspace/.airlock/exec_2.result.json."}`)
	if text := read(llm.ToolResult{Content: long}); text != "# Rows\n\n\n(The report is longer than can be shown here.)\n\nFiles: r.md" {
		t.Errorf("got %q", text)
	}
	if text := read(llm.ToolResult{IsError: true, Content: pii.Static(`{"status":"error","error":{"message":"no such file"}}`)}); !strings.HasPrefix(text, "The skill sales-summary failed") {
		t.Errorf("got %q", text)
	}
}

func TestAnEarlierResultDoesNotAnswerANewTask(t *testing.T) {
	t.Parallel()
	r := conversation(llm.ToolResult{Content: pii.Static(`{"result":{"report":"old"}}`)})
	r.Messages = append(r.Messages, llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.Text{Text: pii.Static("old")}}}, says(pii.Static("and of 2023?")))
	r.Skills[0].Input = pii.Static(`{"from":"2023-01-01"}`)
	got := ask(t, r)
	if len(got.Calls) != 1 || !strings.Contains(got.Calls[0].Arguments, "2023-01-01") {
		t.Fatalf("got %+v", got)
	}
	if got.Calls[0].ID == "skill_1" {
		t.Error("the second call has the first one's id")
	}
}

func TestLongResultsAreCutAtLines(t *testing.T) {
	t.Parallel()
	long := "[" + strings.TrimSuffix(strings.Repeat(`{"token":"[EMAIL_1_k7q2f]","list":[]},`, 100), ",") + "]"
	got := report([]byte(long))
	if !strings.Contains(got, "more lines)") || strings.Count(got, "\n") > maxLines+3 {
		t.Errorf("not cut: %d lines", strings.Count(got, "\n"))
	}
	if strings.Count(got, "[EMAIL_1_k7q2f]") != strings.Count(got, "[EMAIL") {
		t.Error("a token was cut")
	}
	rows := "[" + strings.TrimSuffix(strings.Repeat(`{"n":1},`, 30), ",") + "]"
	if got := report([]byte(rows)); !strings.HasSuffix(got, "\n10 more rows") {
		t.Errorf("got %s", got)
	}
}

func TestNewRefusesWhatIsNoShare(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{Threshold: 1.1}, {Threshold: -0.1}, {Margin: 2}, {Margin: -1}} {
		if _, err := New(o); err == nil {
			t.Errorf("New(%+v) accepted", o)
		}
	}
}

func TestAnEndedRequestIsNotAnswered(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := llmtest.Collect(newProvider(t).Stream(ctx, llm.Request{}))
	if !errors.Is(got.Err, context.Canceled) || got.Text != "" {
		t.Errorf("got %+v", got)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(`{"status":"ok","result":[{"a":1}],"artifacts":[{"name":"x"}]}`)
	f.Add(`{"error":{"message":1}}`)
	f.Add("{\"report\":\"\\u0000\"}")
	f.Fuzz(func(t *testing.T, content string) {
		out := readOutcome(content)
		if out.failed() && len(out.Error) == 0 && out.Status == "" {
			t.Errorf("%q failed without error or status", content)
		}
		if text := report(out.Result); strings.TrimSpace(content) != "" && text == "" && len(out.Result) > len(`""`) && string(out.Result) != "null" {
			t.Errorf("%q: a result without an answer", content)
		}
		if strings.Trim(content, " \n\t\r") == "" || !utf8.ValidString(content) {
			return
		}
		whole, err := json.Marshal(map[string]any{"status": "ok", "result": map[string]string{"report": content}})
		if err != nil {
			t.Fatal(err)
		}
		if got := report(readOutcome(string(whole)).Result); got != content {
			t.Errorf("the report %q became %q", content, got)
		}
	})
}
