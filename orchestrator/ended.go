package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"go.uber.org/zap"

	"airlock/ident"
	"airlock/orchestrator/state"
	"airlock/pii"
)

// keptEnd is how a task ended, or what a list says of that.
type keptEnd struct {
	Session ident.Session `json:"session"`
	Record  []byte        `json:"record"` // the task, and its last event unless for a list
}

// listedBytes is how much of a task's text a list shows at most.
const listedBytes = 1000

// keepEnd keeps how a task ended, and then shows it.
func (s *Service) keepEnd(ctx context.Context, t *taskState, final Task, last Event) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	listed := Task{
		ID: final.ID, Session: final.Session, User: final.User, Status: final.Status, Created: final.Created, Finished: final.Finished,
		Usage: final.Usage, Text: pii.Cut(final.Text, listedBytes),
	}
	whole := []entry{{Task: &keptTask{Task: final, Lines: len(final.Logs)}}, {Event: &last}}
	// The whole comes last: it is what tells a later process that nothing is left to do.
	err := errors.Join(
		s.putLine(ctx, t.session, lineFolder+"/"+string(final.ID), []entry{{Task: &keptTask{Task: listed}}}),
		s.putEnd(ctx, t, whole),
		s.opts.State.Tasks.Sync())
	if err != nil {
		return fmt.Errorf("keep how a task ended: %w", err)
	}
	t.ended = true
	t.conclude(final)
	return t.events.flush()
}

// unqueue takes a task out of the queue whose end is kept. Nobody waits for it: as long
// as it has not succeeded, the next process finds that the task has ended.
func (s *Service) unqueue(ctx context.Context, t *taskState) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime)
	defer cancel()
	err := s.opts.State.Events.Sync()
	if err == nil {
		err = s.opts.State.Queue.Delete(ctx, t.session.key, taskName(t.task.ID))
	}
	if err != nil {
		s.logOf(t).Warn("a task that has ended is still in the queue", zap.Error(err))
	}
}

func (s *Service) putLine(ctx context.Context, session *session, name string, entries []entry) error {
	text, err := encodeEnd(session, entries)
	if err != nil {
		return err
	}
	return s.opts.State.Tasks.Put(ctx, session.key, name, text)
}

// putEnd keeps how a task ended, unless another process has taken it over.
func (s *Service) putEnd(ctx context.Context, t *taskState, entries []entry) error {
	text, err := encodeEnd(t.session, entries)
	if err != nil {
		return err
	}
	_, err = s.opts.State.Tasks.Replace(ctx, t.session.key, taskName(t.task.ID), text, t.end)
	if !errors.Is(err, state.ErrTooLarge) {
		return t.session.lose(err)
	}
	if err := s.kept.holds(t.session); err != nil {
		return err
	}
	return s.opts.State.Tasks.Put(ctx, t.session.key, taskName(t.task.ID), text)
}

func encodeEnd(session *session, entries []entry) ([]byte, error) {
	record, err := encode(session.vault, entries)
	if err != nil {
		return nil, err
	}
	return json.Marshal(keptEnd{session.id, record})
}

// readEnd reads what putLine or putEnd kept. Its error wraps fs.ErrNotExist if there is nothing.
func (s *Service) readEnd(ctx context.Context, owner, name string, vaultOf func(ident.Session) (*pii.Vault, error)) ([]entry, error) {
	text, err := s.opts.State.Tasks.Get(ctx, owner, name)
	if err != nil {
		return nil, err
	}
	var kept keptEnd
	if err := json.Unmarshal(text, &kept); err != nil {
		return nil, fmt.Errorf("decode a task: %w", err)
	}
	if kept.Record == nil {
		return nil, fmt.Errorf("a task that was taken over has not ended: %w", fs.ErrNotExist)
	}
	vault, err := vaultOf(kept.Session)
	if err != nil {
		return nil, err
	}
	entries, err := decode(vault, kept.Record)
	if err == nil && (len(entries) == 0 || entries[0].Task == nil) {
		err = errors.New("decode a task: it is not how one ended")
	}
	return entries, err
}

