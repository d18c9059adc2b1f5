package orchestrator

import (
	"sync"
	"time"

	"go.uber.org/zap"
)

const (
	// failedTasks is how many tasks in a row a model must have failed for others not to
	// try it first.
	failedTasks = 3
	// restTime is how long it is left alone then. One more failure after that and it is
	// left alone again.
	restTime = 30 * time.Second
)

// resting knows which models are not to be had just now, so that not every task finds
// it out by its own attempts and waits.
type resting struct {
	mu     sync.Mutex // guards failed
	failed map[string]*failures
}

// failures are those of a model since it answered last.
type failures struct {
	tasks int
	until time.Time
}

func newResting() *resting { return &resting{failed: map[string]*failures{}} }

// fail notes that a task has given a model up.
func (r *resting) fail(model string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.failed[model]
	if f == nil {
		f = &failures{}
		r.failed[model] = f
	}
	if f.tasks++; f.tasks >= failedTasks {
		f.until = time.Now().Add(restTime)
	}
}

// answer notes that a model has answered.
func (r *resting) answer(model string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.failed, model)
}

// rests reports whether a model is to be left alone.
func (r *resting) rests(model string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.failed[model]
	return f != nil && time.Now().Before(f.until)
}

// avoid has the fallback model go on where the task's own failed in other tasks just
// now, unless the fallback did as well.
func (a *agent) avoid() {
	next := a.opts.Fallback
	if next == "" || next == a.model || !a.resting.rests(a.model) || a.resting.rests(next) {
		return
	}
	a.logOf(a.task).Info("taking the fallback model, as the other one failed in several tasks", zap.String("model", a.model), zap.String("fallback", next))
	a.switchTo(next, &Problem{"model_failed", "the model failed in the tasks before this one", "it is tried again within half a minute"})
}

// switchTo has another model go on with the task.
func (a *agent) switchTo(model string, why *Problem) {
	a.model = model
	a.task.emit(EventModelChanged, EventData{Model: model, Problem: why})
}
