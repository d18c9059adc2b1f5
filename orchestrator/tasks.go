package orchestrator

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"

	"airlock/ident"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// maxLogLines bounds the lines of output that a task's snapshot carries.
const maxLogLines = 1000

// taskState is the living side of a Task.
type taskState struct {
	request TaskRequest
	bytes   int // that were sent with it
	session *session
	events  *journal
	last    uint64        // record of the task's log; held while keeping
	end     uint64        // number of what is kept where its end will be
	repeat  uint64        // number of what was kept under the key of its request
	past    *past         // in an earlier process; nil if there was none
	kept    chan struct{} // closed once the task is in the queue, or refused
	refused error         // set before kept is closed
	done    chan struct{} // closed once the status is final, or another process goes on
	ended   bool          // its end is kept; of the goroutine that works on it
	cancel  context.CancelCauseFunc
	clock   *sandbox.Clock // of the task; stands still while its user is asked

	approvals approvals

	mu     sync.Mutex // guards all below
	task   Task
	before map[pii.Type]int // personal values that the session knew when the task began
}

// logOf names the task and its session in each line.
func (s *Service) logOf(t *taskState) *zap.Logger {
	return s.log.With(zap.String("task", string(t.task.ID)), zap.String("session", string(t.session.id)))
}

// snapshot copies the task, so that the reader sees no later change.
func (t *taskState) snapshot() Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	copied := t.task
	copied.Logs = append([]pii.Tokenized(nil), t.task.Logs...)
	copied.Artifacts = append([]Artifact(nil), t.task.Artifacts...)
	copied.Approvals = t.approvals.list()
	if copied.Status == StatusRunning || copied.Status == StatusAwaitingApproval {
		copied.Protected = t.protected()
	}
	return copied
}

// protected counts the values that the session knows by now.
func (t *taskState) protected() (list []Protected) {
	for kind, n := range t.session.vault.Counts() {
		list = append(list, Protected{Type: kind, Count: n, New: n - t.before[kind]})
	}
	slices.SortFunc(list, func(a, b Protected) int { return strings.Compare(string(a.Type), string(b.Type)) })
	return list
}

func (t *taskState) change(f func(*Task)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f(&t.task)
}

// forgetInput drops what the user sent, once it is in the vault or of no use any more:
// erasing the vault could not reach it. Only the task's own goroutine calls it.
func (t *taskState) forgetInput() {
	t.request.Text, t.request.History, t.request.Files = pii.Raw{}, nil, nil
}

func (t *taskState) emit(kind EventType, data EventData) { t.events.add(kind, data) }

func (t *taskState) addLogs(lines []pii.Tokenized) {
	t.change(func(task *Task) {
		task.Logs = append(task.Logs, lines...)
		if over := len(task.Logs) - maxLogLines; over > 0 {
			task.Logs = append([]pii.Tokenized(nil), task.Logs[over:]...)
		}
	})
}

// final is the task as it ends.
func (t *taskState) final(status Status, message pii.Tokenized, problem *Problem) Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	final := t.task
	if final.Status != StatusQueued {
		final.Protected = t.protected()
	}
	final.Status, final.Message, final.Problem, final.Finished = status, message, problem, time.Now().UTC()
	return final
}

// conclude shows how the task ended. What of it never changes is read without the lock, so
// only the rest is set.
func (t *taskState) conclude(final Task) {
	t.change(func(task *Task) {
		task.Status, task.Message, task.Problem, task.Finished, task.Protected = final.Status, final.Message, final.Problem, final.Finished, final.Protected
	})
}

// tasks is the register of all tasks, finished ones up to a bound.
type tasks struct {
	kept, open, most, share int

	mu       sync.Mutex // guards all below
	closed   bool
	byID     map[ident.Task]*taskState
	byKey    map[userKey]*taskState // of requests that may be repeated
	finished []ident.Task           // oldest first
	pending  int
	bytes    int                // of the pending; at most as many as most
	byUser   map[ident.User]int // bytes of their pending; at most as many as share
}

// userKey is a user's name for a request.
type userKey struct {
	user ident.User
	key  string
}

