package web

import (
	"fmt"
	"strings"
	"time"
)

// turn is one task as it is read: what was asked, what the agent did, one piece after
// the other, and how it ended. It is built from the task's events, from the first on.
type turn struct {
	task
	Items      []*item
	Files      []artifact
	Problem    *problem
	Seq        int // of the last event that is in it
	CanReveal  bool
	CanApprove bool

	footer bool // has changed since the last patch
	said   bool // the text item that is last still grows
}

// item is one piece of a turn.
type item struct {
	ID   string
	Kind kind
	// of text
	Text string
	// of code
	Language, Code, Outcome string
	Duration                time.Duration
	Output                  string
	Dropped                 int64 // bytes of output that are not shown
	Calls                   []*calls
	// of approvals, whose Outcome is empty while they wait
	Approval *approval

	Turn    *turn
	fresh   bool // is not in the page yet
	changed bool // its head and calls, or its text, are not as in the page
	more    string
}

type kind string

const (
	kindText     kind = "text"
	kindCode     kind = "code"
	kindApproval kind = "approval"
)

// calls are those of one tool by one script.
type calls struct {
	Tool                     string
	Running, Failed, Refused int
	Count                    int
	Bytes                    int64
	Time                     time.Duration
	Progress                 string
	Done, Total              float64
}

// maxOutput bounds the output that a cell shows, in bytes.
const maxOutput = 64 << 10

func newTurn(t task, who about) *turn {
	return &turn{task: t, CanReveal: who.Rights.Reveal, CanApprove: who.Rights.Approve}
}

// Working reports whether more is to come.
func (t *turn) Working() bool {
	return t.Status == "queued" || t.Status == "running" || t.Status == "awaiting_approval"
}

// Took is how long the task took, 0 while it works.
func (t *turn) Took() time.Duration {
	if t.Finished.IsZero() {
		return 0
	}
	return t.Finished.Sub(t.Created)
}

// Running reports whether the script has not ended.
func (i *item) Running() bool { return i.Kind == kindCode && i.Outcome == "" && i.Turn.Working() }

// Failed reports whether the script did not end well.
func (i *item) Failed() bool { return i.Outcome != "" && i.Outcome != "ok" }

// Open reports whether the script's code is shown without a click.
func (i *item) Open() bool { return i.Running() || i.Failed() }

// Waits reports whether the approval can still be given.
func (i *item) Waits() bool { return i.Outcome == "" && i.Turn.Working() }

// apply adds one event.
func (t *turn) apply(e event) {
	t.Seq = e.Seq
	d := e.Data
	switch e.Type {
	case "task.started":
		t.Status, t.footer = "running", true
	case "model.delta":
		t.say(d.Text, d.Part)
	case "execution.started":
		t.add(&item{Kind: kindCode, Language: d.Language, Code: d.Code}).ID = "x-" + d.Execution
	case "execution.output", "execution.finished", "tool.called", "tool.progress", "tool.finished":
		t.change(e)
	case "approval.required":
		if d.Approval != nil {
			t.Status, t.footer = "awaiting_approval", true
			t.add(&item{Kind: kindApproval, Approval: d.Approval}).ID = "a-" + d.Approval.ID
		}
	case "approval.answered":
		t.answered(e)
	case "artifact.created":
		t.made(artifact{Name: d.Name, Size: d.Bytes})
	case "task.completed", "task.failed", "task.cancelled":
		t.end(e)
	}
}

func (t *turn) add(i *item) *item {
	i.Turn, i.fresh = t, true
	i.ID = fmt.Sprintf("i-%s-%d", t.ID, len(t.Items))
	t.Items, t.said = append(t.Items, i), false
	return i
}

// say adds to what the model writes.
func (t *turn) say(text, part string) {
	if text != "" && !t.said {
		t.add(&item{Kind: kindText})
		t.said = true
	}
	if !t.said {
		return
	}
	last := t.Items[len(t.Items)-1]
	last.Text += text
	if part == "discarded" {
		last.Text = ""
	}
	last.changed, t.said = true, part == ""
}

