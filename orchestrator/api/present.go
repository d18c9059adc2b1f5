package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/pii"
	"airlock/pii/reveal"
	"airlock/runtime/sandbox"
)

// This file is where tokens become values again, for the user they belong to. A
// token that a model made up is shown as it is: it must not cost the user the rest.

type taskView struct {
	TaskID    ident.Task          `json:"taskId"`
	SessionID ident.Session       `json:"sessionId"`
	Status    orchestrator.Status `json:"status"`
	Task      string              `json:"task"`
	Message   string              `json:"message"`
	Output    json.RawMessage     `json:"output"`
	Logs      []string            `json:"logs"`
	Error     *problem            `json:"error,omitempty"`
	Artifacts []artifactView      `json:"artifacts"`
	Approvals []approvalView      `json:"approvals"`
	Usage     usageView           `json:"usage"`
	Created   time.Time           `json:"created"`
	Finished  time.Time           `json:"finished,omitzero"`
}

type usageView struct {
	Turns        int     `json:"turns"`
	Executions   int     `json:"executions"`
	ToolCalls    int     `json:"toolCalls"`
	InputTokens  int     `json:"inputTokens"`
	OutputTokens int     `json:"outputTokens"`
	CachedTokens int     `json:"cachedTokens"`
	CostUSD      float64 `json:"costUsd,omitempty"`
	Model        string  `json:"model,omitempty"`
}

type artifactView struct {
	Name string `json:"name"`
	Size int64  `json:"size"`
	MIME string `json:"mimeType"`
}

// presentTask shows a task with the real values, or with tokens.
func presentTask(t orchestrator.Task, real bool) (taskView, error) {
	show, answer := textAs(real), shower(shown)
	if real {
		answer = realAnswer
	}
	view := taskView{
		TaskID: t.ID, SessionID: t.Session, Status: t.Status, Logs: []string{}, Approvals: []approvalView{},
		Usage: usageView(t.Usage), Created: t.Created, Finished: t.Finished,
	}
	var err error
	if view.Task, err = show(t.Vault, t.Text); err != nil {
		return taskView{}, err
	}
	if view.Message, err = answer(t.Vault, t.Message); err != nil {
		return taskView{}, err
	}
	output, err := show(t.Vault, t.Output)
	if err != nil {
		return taskView{}, err
	}
	view.Output = jsonOrNull(output)
	if view.Artifacts, err = presentArtifacts(t.Vault, t.Artifacts, show); err != nil {
		return taskView{}, err
	}
	for _, line := range t.Logs {
		text, err := show(t.Vault, line)
		if err != nil {
			return taskView{}, err
		}
		view.Logs = append(view.Logs, text)
	}
	for _, a := range t.Approvals {
		one, err := presentApproval(t.Vault, a, show)
		if err != nil {
			return taskView{}, err
		}
		view.Approvals = append(view.Approvals, *one)
	}
	if t.Problem != nil {
		view.Error = &problem{Code: t.Problem.Code, Message: t.Problem.Message, Hint: t.Problem.Hint}
	}
	return view, nil
}

type executionView struct {
	SessionID  ident.Session               `json:"sessionId"`
	Status     sandbox.Reason              `json:"status"`
	Result     json.RawMessage             `json:"result"`
	Stdout     string                      `json:"stdout"`
	Stderr     string                      `json:"stderr"`
	Dropped    int64                       `json:"droppedBytes,omitempty"`
	Error      *scriptErrorView            `json:"error,omitempty"`
	Artifacts  []artifactView              `json:"artifacts"`
	Saved      []string                    `json:"skillsSaved,omitempty"`
	Refused    []orchestrator.RefusedSkill `json:"skillsRefused,omitempty"`
	DurationMs int64                       `json:"durationMs"`
}

