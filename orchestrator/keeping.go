package orchestrator

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/state"
	"airlock/pii"
	"airlock/workspace"
)

// keeper keeps sessions: their vaults, what was said in them, and which session's
// tokens an artifact may hold.
type keeper struct {
	state  State
	key    []byte // seals vaults
	vaults pii.VaultOptions

	mu sync.Mutex // one change of an artifact's list at a time
}

// keeping is what is known of how a session is kept.
type keeping struct {
	mu     sync.Mutex // guards all below; held while keeping
	last   uint64     // record of the vault
	unkept [][]byte   // changes of the vault that are not kept yet
	noted  time.Time  // when the session's card was kept last
	unseen bool       // it is kept that the session holds data that no detector saw
	card   uint64     // number of the card that was kept last
}

// card is what tells of a session that is not in memory.
type card struct {
	User ident.User `json:"userId"`
	Used time.Time  `json:"used"`
	// Holder is the process that has the session, where several share the state.
	Holder string `json:"holder,omitempty"`
	// Title is one text, sealed by the vault.
	Title []byte `json:"title,omitempty"`
}

// The folders of names. A card is in one of the first two.
const (
	liveFolder     = "sessions"
	endedFolder    = "ended"
	historyFolder  = "histories"
	artifactFolder = "artifacts"
	unseenFolder   = "unseen" // of sessions that hold data that no detector saw
)

// noteEvery is how old a card may be.
const noteEvery = time.Minute

// keepTime bounds how long keeping something may take.
const keepTime = 15 * time.Second

// session keeps what is new in a session: its values, and that it is there.
func (k *keeper) session(ctx context.Context, s *session) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepTime) // what was shown must be kept, also at a task's end
	defer cancel()
	if err := k.holds(s); err != nil {
		return err
	}
	s.keeping.mu.Lock()
	defer s.keeping.mu.Unlock()
	if err := k.vault(ctx, s); err != nil {
		return err
	}
	if time.Since(s.keeping.noted) < noteEvery {
		return nil
	}
	return k.note(ctx, s)
}

// vault keeps the changes of a session's vault. The caller holds keeping.mu.
func (k *keeper) vault(ctx context.Context, s *session) error {
	sealed, err := s.vault.SealChanges(s.id, k.key)
	if err != nil {
		return err
	}
	if sealed != nil {
		s.keeping.unkept = append(s.keeping.unkept, sealed)
	}
	for len(s.keeping.unkept) > 0 {
		last, err := k.state.Vaults.Append(ctx, s.key, string(s.id), s.keeping.unkept[0], s.keeping.last)
		if err != nil {
			return fmt.Errorf("keep the session's values: %w", s.lose(err))
		}
		s.keeping.last, s.keeping.unkept = last, s.keeping.unkept[1:]
	}
	return nil
}

// note keeps a session's card. The caller holds keeping.mu.
func (k *keeper) note(ctx context.Context, s *session) error {
	now := time.Now()
	c := card{User: s.user, Used: now.UTC(), Holder: s.holder}
	if title := s.named(); !title.IsZero() {
		var err error
		if c.Title, err = s.vault.SealTexts([]pii.Tokenized{title}); err != nil {
			return err
		}
	}
	if err := k.putCard(ctx, s, c); err != nil {
		return fmt.Errorf("keep the session: %w", s.lose(err))
	}
	s.keeping.noted = now
	return nil
}

// putCard keeps a session's card in place of the one that was seen last.
func (k *keeper) putCard(ctx context.Context, s *session, c card) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	number, err := k.state.Kept.Replace(ctx, s.key, liveFolder+"/"+string(s.id), text, s.keeping.card)
	if err == nil {
		s.keeping.card = number
	}
	return err
}

func (k *keeper) put(ctx context.Context, owner, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return k.state.Kept.Put(ctx, owner, name, text)
}

