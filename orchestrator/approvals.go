package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"airlock/bridge"
	"airlock/ident"
	"airlock/pii"
)

// Decision is a user's answer to a pending approval.
type Decision struct {
	Approve bool
	// Task extends an approval to the task's later calls of the same tool, as long as
	// they release no type of personal data, and none from an origin, that the
	// approved call did not.
	Task bool
}

// Approval is one call of a tool that waits for its user's consent.
type Approval struct {
	ID     ident.Approval `json:"approvalId"`
	Tool   string         `json:"tool"` // full name
	Server string         `json:"server"`
	// Arguments are the call's JSON arguments.
	Arguments pii.Tokenized `json:"-"`
	// Releases lists the types of personal data that the server would be given, and
	// Origins where they came from.
	Releases []pii.Type   `json:"releases"`
	Origins  []pii.Origin `json:"origins"`
	Asked    time.Time    `json:"asked"`
	// Expires is when the call is refused if nobody answers.
	Expires time.Time `json:"expires"`
}

// errUnanswered refuses a call that nobody decided in time.
var errUnanswered = errors.New("nobody answered in time")

// A task's script could ask without end, and its time stands still meanwhile; what it
// asks is kept with the task's events.
const (
	// maxAsked bounds the approvals that a task asks for.
	maxAsked = 200
	// maxAskedBytes bounds their arguments together.
	maxAskedBytes = 16 << 20
	// maxUnanswered is how many of them may expire before nobody seems to be there.
	maxUnanswered = 3
)

// errAskedTooMuch refuses a call whose task has used up its approvals.
var errAskedTooMuch = errors.New("the task has asked for too many approvals")

// Approvals asks the users of running tasks before calls that need their consent.
// It is the bridge's Approver, made before the Service that tells it of tasks. Its
// methods may be called concurrently.
type Approvals struct {
	wait time.Duration

	mu         sync.Mutex // guards all below
	tasks      map[ident.Task]*taskState
	executions map[ident.Execution]approveFunc // of scripts without a task
}

type approveFunc = func(context.Context, bridge.ApprovalRequest) error

// NewApprovals makes an Approvals that waits this long for each answer.
func NewApprovals(wait time.Duration) *Approvals {
	return &Approvals{wait: wait, tasks: map[ident.Task]*taskState{}, executions: map[ident.Execution]approveFunc{}}
}

func (a *Approvals) open(t *taskState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tasks[t.task.ID] = t
}

func (a *Approvals) close(t *taskState) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.tasks, t.task.ID)
}

// openExecution lets a script without a task ask by a way of its own, until done.
func (a *Approvals) openExecution(id ident.Execution, approve approveFunc) (done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.executions[id] = approve
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.executions, id)
	}
}

// approveExecution asks for a script without a task.
func (a *Approvals) approveExecution(ctx context.Context, r bridge.ApprovalRequest) error {
	a.mu.Lock()
	approve := a.executions[r.Execution]
	a.mu.Unlock()
	if approve == nil {
		return bridge.ErrNobodyToAsk
	}
	ctx, cancel := context.WithTimeoutCause(ctx, a.wait, errUnanswered)
	defer cancel()
	return approve(ctx, r)
}

// Approve implements bridge.Approver: it asks in the task's events and waits for
// Decide, for its time to run out, or for the end of ctx. A script without a task
// asks by its request's Approve.
func (a *Approvals) Approve(ctx context.Context, r bridge.ApprovalRequest) error {
	a.mu.Lock()
	t := a.tasks[r.Task]
	a.mu.Unlock()
	if t == nil {
		return a.approveExecution(ctx, r)
	}
	p, err := t.approvals.ask(r, a.wait)
	if p == nil || err != nil {
		return err // nil if an earlier answer covers this call
	}
	resume := t.clock.Stop()
	defer resume()
	t.awaits(p)
	decision, err := p.decision(ctx)
	t.answered(p, decision, err)
	switch {
	case err != nil:
		return err
	case !decision.Approve:
		return bridge.ErrDenied
	}
	return nil
}

// pending is an approval that is waited for.
type pending struct {
	Approval
	request bridge.ApprovalRequest
	answer  chan Decision // of capacity one: whoever takes the approval out of the list sends once
}

// decision waits for the answer.
func (p *pending) decision(ctx context.Context) (Decision, error) {
	timer := time.NewTimer(time.Until(p.Expires))
	defer timer.Stop()
	select {
	case d := <-p.answer:
		return d, nil
	case <-timer.C:
		return Decision{}, errUnanswered
	case <-ctx.Done():
		return Decision{}, context.Cause(ctx)
	}
}

