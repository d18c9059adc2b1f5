package skillmatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"airlock/orchestrator/llm"
)

// Every script of ours begins like one of these; the JSON string of the path follows.
const (
	codePrefix   = "return await require("
	pythonPrefix = "import json, runpy; result = runpy.run_path("
)

// callPrefix begins the ids of our calls.
const callPrefix = "skill_"

// python is the language of skills that are not JavaScript.
const python = "python"

// execution is the input of the tool execute_code.
type execution struct {
	Language string `json:"language"`
	Code     string `json:"code"`
}

// callOf makes the call that runs a skill.
func callOf(k llm.Skill, task string, seen int) (llm.Call, error) {
	input := map[string]any{}
	if k.Input.Len() > 0 {
		if err := json.Unmarshal([]byte(k.Input.String()), &input); err != nil {
			return llm.Call{}, errors.New("its inputs are no JSON object")
		}
	}
	input["task"] = task
	path, err := compactJSON(k.Path)
	if err != nil {
		return llm.Call{}, err
	}
	parameters, err := compactJSON(input)
	if err != nil {
		return llm.Call{}, err
	}
	if k.Language != python {
		return executeCall("javascript", codePrefix+path+")("+parameters+")", seen) // JSON is JavaScript too
	}
	// A JSON string is a Python string too.
	literal, err := compactJSON(parameters)
	if err != nil {
		return llm.Call{}, err
	}
	return executeCall(python, pythonPrefix+path+`)["run"](json.loads(`+literal+"))", seen)
}

// executeCall runs code. Its id differs from those of the messages seen before.
func executeCall(language, code string, seen int) (llm.Call, error) {
	arguments, err := compactJSON(execution{Language: language, Code: code})
	return llm.Call{ID: fmt.Sprintf(callPrefix+"%d", seen), Name: "execute_code", Arguments: arguments}, err
}

// compactJSON leaves <, > and & as they are, for people who read the transcript.
func compactJSON(v any) (string, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// taskText is the last text of the user. What stands beside results are notes of the
// agent.
func taskText(messages []llm.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role != llm.User || slices.ContainsFunc(m.Parts, isResult) {
			continue
		}
		for _, part := range slices.Backward(m.Parts) {
			if text, ok := part.(llm.Text); ok {
				return text.Text.String()
			}
		}
	}
	return ""
}

func isResult(p llm.Part) bool {
	_, ok := p.(llm.ToolResult)
	return ok
}

// lastResult is the tool's result that the last message brings, if any.
func lastResult(messages []llm.Message) (llm.ToolResult, bool) {
	if len(messages) == 0 {
		return llm.ToolResult{}, false
	}
	for _, part := range slices.Backward(messages[len(messages)-1].Parts) {
		if result, ok := part.(llm.ToolResult); ok {
			return result, true
		}
	}
	return llm.ToolResult{}, false
}

// ranPath is the path of the skill that was run last, "" if none was.
func ranPath(messages []llm.Message) string {
	for _, m := range slices.Backward(messages) {
		for _, part := range m.Parts {
			if use, ok := part.(llm.ToolUse); ok {
				if path := requiredPath(use.Arguments.String()); path != "" {
					return path
				}
			}
		}
	}
	return ""
}

// answeredPath is the path of the skill whose run this id's result is of, "" if it
// is of something else.
func answeredPath(messages []llm.Message, id string) string {
	for _, m := range slices.Backward(messages) {
		for _, part := range m.Parts {
			if use, ok := part.(llm.ToolUse); ok && use.ID == id {
				return requiredPath(use.Arguments.String())
			}
		}
	}
	return ""
}

func requiredPath(arguments string) string {
	var run execution
	if json.Unmarshal([]byte(arguments), &run) != nil {
		return ""
	}
	rest, ours := strings.CutPrefix(run.Code, codePrefix)
	if !ours {
		rest, ours = strings.CutPrefix(run.Code, pythonPrefix)
	}
	if !ours {
		return ""
	}
	var path string
	if json.NewDecoder(strings.NewReader(rest)).Decode(&path) != nil {
		return ""
	}
	return path
}

// nameOf is the name of the skill at path; a skill that is not listed any more is
// called by its path.
func nameOf(skills []llm.Skill, path string) string {
	for _, s := range skills {
		if s.Path == path {
			return s.Name.String()
		}
	}
	return path
}
