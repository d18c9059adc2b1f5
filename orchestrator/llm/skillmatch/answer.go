package skillmatch

import (
	"encoding/json"
	"slices"
	"strings"

	"airlock/orchestrator/llm"
)

// outcome is what an execution's result says. The fields are those that the
// agent and POST /execute answer with; all of them may be missing.
type outcome struct {
	Status    string          `json:"status"`
	Result    json.RawMessage `json:"result"`
	Error     json.RawMessage `json:"error"`
	Artifacts json.RawMessage `json:"artifacts"`
}

// answer turns the result of running the skill name into the user's answer, and
// says whether the skill did its work.
func answer(name string, result llm.ToolResult) (text string, stop llm.StopReason) {
	if name == "" {
		name = "The script"
	} else {
		name = "The skill " + name
	}
	content := strings.TrimSpace(result.Content.String())
	out := readOutcome(content)
	if result.IsError || out.failed() {
		return failure(name, out, content), llm.StopFailed
	}
	text = report(out.Result)
	if text == "" {
		text = name + " ran, but it reported nothing."
	}
	return text + artifactLine(text, out), llm.StopEnd
}

// readOutcome takes apart what the tool answered. Whatever is not an outcome is
// the result itself.
func readOutcome(content string) outcome {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(content), &fields) != nil {
		if content == "" {
			return outcome{}
		}
		return outcome{Result: jsonOf(content)}
	}
	if !isOutcome(fields) {
		return outcome{Result: json.RawMessage(content), Artifacts: fields["artifacts"]}
	}
	return outcome{Status: text(fields["status"]), Result: unquoted(fields["result"]), Error: fields["error"], Artifacts: fields["artifacts"]}
}

// isOutcome tells an execution's outcome from a skill's own result.
func isOutcome(fields map[string]json.RawMessage) bool {
	if fields["report"] != nil {
		return false
	}
	_, known := statuses[text(fields["status"])]
	return known || fields["result"] != nil || fields["error"] != nil || fields["stdout"] != nil
}

// statuses are those of executions and tasks; false means that it failed.
var statuses = map[string]bool{
	"ok": true, "completed": true,
	"error": false, "timeout": false, "memory": false, "output": false,
	"killed": false, "cancelled": false, "failed": false,
}

// jsonOf returns content as JSON: itself, or as a string.
func jsonOf(content string) json.RawMessage {
	if json.Valid([]byte(content)) {
		return json.RawMessage(content)
	}
	quoted, err := compactJSON(content)
	if err != nil {
		return nil
	}
	return json.RawMessage(quoted)
}

// unquoted opens a result that is an object or array within a string, as results
// are when they went through text.
func unquoted(result json.RawMessage) json.RawMessage {
	inner := strings.TrimSpace(text(result))
	if begun, cut := cutReport(inner); cut && !json.Valid([]byte(inner)) {
		return jsonOf(begun)
	}
	if strings.HasPrefix(inner, "{") || strings.HasPrefix(inner, "[") {
		return jsonOf(inner)
	}
	return result
}

// failed reports whether the execution did not end as it should.
func (o outcome) failed() bool {
	if len(o.Error) > 0 && string(o.Error) != "null" {
		return true
	}
	fine, known := statuses[o.Status]
	return known && !fine
}

// failure says what failed and why, and claims nothing else.
func failure(name string, out outcome, content string) string {
	reason := errorText(out.Error)
	if reason == "" && out.Status == "" {
		reason = oneParagraph(content)
	}
	if reason == "" {
		reason = "it ended with status " + out.Status
	} else if out.Status != "" && out.Status != "error" && out.Status != "ok" {
		reason = out.Status + ": " + reason
	}
	return name + " failed, so there is no result.\n\nReason: " + strings.TrimSpace(reason)
}

// errorText renders an error, which is a string or has a name, message and hint.
func errorText(raw json.RawMessage) string {
	var e struct{ Name, Code, Message, Hint string }
	if json.Unmarshal(raw, &e) != nil {
		return text(raw)
	}
	head := e.Message
	if e.Name != "" && e.Name != "Error" {
		head = e.Name + ": " + head
	} else if e.Code != "" {
		head = head + " (" + e.Code + ")"
	}
	if e.Hint != "" {
		head += "\nHint: " + e.Hint
	}
	return head
}

// artifactLine names the files that text does not mention yet.
func artifactLine(text string, out outcome) string {
	var files []string
	for _, name := range append(names(out.Artifacts), names(field(out.Result, "artifacts"))...) {
		if !containsWord(text, name) && !slices.Contains(files, name) {
			files = append(files, name)
		}
	}
	if len(files) == 0 {
		return ""
	}
	return "\n\nFiles: " + strings.Join(files, ", ")
}

// names reads a list of names or of objects that have one.
func names(raw json.RawMessage) []string {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	var found []string
	for _, item := range items {
		name := text(item)
		if name == "" {
			name = text(field(item, "name"))
		}
		if name != "" {
			found = append(found, name)
		}
	}
	return found
}

// text is the value of a JSON string, "" for anything else.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// field is one field of a JSON object, nil if there is none.
func field(raw json.RawMessage, name string) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	return fields[name]
}