type scriptErrorView struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Stack   string `json:"stack,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// presentExecution shows an execution with tokens, or with the real values.
func presentExecution(x orchestrator.Execution, real bool) (executionView, error) {
	show := textAs(real)
	view := executionView{
		SessionID: x.Session, Status: x.Reason, Dropped: x.Dropped,
		Saved: x.Saved, DurationMs: x.Duration.Milliseconds(),
	}
	var err error
	if view.Artifacts, err = presentArtifacts(x.Vault, x.Artifacts, show); err != nil {
		return view, err
	}
	if view.Refused, err = presentRefused(x, real); err != nil {
		return view, err
	}
	result, err := show(x.Vault, x.Value)
	if err != nil {
		return view, err
	}
	view.Result = jsonOrNull(result)
	if view.Stdout, err = show(x.Vault, x.Stdout); err != nil {
		return view, err
	}
	if view.Stderr, err = show(x.Vault, x.Stderr); err != nil {
		return view, err
	}
	if x.Error == nil {
		return view, nil
	}
	view.Error = &scriptErrorView{Line: x.Error.Line, Column: x.Error.Column}
	for _, part := range []struct {
		from pii.Tokenized
		to   *string
	}{
		{x.Error.Name, &view.Error.Name}, {x.Error.Message, &view.Error.Message},
		{x.Error.Stack, &view.Error.Stack}, {x.Error.Hint, &view.Error.Hint},
	} {
		if *part.to, err = show(x.Vault, part.from); err != nil {
			return view, err
		}
	}
	return view, nil
}

// presentRefused hides values in the names that a script gave its files.
func presentRefused(x orchestrator.Execution, real bool) ([]orchestrator.RefusedSkill, error) {
	if real {
		return x.Refused, nil
	}
	var views []orchestrator.RefusedSkill
	for _, r := range x.Refused {
		name, err := x.Vault.Tokenize(pii.NewRaw(r.Name), pii.OriginScript)
		if err != nil {
			return nil, fmt.Errorf("tokenize the name of a refused skill: %w", err)
		}
		reason, err := x.Vault.Tokenize(pii.NewRaw(r.Reason), pii.OriginScript)
		if err != nil {
			return nil, fmt.Errorf("tokenize why a skill was refused: %w", err)
		}
		views = append(views, orchestrator.RefusedSkill{Name: name.String(), Reason: reason.String()})
	}
	return views, nil
}

func presentArtifacts(v *pii.Vault, list []orchestrator.Artifact, show shower) ([]artifactView, error) {
	views := []artifactView{}
	for _, a := range list {
		name, err := show(v, a.Name)
		if err != nil {
			return nil, err
		}
		views = append(views, artifactView{Name: name, Size: a.Size, MIME: a.MIME})
	}
	return views, nil
}

// shower puts a text into the form that the caller is to see.
type shower func(*pii.Vault, pii.Tokenized) (string, error)

func shown(_ *pii.Vault, t pii.Tokenized) (string, error) { return t.String(), nil }

func realText(v *pii.Vault, t pii.Tokenized) (string, error) {
	return opened(t, v.DetokenizeForUser)
}

// realAnswer is realText for what a model wrote, in which links keep their tokens.
func realAnswer(v *pii.Vault, t pii.Tokenized) (string, error) {
	return opened(t, v.DetokenizeAnswer)
}

// textAs shows texts with the real values, or with tokens.
func textAs(real bool) shower {
	if real {
		return realText
	}
	return shown
}

// opened shows tokens where their values were erased.
func opened(t pii.Tokenized, detokenize func(pii.Tokenized) (pii.Raw, error)) (string, error) {
	raw, err := detokenize(t)
	switch {
	case errors.Is(err, pii.ErrErased):
		return t.String(), nil
	case err != nil:
		return "", fmt.Errorf("detokenize for the user: %w", err)
	}
	return reveal.Text(raw), nil
}

func jsonOrNull(text string) json.RawMessage {
	if text == "" {
		return json.RawMessage("null")
	}
	return json.RawMessage(text)
}

// WriteReal writes a text with the real values to the user at the terminal, who
// holds the vault and its key.
func WriteReal(w io.Writer, v *pii.Vault, t pii.Tokenized) error {
	text, err := realText(v, t)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}