// approvals are those of one task.
type approvals struct {
	mu      sync.Mutex // guards all below
	pending []*pending // in the order they were asked
	granted map[string][]bridge.ApprovalRequest

	asked, askedBytes, unanswered int
}

// ask registers a call, unless an earlier answer covers it; then it returns nil.
func (l *approvals) ask(r bridge.ApprovalRequest, wait time.Duration) (*pending, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, earlier := range l.granted[r.Tool] {
		if covers(earlier, r) {
			return nil, nil
		}
	}
	l.asked++
	l.askedBytes += r.Arguments.Len()
	switch {
	case l.unanswered >= maxUnanswered:
		return nil, bridge.ErrNobodyToAsk
	case l.asked > maxAsked || l.askedBytes > maxAskedBytes:
		return nil, errAskedTooMuch
	}
	now := time.Now().UTC()
	p := &pending{request: r, answer: make(chan Decision, 1), Approval: Approval{
		ID: ident.NewApproval(), Tool: r.Tool, Server: r.Server, Arguments: r.Arguments,
		Releases: r.Releases, Origins: r.Origins, Asked: now, Expires: now.Add(wait),
	}}
	l.pending = append(l.pending, p)
	return p, nil
}

// covers reports whether the consent to one call includes a later one.
func covers(earlier, later bridge.ApprovalRequest) bool {
	return !slices.ContainsFunc(later.Releases, func(t pii.Type) bool { return !slices.Contains(earlier.Releases, t) }) &&
		!slices.ContainsFunc(later.Origins, func(o pii.Origin) bool { return !slices.Contains(earlier.Origins, o) })
}

// decide answers a pending approval. It reports whether there is such a one. A
// consent to the task's later calls also answers those of them that wait already.
func (l *approvals) decide(id ident.Approval, d Decision) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := slices.IndexFunc(l.pending, func(p *pending) bool { return p.ID == id })
	if at < 0 {
		return false
	}
	first := l.pending[at]
	l.answer(first, d)
	if !d.Approve || !d.Task {
		return true
	}
	if l.granted == nil {
		l.granted = map[string][]bridge.ApprovalRequest{}
	}
	l.granted[first.Tool] = append(l.granted[first.Tool], first.request)
	for _, p := range slices.Clone(l.pending) {
		if p.Tool == first.Tool && covers(first.request, p.request) {
			l.answer(p, d)
		}
	}
	return true
}

func (l *approvals) answer(p *pending, d Decision) {
	l.pending = slices.DeleteFunc(l.pending, func(other *pending) bool { return other == p })
	p.answer <- d
}

// forget drops an approval that is waited for no more, and reports whether none is
// left.
func (l *approvals) forget(p *pending, expired bool) (none bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if expired {
		l.unanswered++
	}
	l.pending = slices.DeleteFunc(l.pending, func(other *pending) bool { return other == p })
	return len(l.pending) == 0
}

func (l *approvals) list() []Approval {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Approval
	for _, p := range l.pending {
		all = append(all, p.Approval)
	}
	return all
}

// awaits shows that the task waits for its user.
func (t *taskState) awaits(p *pending) {
	t.change(func(task *Task) {
		if task.Status == StatusRunning {
			task.Status = StatusAwaitingApproval
		}
	})
	asked := p.Approval
	t.emit(EventApprovalRequired, EventData{Execution: p.request.Execution, Tool: p.Tool, Approval: &asked})
}

// answered shows that an approval is waited for no more.
func (t *taskState) answered(p *pending, d Decision, err error) {
	outcome := "approved"
	switch {
	case errors.Is(err, errUnanswered):
		outcome = "expired"
	case err != nil:
		outcome = "cancelled"
	case !d.Approve:
		outcome = "denied"
	}
	if t.approvals.forget(p, outcome == "expired") {
		t.change(func(task *Task) {
			if task.Status == StatusAwaitingApproval {
				task.Status = StatusRunning
			}
		})
	}
	asked := p.Approval
	t.emit(EventApprovalAnswered, EventData{Execution: p.request.Execution, Tool: p.Tool, Outcome: outcome, Approval: &asked})
}

// Decide answers a pending approval of a user's task. It fails with ErrNotFound for
// one that does not exist, or not any more.
func (s *Service) Decide(user ident.User, task ident.Task, id ident.Approval, d Decision) error {
	t, err := s.find(user, task)
	if err != nil {
		return err
	}
	if !t.approvals.decide(id, d) {
		return fmt.Errorf("approval %w: it was answered, expired, or its call ended", ErrNotFound)
	}
	return nil
}