func newTasks(l Limits) *tasks {
	return &tasks{
		kept: l.KeptTasks, open: l.Running + l.Waiting, most: l.InputBytes, share: l.UserInputBytes, byUser: map[ident.User]int{},
		byID: map[ident.Task]*taskState{}, byKey: map[userKey]*taskState{},
	}
}

// add registers a task and gives its id, or that of the task which the same request
// has begun meanwhile.
func (r *tasks) add(t *taskState) (ident.Task, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return "", ErrClosed
	}
	if id, err := r.earlier(t.request); id != "" || err != nil {
		return id, err
	}
	if r.pending >= r.open || r.bytes+t.bytes > r.most {
		return "", ErrFull
	}
	if r.byUser[t.request.User]+t.bytes > r.share {
		return "", ErrShare
	}
	r.insert(t)
	return t.task.ID, nil
}

// addAgain registers a task that an earlier process has accepted.
func (r *tasks) addAgain(t *taskState) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return ErrClosed
	}
	r.insert(t)
	return nil
}

// insert registers a task. The lock is held.
func (r *tasks) insert(t *taskState) {
	r.pending++
	r.bytes += t.bytes
	r.byUser[t.request.User] += t.bytes
	r.byID[t.task.ID] = t
	if key := t.request.Repeat.Key; key != "" {
		r.byKey[userKey{t.request.User, key}] = t
	}
}

// refuse takes a task out again that could not be kept.
func (r *tasks) refuse(t *taskState) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.release(t)
	r.forget(t.task.ID)
}

// release gives up the room of a task. The lock is held.
func (r *tasks) release(t *taskState) {
	r.pending--
	r.bytes -= t.bytes
	if r.byUser[t.request.User] -= t.bytes; r.byUser[t.request.User] == 0 {
		delete(r.byUser, t.request.User)
	}
}

// repeated gives the task that the same request began, if it may be repeated, once
// that one is safe.
func (r *tasks) repeated(ctx context.Context, request TaskRequest) (ident.Task, error) {
	r.mu.Lock()
	id, err := r.earlier(request)
	t := r.byID[id]
	r.mu.Unlock()
	if t == nil || err != nil {
		return "", err
	}
	select {
	case <-t.kept:
		return id, t.refused
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// earlier is repeated with the lock held.
func (r *tasks) earlier(request TaskRequest) (ident.Task, error) {
	earlier := r.byKey[userKey{request.User, request.Repeat.Key}]
	switch {
	case earlier == nil:
		return "", nil
	case earlier.request.Repeat.Digest != request.Repeat.Digest:
		return "", ErrRepeat
	}
	return earlier.task.ID, nil
}

// forgetGone drops the ended tasks of sessions that another process may have by now: what
// is erased there must not be shown here.
func (r *tasks) forgetGone() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = slices.DeleteFunc(r.finished, func(id ident.Task) bool {
		t := r.byID[id]
		if t == nil || !t.session.gone() {
			return false
		}
		r.forget(id)
		return true
	})
}

// ended notes that a task is final, or has left this process, and forgets the oldest beyond the bound.
func (r *tasks) ended(id ident.Task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.byID[id]
	r.release(t)
	if t.session.gone() {
		r.forget(id) // it may go on elsewhere
		return
	}
	r.finished = append(r.finished, id)
	for len(r.finished) > r.kept {
		r.forget(r.finished[0])
		r.finished = r.finished[1:]
	}
}

// forget drops a task. The lock is held.
func (r *tasks) forget(id ident.Task) {
	t := r.byID[id]
	delete(r.byID, id)
	if t != nil && t.request.Repeat.Key != "" {
		delete(r.byKey, userKey{t.request.User, t.request.Repeat.Key})
	}
}

// get returns a task of this user.
func (r *tasks) get(user ident.User, id ident.Task) (*taskState, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t, ok := r.byID[id]
	if !ok || t.request.User != user || t.session.gone() {
		return nil, ErrNotFound
	}
	return t, nil
}

// works reports whether a task is at work in this process, or was.
func (r *tasks) works(id ident.Task) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.byID[id]
	return t != nil && !t.session.gone()
}

func (r *tasks) of(user ident.User) []*taskState {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []*taskState
	for _, t := range r.byID {
		if t.request.User == user && !t.session.gone() {
			found = append(found, t)
		}
	}
	return found
}

func (r *tasks) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
}