// ended reads a task that has ended.
func (s *Service) ended(ctx context.Context, user ident.User, id ident.Task) (*taskState, error) {
	owner := s.opts.Pseudonym.User(user)
	entries, err := s.readEnd(ctx, owner, taskName(id), func(id ident.Session) (*pii.Vault, error) { return s.vaultOf(ctx, owner, id) })
	if err != nil {
		return nil, err
	}
	task := entries[0].Task.Task
	past, err := s.readLog(ctx, owner, id, task.Vault)
	if err != nil {
		return nil, err
	}
	events := past.events
	if last := entries[len(entries)-1].Event; last != nil && len(events) < last.Seq {
		events = append(events, *last) // the process died before it was in the log
	}
	task.Title = s.kept.title(ctx, owner, task.Session, task.Vault)
	return s.still(task, events, true), nil
}

// still makes a task that nothing happens in, in this process.
func (s *Service) still(task Task, events []Event, over bool) *taskState {
	t := &taskState{
		request: TaskRequest{User: task.User},
		session: &session{id: task.Session, user: task.User, key: s.opts.Pseudonym.User(task.User), vault: task.Vault},
		events:  newJournal(task.ID, nil, events), done: make(chan struct{}), cancel: func(error) {}, task: task,
	}
	if over {
		close(t.done)
	}
	return t
}

// endedTasks lists the user's tasks that have ended, but those in skip.
func (s *Service) endedTasks(ctx context.Context, user ident.User, skip map[ident.Task]bool) ([]Task, error) {
	owner := s.opts.Pseudonym.User(user)
	names, err := s.opts.State.Tasks.List(ctx, owner, lineFolder)
	if err != nil {
		return nil, err
	}
	vaults := map[ident.Session]*pii.Vault{}
	titles := map[ident.Session]pii.Tokenized{}
	vaultOf := func(id ident.Session) (_ *pii.Vault, err error) {
		if vaults[id] == nil {
			if vaults[id], err = s.vaultOf(ctx, owner, id); err == nil {
				titles[id] = s.kept.title(ctx, owner, id, vaults[id])
			}
		}
		return vaults[id], err
	}
	var all []Task
	for _, name := range names {
		if skip[ident.Task(name)] {
			continue
		}
		entries, err := s.readEnd(ctx, owner, lineFolder+"/"+name, vaultOf)
		if errors.Is(err, fs.ErrNotExist) {
			continue // erased meanwhile
		}
		if err != nil {
			return nil, err
		}
		task := entries[0].Task.Task
		task.Title = titles[task.Session]
		all = append(all, task)
	}
	return all, nil
}

// forgetTasks deletes what is kept of the tasks of a session. It reports whether there
// were any.
func (s *Service) forgetTasks(ctx context.Context, owner string, id ident.Session) (found bool, err error) {
	names, err := s.opts.State.Tasks.List(ctx, owner, lineFolder)
	if err != nil {
		return false, err
	}
	var errs []error
	for _, name := range names {
		text, err := s.opts.State.Tasks.Get(ctx, owner, lineFolder+"/"+name)
		var kept keptEnd
		if errors.Is(err, fs.ErrNotExist) || err == nil && json.Unmarshal(text, &kept) == nil && kept.Session != id {
			continue
		}
		found = true
		errs = append(errs, err,
			s.opts.State.Queue.Delete(ctx, owner, taskFolder+"/"+name), // where it is for a moment after its end
			s.opts.State.Events.Delete(ctx, owner, taskFolder+"/"+name),
			s.opts.State.Tasks.Delete(ctx, owner, taskFolder+"/"+name),
			s.opts.State.Tasks.Delete(ctx, owner, lineFolder+"/"+name))
	}
	return found, errors.Join(errs...)
}