func (t *turn) find(id string) *item {
	for n := len(t.Items) - 1; n >= 0; n-- {
		if t.Items[n].ID == id {
			return t.Items[n]
		}
	}
	return nil
}

// change adds to a script's cell.
func (t *turn) change(e event) {
	i := t.find("x-" + e.Data.Execution)
	if i == nil {
		return
	}
	switch e.Type {
	case "execution.output":
		i.print(e.Data.Text)
		return
	case "execution.finished":
		i.Outcome, i.Duration = e.Data.Outcome, time.Duration(e.Data.DurationMs)*time.Millisecond
		for _, c := range i.Calls {
			c.Running, c.Progress = 0, ""
		}
	default:
		i.call(e)
	}
	i.changed = true
}

func (i *item) print(text string) {
	if room := maxOutput - len(i.Output); len(text) > room {
		i.Dropped += int64(len(text) - room)
		text, i.changed = strings.ToValidUTF8(text[:room], ""), true
	}
	i.Output += text
	i.more += text
}

// call counts a tool's calls, so that a script with a thousand of them is one line.
func (i *item) call(e event) {
	var c *calls
	for _, known := range i.Calls {
		if known.Tool == e.Data.Tool {
			c = known
		}
	}
	if c == nil {
		c = &calls{Tool: e.Data.Tool}
		i.Calls = append(i.Calls, c)
	}
	switch e.Type {
	case "tool.called":
		c.Count++
		c.Running++
	case "tool.progress":
		c.Progress, c.Done, c.Total = e.Data.Text, e.Data.Done, e.Data.Total
	case "tool.finished":
		c.finish(e)
	}
}

func (c *calls) finish(e event) {
	if c.Running > 0 {
		c.Running--
	}
	switch e.Data.Outcome {
	case "ok":
	case "release_refused", "approval_denied", "out_of_scope":
		c.Refused++
	default:
		c.Failed++
	}
	c.Bytes += e.Data.Bytes
	c.Time += time.Duration(e.Data.DurationMs) * time.Millisecond
	c.Progress, c.Done, c.Total = "", 0, 0
}

func (t *turn) answered(e event) {
	if e.Data.Approval == nil {
		return
	}
	if i := t.find("a-" + e.Data.Approval.ID); i != nil {
		i.Outcome, i.changed = e.Data.Outcome, true
	}
	t.Status, t.footer = "running", true
	for _, i := range t.Items {
		if i.Kind == kindApproval && i.Outcome == "" {
			t.Status = "awaiting_approval"
		}
	}
}

func (t *turn) made(file artifact) {
	t.footer = true
	for n := range t.Files {
		if t.Files[n].Name == file.Name {
			t.Files[n] = file
			return
		}
	}
	t.Files = append(t.Files, file)
}

// end shows the answer, unless it has been read already as it was written.
func (t *turn) end(e event) {
	t.Status = strings.TrimPrefix(e.Type, "task.")
	t.Finished, t.Problem, t.footer = e.At, e.Data.Error, true
	for _, i := range t.Items {
		i.changed = i.changed || i.Outcome == "" && i.Kind != kindText
	}
	if e.Data.Text == "" || strings.TrimSpace(t.lastText()) == strings.TrimSpace(e.Data.Text) {
		return
	}
	t.add(&item{Kind: kindText, Text: e.Data.Text})
}

func (t *turn) lastText() string {
	for n := len(t.Items) - 1; n >= 0; n-- {
		if t.Items[n].Kind == kindText {
			return t.Items[n].Text
		}
	}
	return ""
}

// settle notes that the page shows all there is.
func (t *turn) settle() {
	t.footer = false
	for _, i := range t.Items {
		i.fresh, i.changed, i.more = false, false, ""
	}
}
