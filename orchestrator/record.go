package orchestrator

import (
	"encoding/json"
	"errors"
	"fmt"

	"airlock/orchestrator/llm"
	"airlock/pii"
)

// entry is one thing that a task's log says. One of its fields is set.
type entry struct {
	Event   *Event       `json:"event,omitempty"`
	Message *keptMessage `json:"message,omitempty"` // of the conversation
	// Began is the number of a call in the model's latest turn that may have an effect
	// from now on.
	Began  *int        `json:"began,omitempty"`
	Result *callResult `json:"result,omitempty"`
	Task   *keptTask   `json:"task,omitempty"` // as it stands
}

// callResult is what a call of the model's latest turn came to.
type callResult struct {
	Call    int           `json:"call"`
	Failed  bool          `json:"failed,omitempty"`
	Content pii.Tokenized `json:"-"`
}

// keptMessage is a llm.Message in a form that can be decoded.
type keptMessage struct {
	Role  llm.Role   `json:"role"`
	Parts []keptPart `json:"parts"`
}

type keptPart struct {
	Kind     partKind      `json:"kind"`
	ID       string        `json:"id,omitempty"`
	Name     string        `json:"name,omitempty"`
	IsError  bool          `json:"isError,omitempty"`
	Provider string        `json:"provider,omitempty"`
	Data     []byte        `json:"data,omitempty"`
	Text     pii.Tokenized `json:"-"`
}

type partKind string

const (
	partText   partKind = "text"
	partUse    partKind = "use"
	partResult partKind = "result"
	partOpaque partKind = "opaque"
)

// keptTask is a Task, whose lines of output have to be counted to be decoded.
type keptTask struct {
	Task  Task `json:"task"`
	Lines int  `json:"lines"`
}

func keepMessage(m llm.Message) *keptMessage {
	kept := &keptMessage{Role: m.Role}
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Text:
			kept.Parts = append(kept.Parts, keptPart{Kind: partText, Text: p.Text})
		case llm.ToolUse:
			kept.Parts = append(kept.Parts, keptPart{Kind: partUse, ID: p.ID, Name: p.Name, Text: p.Arguments})
		case llm.ToolResult:
			kept.Parts = append(kept.Parts, keptPart{Kind: partResult, ID: p.ID, IsError: p.IsError, Text: p.Content})
		case llm.Opaque:
			provider, data := p.Kept()
			kept.Parts = append(kept.Parts, keptPart{Kind: partOpaque, Provider: provider, Data: data})
		}
	}
	return kept
}

func (m *keptMessage) message() llm.Message {
	back := llm.Message{Role: m.Role}
	for _, p := range m.Parts {
		switch p.Kind {
		case partText:
			back.Parts = append(back.Parts, llm.Text{Text: p.Text})
		case partUse:
			back.Parts = append(back.Parts, llm.ToolUse{ID: p.ID, Name: p.Name, Arguments: p.Text})
		case partResult:
			back.Parts = append(back.Parts, llm.ToolResult{ID: p.ID, Content: p.Text, IsError: p.IsError})
		case partOpaque:
			back.Parts = append(back.Parts, llm.NewOpaque(p.Provider, p.Data))
		}
	}
	return back
}

// texts are the places of an entry's texts, always in the same order. They are kept
// apart, sealed by the session's vault, since only a vault makes a pii.Tokenized.
func (e *entry) texts() (places []*pii.Tokenized) {
	switch {
	case e.Event != nil:
		d := &e.Event.Data
		places = append(places, &d.Code, &d.Text, &d.Name)
		if d.Approval != nil {
			places = append(places, &d.Approval.Arguments)
		}
	case e.Message != nil:
		for i := range e.Message.Parts {
			places = append(places, &e.Message.Parts[i].Text)
		}
	case e.Result != nil:
		places = append(places, &e.Result.Content)
	case e.Task != nil:
		t := &e.Task.Task
		places = append(places, &t.Text, &t.Title, &t.Message, &t.Output)
		for i := range t.Logs {
			places = append(places, &t.Logs[i])
		}
		for i := range t.Artifacts {
			places = append(places, &t.Artifacts[i].Name)
		}
	}
	return places
}

// record is what is kept at once: entries, and all their texts.
type record struct {
	Entries []entry `json:"entries"`
	Texts   []byte  `json:"texts"`
}

// encode puts entries into a form to be kept.
func encode(v *pii.Vault, entries []entry) ([]byte, error) {
	var texts []pii.Tokenized
	for i := range entries {
		for _, place := range entries[i].texts() {
			texts = append(texts, *place)
		}
	}
	r := record{Entries: entries}
	var err error
	if r.Texts, err = v.SealTexts(texts); err != nil {
		return nil, err
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode a task's record: %w", err)
	}
	return text, nil
}

// decode is the way back from encode.
func decode(v *pii.Vault, text []byte) ([]entry, error) {
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("decode a task's record: %w", err)
	}
	texts, err := v.OpenTexts(r.Texts)
	if err != nil {
		return nil, err
	}
	for i := range r.Entries {
		if t := r.Entries[i].Task; t != nil {
			if t.Lines > len(texts) {
				return nil, errRecord
			}
			t.Task.Logs, t.Task.Vault = make([]pii.Tokenized, t.Lines), v
		}
		for _, place := range r.Entries[i].texts() {
			if len(texts) == 0 {
				return nil, errRecord
			}
			*place, texts = texts[0], texts[1:]
		}
	}
	return r.Entries, nil
}

var errRecord = errors.New("a task's record has fewer texts than places for them")
