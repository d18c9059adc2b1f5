package orchestrator

import (
	"time"

	"airlock/ident"
	"airlock/pii"
)

// EventType names what happened.
type EventType string

// The types of events.
const (
	EventTaskStarted       EventType = "task.started"
	EventTaskResumed       EventType = "task.resumed" // by another process, where the first one left it
	EventModelChanged      EventType = "model.changed"
	EventModelDelta        EventType = "model.delta"
	EventExecutionStarted  EventType = "execution.started"
	EventExecutionOutput   EventType = "execution.output"
	EventExecutionFinished EventType = "execution.finished"
	EventToolCalled        EventType = "tool.called"
	EventToolProgress      EventType = "tool.progress"
	EventToolFinished      EventType = "tool.finished"
	EventApprovalRequired  EventType = "approval.required"
	EventApprovalAnswered  EventType = "approval.answered"
	EventArtifactCreated   EventType = "artifact.created"
	EventTaskCompleted     EventType = "task.completed"
	EventTaskFailed        EventType = "task.failed"
	EventTaskCancelled     EventType = "task.cancelled"
)

// Event is one thing that happened in a task. Its texts are tokenized.
type Event struct {
	// Seq counts from 1 within the task, without gaps.
	Seq  int        `json:"seq"`
	Task ident.Task `json:"taskId"`
	At   time.Time  `json:"at"`
	Type EventType  `json:"type"`
	Data EventData  `json:"data"`
}

// EventData holds what belongs to an event; which fields are set follows from
// its type.
type EventData struct {
	Execution  ident.Execution `json:"executionId,omitempty"`
	Language   string          `json:"language,omitempty"`
	Code       pii.Tokenized   `json:"-"` // like all texts: see record.go
	Stream     string          `json:"stream,omitempty"`
	Text       pii.Tokenized   `json:"-"`
	Part       Part            `json:"part,omitempty"`
	Model      string          `json:"model,omitempty"`
	Tool       string          `json:"tool,omitempty"`
	Outcome    string          `json:"outcome,omitempty"`
	DurationMs int64           `json:"durationMs,omitempty"`
	Done       float64         `json:"done,omitempty"`
	Total      float64         `json:"total,omitempty"`
	Bytes      int64           `json:"bytes,omitempty"`
	Name       pii.Tokenized   `json:"-"`
	Problem    *Problem        `json:"problem,omitempty"`
	Approval   *Approval       `json:"approval,omitempty"`
	Privacy    *Privacy        `json:"privacy,omitempty"`
}

// Privacy says which personal values one call of a tool gave to its server, or was
// refused.
type Privacy struct {
	Server   string       `json:"server"`
	Released []pii.Type   `json:"released,omitempty"`
	Origins  []pii.Origin `json:"origins,omitempty"` // of the released
	Refused  []pii.Type   `json:"refused,omitempty"`
	// Policy is the server's, which decided.
	Policy pii.Policy `json:"policy"`
}

// Part says where in a turn's text an EventModelDelta stands.
type Part string

// The parts of a text. The zero value is one that others follow.
const (
	// PartLast ends the text of a turn. It is there for every turn that said anything.
	PartLast Part = "last"
	// PartDiscarded takes back what the turn has said: it broke off and is asked again.
	PartDiscarded Part = "discarded"
)

// maxEvents bounds what one task keeps; past it only the events that change the
// task's state are added, so that a flood of output cannot hide its end.
const maxEvents = 10_000

func (t EventType) changesTask() bool {
	switch t {
	case EventTaskStarted, EventTaskResumed, EventApprovalRequired, EventApprovalAnswered:
		return true
	default:
		return t.Final()
	}
}

// Final reports whether the event is its task's last.
func (t EventType) Final() bool {
	switch t {
	case EventTaskCompleted, EventTaskFailed, EventTaskCancelled:
		return true
	default:
		return false
	}
}
