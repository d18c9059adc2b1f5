package orchestrator

import (
	"sync"
	"time"

	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/pii"
)

// journal is what a task's log will say. Its events are seen only once they are kept:
// who has seen one finds it again, under its number, after a crash.
type journal struct {
	task ident.Task
	// keep makes entries outlive the process; nil for a journal that is complete.
	keep func([]entry) error
	wake chan struct{} // of capacity one: there is something to keep

	flushing sync.Mutex // held while keeping, so that the order stays

	mu      sync.Mutex // guards all below
	pending []entry
	added   int     // events, those that wait included
	events  []Event // that are kept
	more    chan struct{}
	closed  bool
}

func newJournal(task ident.Task, keep func([]entry) error, events []Event) *journal {
	return &journal{task: task, keep: keep, wake: make(chan struct{}, 1), added: len(events), events: events, more: make(chan struct{})}
}

// add notes an event and returns it; nothing once there are too many.
func (j *journal) add(kind EventType, data EventData) *Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed || j.added >= maxEvents && !kind.changesTask() {
		return nil
	}
	j.added++
	e := &Event{Seq: j.added, Task: j.task, At: time.Now().UTC(), Type: kind, Data: data}
	j.note(entry{Event: e})
	return e
}

// say notes a message of the conversation.
func (j *journal) say(m llm.Message) { j.addEntry(entry{Message: keepMessage(m)}) }

// begin notes that a call of the latest turn may have an effect from now on, and
// returns when that is kept.
func (j *journal) begin(call int) error {
	j.addEntry(entry{Began: &call})
	return j.flush()
}

// result notes what a call came to, and how the task stands after it.
func (j *journal) result(call int, content pii.Tokenized, failed bool, stands Task) {
	j.addEntry(entry{Result: &callResult{Call: call, Content: content, Failed: failed}})
	j.addEntry(entry{Task: &keptTask{Task: stands, Lines: len(stands.Logs)}})
}

func (j *journal) addEntry(e entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closed {
		j.note(e)
	}
}

// note adds an entry. The lock is held.
func (j *journal) note(e entry) {
	j.pending = append(j.pending, e)
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// flush keeps all that was added, and shows it. What could not be kept stays in line.
func (j *journal) flush() error {
	j.flushing.Lock()
	defer j.flushing.Unlock()
	for {
		j.mu.Lock()
		entries := j.pending
		j.mu.Unlock()
		if len(entries) == 0 {
			return nil
		}
		if err := j.keep(entries); err != nil {
			return err
		}
		j.show(entries)
	}
}

// show takes entries from the line and wakes those who follow the events.
func (j *journal) show(entries []entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pending = j.pending[len(entries):]
	for _, e := range entries {
		if e.Event != nil {
			j.events = append(j.events, *e.Event)
		}
	}
	close(j.more)
	j.more = make(chan struct{})
}

// close takes nothing in any more.
func (j *journal) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
}

// leave ends the journal in this process: who follows it finds it in another.
func (j *journal) leave() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.closed = true
	close(j.more)
	j.more = make(chan struct{})
}

// giveUp shows what could not be kept: its followers should see how the task ended
// in this process.
func (j *journal) giveUp() {
	j.flushing.Lock()
	defer j.flushing.Unlock()
	j.show(j.pending)
}

// after returns the events with a higher Seq and a channel that is closed when there
// are more.
func (j *journal) after(seq int) ([]Event, <-chan struct{}) {
	j.mu.Lock()
	defer j.mu.Unlock()
	seq = min(max(seq, 0), len(j.events))
	return j.events[seq:len(j.events):len(j.events)], j.more
}

// flushUntil keeps what is added as it comes, until stop is closed. It ends with the
// first error, which it passes to failed.
func (j *journal) flushUntil(stop <-chan struct{}, failed func(error)) {
	for {
		select {
		case <-j.wake:
			if err := j.flush(); err != nil {
				failed(err)
				return
			}
		case <-stop:
			return
		}
	}
}
