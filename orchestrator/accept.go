package orchestrator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"airlock/ident"
	"airlock/orchestrator/state"
	"airlock/pii"
)

// The folders of names in which tasks are kept.
const (
	taskFolder   = "tasks"   // in the queue, in the logs, and how a task ended
	lineFolder   = "lines"   // what a list of tasks says of one that ended
	repeatFolder = "repeats" // which task a request has begun
)

func taskName(id ident.Task) string { return taskFolder + "/" + string(id) }

// keptRequest is a TaskRequest as it waits in the queue. The texts are sealed, as no
// vault has seen them yet.
type keptRequest struct {
	Session   ident.Session `json:"session"`
	New       bool          `json:"new"`              // the session was made for this task
	Holder    string        `json:"holder,omitempty"` // the process that took the task in
	User      ident.User    `json:"userId"`
	Model     string        `json:"model,omitempty"`
	MaxTurns  int           `json:"maxTurns"`
	TimeoutMs int64         `json:"timeoutMs"`
	Repeat    Repeat        `json:"repeat"`
	Created   time.Time     `json:"created"`
	ByAgent   []bool        `json:"byAgent,omitempty"` // of what was said before
	Files     []Upload      `json:"files,omitempty"`
	Texts     []byte        `json:"texts"` // the task, then what was said before
}

// accept puts a task into the queue: once the queue is synced, the task will be finished
// or reported.
func (s *Service) accept(ctx context.Context, t *taskState) error {
	r := t.request
	kept := keptRequest{
		Session: t.session.id, New: r.Session == "", Holder: t.session.holder, User: r.User, Model: r.Model, MaxTurns: r.MaxTurns,
		TimeoutMs: r.Timeout.Milliseconds(), Repeat: r.Repeat, Created: t.task.Created, Files: r.Files,
	}
	texts := []pii.Raw{r.Text}
	for _, said := range r.History {
		kept.ByAgent = append(kept.ByAgent, said.ByAgent)
		texts = append(texts, said.Text)
	}
	var err error
	if kept.Texts, err = pii.SealRaw(s.opts.StateKey, string(t.task.ID), texts); err != nil {
		return fmt.Errorf("seal the task: %w", err)
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return fmt.Errorf("encode the task: %w", err)
	}
	if r.Repeat.Key != "" {
		if err := s.kept.repeat(ctx, t); err != nil {
			return err
		}
	}
	if err := s.opts.State.Queue.Put(ctx, t.session.key, taskName(t.task.ID), text); err != nil {
		return fmt.Errorf("keep the task: %w", err)
	}
	return nil
}

// request is the way back.
func (k keptRequest) request(key []byte, id ident.Task) (TaskRequest, error) {
	r := TaskRequest{
		User: k.User, Session: k.Session, Model: k.Model, MaxTurns: k.MaxTurns,
		Timeout: time.Duration(k.TimeoutMs) * time.Millisecond, Repeat: k.Repeat, Files: k.Files,
	}
	if k.New {
		r.Session = ""
	}
	texts, err := pii.OpenRaw(key, string(id), k.Texts)
	if err != nil {
		return r, err
	}
	if len(texts) != 1+len(k.ByAgent) {
		return r, errors.New("the task has another number of texts than it says")
	}
	r.Text = texts[0]
	for i, byAgent := range k.ByAgent {
		r.History = append(r.History, Said{ByAgent: byAgent, Text: texts[1+i]})
	}
	return r, nil
}

// keptRepeat says which task a request has begun.
type keptRepeat struct {
	Task   ident.Task `json:"task"`
	Repeat Repeat     `json:"repeat"`
	Holder string     `json:"holder,omitempty"` // the process that took the task in
}

// repeatName hashes the request's key, which its client chose.
func repeatName(key string) string { return repeatFolder + "/" + hashed(key) }

func (k *keeper) repeat(ctx context.Context, t *taskState) error {
	text, err := json.Marshal(keptRepeat{t.task.ID, t.request.Repeat, t.session.holder})
	if err != nil {
		return fmt.Errorf("encode the key of a request: %w", err)
	}
	_, err = k.state.Tasks.Replace(ctx, t.session.key, repeatName(t.request.Repeat.Key), text, t.repeat)
	if errors.Is(err, state.ErrConflict) {
		select {
		case <-time.After(acceptLook): // in a cluster the other one's can be read a moment later
		case <-ctx.Done():
		}
		return errRepeated
	}
	if err != nil {
		return fmt.Errorf("keep the key of a request: %w", err)
	}
	return nil
}

// errRepeated is returned for a request that another process has taken in meanwhile.
var errRepeated = errors.New("the request was taken in by another process")

const (
	// acceptTime is how long another process may take from the key of a request to its
	// task; then it is taken to have failed.
	acceptTime = 5 * time.Second
	acceptLook = 100 * time.Millisecond
)

