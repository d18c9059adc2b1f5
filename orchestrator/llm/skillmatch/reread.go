package skillmatch

import (
	"encoding/json"
	"regexp"
	"strings"

	"airlock/orchestrator/llm"
)

// keptResult is where the agent keeps a result that it had to cut for the model.
var keptResult = regexp.MustCompile(`/workspace/\.airlock/[A-Za-z0-9_.-]+\.result\.json`)

// rereadCall is the call that reads the report alone out of a result that was cut.
// Only a skill's own run is read again, so that there is no third call.
func rereadCall(messages []llm.Message, result llm.ToolResult) (llm.Call, bool) {
	if result.IsError || answeredPath(messages, result.ID) == "" {
		return llm.Call{}, false
	}
	var fields struct{ Note string }
	if json.Unmarshal([]byte(result.Content.String()), &fields) != nil {
		return llm.Call{}, false
	}
	path := keptResult.FindString(fields.Note)
	if path == "" {
		return llm.Call{}, false
	}
	call, err := executeCall("javascript", `const { report, artifacts } = JSON.parse(await fs.readFile("`+path+`")); return { report, artifacts }`, len(messages))
	return call, err == nil
}

// cutReport is the beginning of a report that was too long even by itself. The
// agent cuts neither runes nor PII tokens, but it may cut an escape of JSON.
func cutReport(inner string) (string, bool) {
	rest, begins := strings.CutPrefix(inner, `{"report":"`)
	if !begins {
		return "", false
	}
	const longestEscape = len(`\ud83d\ude00`)
	for dropped := 0; dropped <= min(longestEscape, len(rest)); dropped++ {
		var report string
		if json.Unmarshal([]byte(`"`+rest[:len(rest)-dropped]+`"`), &report) == nil {
			return report + "\n\n(The report is longer than can be shown here.)", true
		}
	}
	return "", false
}
