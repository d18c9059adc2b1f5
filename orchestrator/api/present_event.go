package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"airlock/ident"
	"airlock/orchestrator"
	"airlock/pii"
	"airlock/pii/reveal"
)

type eventView struct {
	Seq    int                    `json:"seq"`
	TaskID ident.Task             `json:"taskId"`
	At     time.Time              `json:"at"`
	Type   orchestrator.EventType `json:"type"`
	Data   eventDataView          `json:"data"`
}

type eventDataView struct {
	ExecutionID ident.Execution       `json:"executionId,omitempty"`
	Language    string                `json:"language,omitempty"`
	Code        string                `json:"code,omitempty"`
	Stream      string                `json:"stream,omitempty"`
	Text        string                `json:"text,omitempty"`
	Part        orchestrator.Part     `json:"part,omitempty"`
	Model       string                `json:"model,omitempty"`
	Tool        string                `json:"tool,omitempty"`
	Outcome     string                `json:"outcome,omitempty"`
	DurationMs  int64                 `json:"durationMs,omitempty"`
	Done        float64               `json:"done,omitempty"`
	Total       float64               `json:"total,omitempty"`
	Bytes       int64                 `json:"bytes,omitempty"`
	Name        string                `json:"name,omitempty"`
	Error       *problem              `json:"error,omitempty"`
	Approval    *approvalView         `json:"approval,omitempty"`
	Privacy     *orchestrator.Privacy `json:"privacy,omitempty"`
}

type approvalView struct {
	ID        ident.Approval  `json:"approvalId"`
	Tool      string          `json:"tool"`
	Server    string          `json:"server"`
	Arguments json.RawMessage `json:"arguments"`
	// Tokenized are the arguments with tokens, for who is not to show values.
	Tokenized json.RawMessage `json:"tokenized"`
	Releases  []pii.Type      `json:"releases"`
	Origins   []pii.Origin    `json:"origins"`
	Asked     time.Time       `json:"asked"`
	Expires   time.Time       `json:"expires"`
}

func presentApproval(v *pii.Vault, a orchestrator.Approval, show shower) (*approvalView, error) {
	arguments, err := show(v, a.Arguments)
	if err != nil {
		return nil, err
	}
	view := &approvalView{
		ID: a.ID, Tool: a.Tool, Server: a.Server, Arguments: jsonOrNull(arguments), Tokenized: jsonOrNull(a.Arguments.String()),
		Releases: append([]pii.Type{}, a.Releases...), Origins: append([]pii.Origin{}, a.Origins...), Asked: a.Asked, Expires: a.Expires,
	}
	return view, nil
}

// presenter shows the events of one task, from the first on: what a model writes
// comes in parts, and whether a value may be shown is known from what stands around
// it. So each event's view depends on the events before it, and on nothing else.
type presenter struct {
	vault  *pii.Vault
	real   bool
	answer *pii.Detokenizer // of all text: who shows one turn after another may read an address across them
	ended  bool             // the last turn has
}

func (p *presenter) present(e orchestrator.Event) (eventView, error) {
	d, show := e.Data, textAs(p.real)
	view := eventView{Seq: e.Seq, TaskID: e.Task, At: e.At, Type: e.Type, Data: eventDataView{
		ExecutionID: d.Execution, Language: d.Language, Stream: d.Stream, Part: d.Part, Model: d.Model, Tool: d.Tool, Outcome: d.Outcome,
		DurationMs: d.DurationMs, Done: d.Done, Total: d.Total, Bytes: d.Bytes, Privacy: d.Privacy,
	}}
	var err error
	switch e.Type {
	case orchestrator.EventModelDelta:
		view.Data.Text, err = p.delta(d)
	case orchestrator.EventTaskCompleted, orchestrator.EventTaskFailed, orchestrator.EventTaskCancelled:
		if p.real {
			show = realAnswer
		}
		view.Data.Text, err = show(p.vault, d.Text)
	default:
		view.Data.Text, err = show(p.vault, d.Text)
	}
	if err != nil {
		return view, err
	}
	if view.Data.Code, err = show(p.vault, d.Code); err != nil {
		return view, err
	}
	if view.Data.Name, err = show(p.vault, d.Name); err != nil {
		return view, err
	}
	if d.Approval != nil {
		view.Data.Approval, err = presentApproval(p.vault, *d.Approval, textAs(p.real))
	}
	if d.Problem != nil {
		view.Data.Error = &problem{Code: d.Problem.Code, Message: d.Problem.Message, Hint: d.Problem.Hint}
	}
	return view, err
}

// delta shows the next part of a turn's text. What cannot be shown yet comes with a
// later part, the rest of it with the last.
func (p *presenter) delta(d orchestrator.EventData) (string, error) {
	if !p.real {
		return d.Text.String(), nil
	}
	if p.answer == nil {
		p.answer = p.vault.AnswerDetokenizer()
	}
	text, err := p.write(d)
	switch {
	case errors.Is(err, pii.ErrErased):
		return d.Text.String(), nil
	case err != nil:
		return "", fmt.Errorf("detokenize for the user: %w", err)
	case d.Part == orchestrator.PartDiscarded:
		return "", nil
	}
	return text, nil
}

// write follows the text of all turns, an empty line between two.
func (p *presenter) write(d orchestrator.EventData) (string, error) {
	if p.ended {
		p.ended = false
		if _, err := p.answer.Write(pii.Static("\n\n")); err != nil {
			return "", err
		}
	}
	raw, err := p.answer.Write(d.Text)
	if err != nil || d.Part == "" {
		return reveal.Text(raw), err
	}
	rest, err := p.answer.Flush()
	p.ended = true
	return reveal.Text(raw) + reveal.Text(rest), err
}