func (k *keeper) get(ctx context.Context, owner, name string, into any) error {
	text, err := k.state.Kept.Get(ctx, owner, name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// renamed keeps a session's new title.
func (k *keeper) renamed(ctx context.Context, s *session) error {
	s.keeping.mu.Lock()
	defer s.keeping.mu.Unlock()
	if err := k.vault(ctx, s); err != nil {
		return err
	}
	return k.note(ctx, s)
}

// history keeps what was said in a session, up to the end of a task.
func (k *keeper) history(ctx context.Context, s *session, last ident.Task, messages []llm.Message) error {
	if err := k.session(ctx, s); err != nil {
		return err
	}
	entries := []entry{{Task: &keptTask{Task: Task{ID: last}}}}
	for _, m := range messages {
		entries = append(entries, entry{Message: keepMessage(m)})
	}
	text, err := encode(s.vault, entries)
	if err != nil {
		return err
	}
	if err := k.state.Kept.Put(ctx, s.key, historyFolder+"/"+string(s.id), text); err != nil {
		return fmt.Errorf("keep what was said in the session: %w", err)
	}
	return nil
}

// load fills in what is kept of a session. Its error wraps fs.ErrNotExist if nothing
// is.
func (k *keeper) load(ctx context.Context, s *session) (err error) {
	changes, last, err := k.changes(ctx, s.key, s.id)
	if err != nil {
		return fmt.Errorf("read the session's values: %w", err)
	}
	if len(changes) == 0 {
		return fmt.Errorf("read the session's values: %w", fs.ErrNotExist)
	}
	if s.vault, err = pii.OpenVault(changes, s.id, k.key, k.vaults); err != nil {
		return err
	}
	s.keeping.last = last
	text, err := k.state.Kept.Get(ctx, s.key, historyFolder+"/"+string(s.id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what was said in the session: %w", err)
	}
	entries, err := decode(s.vault, text)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch {
		case e.Message != nil:
			s.history = append(s.history, e.Message.message())
		case e.Task != nil:
			s.said = e.Task.Task.ID
		}
	}
	return nil
}

// changes are those of a session's vault, and the number of the last record.
func (k *keeper) changes(ctx context.Context, owner string, id ident.Session) ([][]byte, uint64, error) {
	all, last, err := k.state.Vaults.Read(ctx, owner, string(id), 0)
	return slices.DeleteFunc(all, func(c []byte) bool { return len(c) == 0 }), last, err // a fence says nothing
}

// card reads the card of a living session, and gives its number.
func (k *keeper) card(ctx context.Context, owner string, id ident.Session) (c card, number uint64, err error) {
	text, number, err := k.state.Kept.Load(ctx, owner, liveFolder+"/"+string(id))
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	return c, number, err
}

// title is the name of a session that need not live; empty if it has none.
func (k *keeper) title(ctx context.Context, owner string, id ident.Session, v *pii.Vault) pii.Tokenized {
	c, _, err := k.card(ctx, owner, id)
	if err != nil {
		err = k.get(ctx, owner, endedFolder+"/"+string(id), &c)
	}
	if err != nil || c.Title == nil {
		return noText
	}
	if texts, err := v.OpenTexts(c.Title); err == nil && len(texts) == 1 {
		return texts[0]
	}
	return noText
}

// opened is the vault of a session that need not live; nil if it was erased.
func (k *keeper) opened(ctx context.Context, owner string, id ident.Session) (*pii.Vault, error) {
	changes, _, err := k.changes(ctx, owner, id)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	return pii.OpenVault(changes, id, k.key, k.vaults)
}

// ended keeps that a session has ended: its values stay, for its tasks and artifacts.
func (k *keeper) ended(ctx context.Context, s *session) error {
	name := liveFolder + "/" + string(s.id)
	c, number, err := k.card(ctx, s.key, s.id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was never kept
	}
	if err == nil {
		err = k.claim(ctx, s, c, number)
	}
	if elsewhere := (*ElsewhereError)(nil); errors.As(err, &elsewhere) || errors.Is(err, ErrMoved) {
		return nil // it has not ended there
	}
	if err == nil {
		err = k.put(ctx, s.key, endedFolder+"/"+string(s.id), c)
	}
	if err != nil {
		return fmt.Errorf("keep that a session ended: %w", err)
	}
	return errors.Join(k.state.Kept.Delete(ctx, s.key, name), k.state.Kept.Delete(ctx, s.key, historyFolder+"/"+string(s.id)))
}

// forget erases the values of a user's session. It reports whether there were any.
func (k *keeper) forget(ctx context.Context, owner string, id ident.Session) (bool, error) {
	changes, _, err := k.state.Vaults.Read(ctx, owner, string(id), 0)
	if err != nil {
		return false, fmt.Errorf("look for the session: %w", err)
	}
	err = k.state.Vaults.Delete(ctx, owner, string(id))
	for _, folder := range []string{liveFolder, endedFolder, historyFolder, unseenFolder} {
		err = errors.Join(err, k.state.Kept.Delete(ctx, owner, folder+"/"+string(id)))
	}
	return len(changes) > 0, err
}

// keep keeps what is new in a session, and that it wrote the artifacts that were just
// made.
func (k *keeper) keep(ctx context.Context, s *session, made []workspace.Artifact) error {
	if err := k.session(ctx, s); err != nil || len(made) == 0 {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, a := range made {
		if err := k.addSession(ctx, s.key, artifactName(a.Name), s.id); err != nil {
			return err
		}
	}
	return nil
}

// heed passes on that there is data which no detector saw: what one session's scripts
// leave in /artifacts, those of all sessions of the user can read, and write again. It
// is asked before a script runs, so that the note stands before the file, and after it.
func (k *keeper) heed(ctx context.Context, s *session) error {
	s.keeping.mu.Lock()
	defer s.keeping.mu.Unlock()
	if s.keeping.unseen {
		return nil
	}
	if !s.vault.HoldsUnseen() {
		names, err := k.state.Kept.List(ctx, s.key, unseenFolder)
		if err != nil {
			return fmt.Errorf("look for files that nobody looked into: %w", err)
		}
		if len(names) == 0 {
			return nil
		}
		s.vault.MarkUnseen()
	}
	if err := k.put(ctx, s.key, unseenFolder+"/"+string(s.id), true); err != nil {
		return fmt.Errorf("keep that nobody looked into a file: %w", err)
	}
	s.keeping.unseen = true
	return nil
}

func (k *keeper) addSession(ctx context.Context, owner, name string, id ident.Session) error {
	for {
		makers, number, err := k.loadMakers(ctx, owner, name)
		if err != nil || slices.Contains(makers, id) {
			return err
		}
		text, err := json.Marshal(append(makers, id))
		if err != nil {
			return err
		}
		_, err = k.state.Kept.Replace(ctx, owner, name, text, number)
		if errors.Is(err, state.ErrConflict) {
			continue // a session in another process wrote it too
		}
		if err != nil {
			return fmt.Errorf("keep the sessions of an artifact: %w", err)
		}
		return nil
	}
}

// makers are the sessions that have written an artifact.
func (k *keeper) makers(ctx context.Context, owner, name string) ([]ident.Session, error) {
	ids, _, err := k.loadMakers(ctx, owner, name)
	return ids, err
}

func (k *keeper) loadMakers(ctx context.Context, owner, name string) (ids []ident.Session, number uint64, err error) {
	text, number, err := k.state.Kept.Load(ctx, owner, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &ids)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("read the sessions of an artifact: %w", err)
	}
	return ids, number, nil
}

// drop forgets which sessions wrote the files of a user that are gone. left lists the
// files that are there; it is asked while nothing else is kept, so that no new file is
// overlooked. The values of the sessions stay: their tasks show them too.
func (k *keeper) drop(ctx context.Context, owner string, gone []string, left func() ([]workspace.Artifact, error)) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	files, err := left()
	if err != nil {
		return fmt.Errorf("list artifacts: %w", err)
	}
	var errs []error
	for _, name := range gone {
		if !slices.ContainsFunc(files, func(f workspace.Artifact) bool { return f.Name == name }) { // not made anew
			errs = append(errs, k.state.Kept.Delete(ctx, owner, artifactName(name)))
		}
	}
	return errors.Join(errs...)
}

// forgetOld erases the values of the sessions that were used last before that time, if
// they have ended and no file needs them: their tasks are gone by then.
func (k *keeper) forgetOld(ctx context.Context, before time.Time) error {
	places, err := k.state.Kept.All(ctx, endedFolder)
	if err != nil {
		return fmt.Errorf("look for old sessions: %w", err)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	for _, p := range places {
		var c card
		if err := k.get(ctx, p.Owner, endedFolder+"/"+p.Name, &c); err != nil || c.Used.After(before) {
			continue // forgotten meanwhile, or not old
		}
		needed, err := k.needed(ctx, p.Owner, ident.Session(p.Name))
		if err == nil && !needed {
			_, err = k.forget(ctx, p.Owner, ident.Session(p.Name))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// needed reports whether a file may hold the session's tokens.
func (k *keeper) needed(ctx context.Context, owner string, id ident.Session) (bool, error) {
	names, err := k.state.Kept.List(ctx, owner, artifactFolder)
	for _, name := range names {
		makers, err := k.makers(ctx, owner, artifactFolder+"/"+name)
		if err != nil || slices.Contains(makers, id) {
			return true, err
		}
	}
	return false, err
}

// artifactName hashes the artifact's name, which its script chose.
func artifactName(artifact string) string { return artifactFolder + "/" + hashed(artifact) }

func hashed(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