// repeated gives the task that the same request has begun, "" if there is none, and the
// number of what is kept under its key. The store is asked for requests from before
// this process and those of others.
func (s *Service) repeated(ctx context.Context, r TaskRequest) (ident.Task, uint64, error) {
	id, err := s.tasks.repeated(ctx, r)
	if (id != "" || err != nil || r.Repeat.Key == "") && !errors.Is(err, errRepeated) {
		return id, 0, err
	}
	text, number, err := s.opts.State.Tasks.Load(ctx, s.opts.Pseudonym.User(r.User), repeatName(r.Repeat.Key))
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0, nil
	}
	var earlier keptRepeat
	if err == nil {
		err = json.Unmarshal(text, &earlier)
	}
	if err != nil {
		return "", 0, fmt.Errorf("look for an earlier request: %w", err)
	}
	if err := s.awaitAccepted(ctx, r.User, earlier); errors.Is(err, ErrNotFound) {
		return "", number, nil // it was never accepted, or is forgotten
	} else if err != nil {
		return "", 0, err
	}
	if earlier.Repeat.Digest != r.Repeat.Digest {
		return "", 0, ErrRepeat
	}
	return earlier.Task, number, nil
}

// awaitAccepted fails with ErrNotFound if an earlier request has become no task. Another
// process that lives may just be taking it in.
func (s *Service) awaitAccepted(ctx context.Context, user ident.User, earlier keptRepeat) error {
	_, err := s.find(user, earlier.Task)
	if !errors.Is(err, ErrNotFound) || s.kept.elsewhere(ctx, earlier.Holder) == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, acceptTime)
	defer cancel()
	look := time.NewTicker(acceptLook)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ctx.Done():
			return err
		}
		if _, err = s.find(user, earlier.Task); !errors.Is(err, ErrNotFound) {
			return err
		}
	}
}

// find returns a task of the user, from memory or as it is kept.
func (s *Service) find(user ident.User, id ident.Task) (*taskState, error) {
	if t, err := s.tasks.get(user, id); err == nil {
		return t, nil
	}
	if s.kept.isCutOff() {
		return nil, ErrCutOff
	}
	ctx, cancel := keepingTime()
	defer cancel()
	t, err := s.ended(ctx, user, id)
	if errors.Is(err, fs.ErrNotExist) {
		t, err = s.unfinished(ctx, user, id)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, state.ErrName) {
		return nil, ErrNotFound
	}
	return t, err
}

// vaultOf is the vault of a session, living or not.
func (s *Service) vaultOf(ctx context.Context, owner string, id ident.Session) (*pii.Vault, error) {
	if v := s.sessions.vault(id); v != nil {
		return v, nil
	}
	v, err := s.kept.opened(ctx, owner, id)
	if err == nil && v == nil {
		return nil, fmt.Errorf("the session's values were erased: %w", fs.ErrNotExist)
	}
	return v, err
}

// unfinished gives a task that is at work in no process: of those that share the state,
// this one takes it over. It fails with an ElsewhereError for one that is at work in
// another.
func (s *Service) unfinished(ctx context.Context, user ident.User, id ident.Task) (*taskState, error) {
	owner := s.opts.Pseudonym.User(user)
	kept, err := s.queued(ctx, owner, id)
	if err != nil {
		return nil, err
	}
	if s.opts.State.Members != nil {
		holder, err := s.holderOf(ctx, owner, kept)
		if err == nil {
			err = s.kept.elsewhere(ctx, holder)
		}
		if err == nil && s.lasting.Load() {
			err = s.takeOver(ctx)
		}
		if err != nil {
			return nil, err
		}
		if t, err := s.tasks.get(user, id); err == nil {
			return t, nil
		}
	}
	return s.waiting(ctx, user, id, kept)
}

// queued reads what is in the queue of a task.
func (s *Service) queued(ctx context.Context, owner string, id ident.Task) (kept keptRequest, err error) {
	text, err := s.opts.State.Queue.Get(ctx, owner, taskName(id))
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	return kept, err
}

// waiting reads a task as its log tells it.
func (s *Service) waiting(ctx context.Context, user ident.User, id ident.Task, kept keptRequest) (*taskState, error) {
	owner := s.opts.Pseudonym.User(user)
	vault, err := s.vaultOf(ctx, owner, kept.Session)
	if errors.Is(err, fs.ErrNotExist) {
		vault, err = pii.NewVault(s.opts.Vaults) // nothing has happened in it yet
	}
	if err != nil {
		return nil, err
	}
	past, err := s.readLog(ctx, owner, id, vault)
	if err != nil {
		return nil, err
	}
	task := Task{}
	if past.task != nil {
		task = *past.task
	}
	task.ID, task.Session, task.User, task.Status, task.Created, task.Vault = id, kept.Session, user, past.status(), kept.Created, vault
	task.Title = s.kept.title(ctx, owner, task.Session, vault)
	return s.still(task, past.events, false), nil
}
