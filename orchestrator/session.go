package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/orchestrator/state"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/servers"
	"airlock/skills"
	"airlock/workspace"
)

// session is one conversation of a user.
type session struct {
	id    ident.Session
	user  ident.User
	key   string // the user's name in paths
	vault *pii.Vault

	tools toolFolder

	loaded bool // it was kept, by another process or an earlier one

	opening sync.Mutex         // guards folders, workers, and which files are open
	folders []workspace.Folder // made when somebody works in the session first
	workers int
	files   files // of the folders; open while somebody works in the session

	tasks      gate // one task at a time: they share the history
	executions gate // one script at a time: they share the files

	history []llm.Message              // held by the running task
	said    ident.Task                 // whose end is the history's
	boxes   map[string]sandbox.Sandbox // by backend; held by the running execution

	titling sync.Mutex // guards title
	title   pii.Tokenized

	keeping keeping

	holder string          // this process, as it was named when the session came to it
	held   context.Context //nolint:containedctx // the session's own life in this process
	letGo  context.CancelCauseFunc
	left   chan struct{} // closed once a session that was let go of has ended here

	// both guarded by sessions.mu
	users int
	used  time.Time
}

// box returns the session's sandbox of a backend, made at first use.
func (s *session) box(ctx context.Context, b sandbox.Backend) (sandbox.Sandbox, error) {
	if box, ok := s.boxes[b.Name()]; ok {
		return box, nil
	}
	box, err := b.Open(ctx, s.id)
	if err != nil {
		return nil, fmt.Errorf("open a %s sandbox: %w", b.Name(), err)
	}
	s.boxes[b.Name()] = box
	return box, nil
}

// preparer is what a sandbox may offer whose making takes time: it begins to be
// made for these files while the model still thinks.
type preparer interface{ Prepare(sandbox.Files) }

// prepare begins to make the sandbox that a script will most likely need. A
// failure shows when one does.
func (s *session) prepare(ctx context.Context, b sandbox.Backend) {
	unlock, err := s.executions.lock(ctx)
	if err != nil {
		return
	}
	defer unlock()
	if box, err := s.box(ctx, b); err == nil {
		if p, ok := box.(preparer); ok {
			p.Prepare(s.files)
		}
	}
}

// files are a session's folders, as sandboxes want them. The folder of tools may
// be another one each time.
type files struct {
	*workspace.Space
	tools toolFolder
}

// Mounts are the host folders behind them.
func (f files) Mounts() []sandbox.Mount {
	var all []sandbox.Mount
	for _, m := range f.Space.Mounts() {
		all = append(all, sandbox.Mount{Guest: m.Guest, Host: m.Host, ReadOnly: m.ReadOnly})
	}
	if m, ok := f.tools.mounted(); ok {
		all = append(all, m)
	}
	return all
}

func (s *session) close() error {
	var errs []error
	for _, box := range s.boxes {
		errs = append(errs, box.Close())
	}
	return errors.Join(errs...)
}

// sessions is the register of all living sessions.
type sessions struct {
	opts  Options
	stubs *toolStubs
	kept  *keeper

	loading sync.Mutex // one session is loaded at a time

	mu   sync.Mutex // guards all below and the sessions' users and used
	byID map[ident.Session]*session
}

func newSessions(o Options, kept *keeper) *sessions {
	return &sessions{opts: o, kept: kept, byID: map[ident.Session]*session{}, stubs: &toolStubs{guard: o.Bridge, log: o.Log, parent: o.StubsDir}}
}

// take returns the user's session of that id, or a new one if id is empty. It is
// kept alive until release. Who works in its files calls work as well.
func (r *sessions) take(user ident.User, id ident.Session) (*session, error) {
	if id != "" {
		return r.enter(user, id)
	}
	return r.make(user, ident.NewSession())
}

// enter returns the user's session of that id.
func (r *sessions) enter(user ident.User, id ident.Session) (*session, error) {
	if err := r.load(user, id); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.byID[id]
	if !ok || s.user != user {
		return nil, fmt.Errorf("session %w", ErrNotFound)
	}
	if s.gone() {
		return nil, ErrMoved
	}
	s.users++
	return s, nil
}

// work opens the files of a session that was taken, for the first who works in it,
// until done is called. It is apart from take since it costs far more: a task that
// waits in line has no need of files.
func (r *sessions) work(s *session) (done func(), err error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.workers == 0 {
		if err := r.openFiles(s); err != nil {
			return nil, err
		}
	}
	s.workers++
	return func() {
		s.opening.Lock()
		defer s.opening.Unlock()
		if s.workers--; s.workers == 0 {
			_ = s.files.Close() // nothing was written that was not closed
		}
	}, nil
}

// makeRoom ends the session that nobody has used for longest, when there are as
// many as may be.
func (r *sessions) makeRoom() error {
	r.mu.Lock()
	var oldest *session
	full := len(r.byID) >= r.opts.Limits.Sessions
	if full {
		for _, s := range r.byID {
			if s.users == 0 && (oldest == nil || s.used.Before(oldest.used)) {
				oldest = s
			}
		}
	}
	if oldest != nil {
		delete(r.byID, oldest.id)
	}
	r.mu.Unlock()
	switch {
	case oldest != nil:
		return r.end([]*session{oldest})
	case full:
		return fmt.Errorf("%w: all %d sessions are at work", ErrFull, r.opts.Limits.Sessions)
	default:
		return nil
	}
}

// make makes a new session.
func (r *sessions) make(user ident.User, id ident.Session) (*session, error) {
	vault, err := pii.NewVault(r.opts.Vaults)
	if err != nil {
		return nil, fmt.Errorf("make the session's vault: %w", err)
	}
	s, err := r.newSession(user, id)
	if err != nil {
		return nil, err
	}
	s.vault, s.users = vault, 1
	return s, r.register(s)
}

func (r *sessions) newSession(user ident.User, id ident.Session) (*session, error) {
	s := &session{
		id: id, user: user, key: r.opts.Pseudonym.User(user),
		tasks: newGate(), executions: newGate(), boxes: map[string]sandbox.Sandbox{}, used: time.Now(),
		tools:  toolFolder{stubs: r.stubs, user: user, viewer: r.opts.visitor},
		holder: r.kept.self(), left: make(chan struct{}),
	}
	if r.kept.isCutOff() {
		return nil, ErrCutOff
	}
	s.held, s.letGo = context.WithCancelCause(context.Background())
	return s, nil
}

// register takes a session in.
func (r *sessions) register(s *session) error {
	if err := r.makeRoom(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byID[s.id] != nil { // it was let go of just now, and has not ended here
		return ErrMoved
	}
	r.byID[s.id] = s
	return nil
}

// load takes in a session that is kept and not in memory, if there is one.
func (r *sessions) load(user ident.User, id ident.Session) error {
	if r.vault(id) != nil {
		return nil
	}
	ctx, cancel := keepingTime()
	defer cancel()
	if err := r.awaitLeft(ctx, id); err != nil {
		return err
	}
	r.loading.Lock()
	defer r.loading.Unlock()
	if r.vault(id) != nil {
		return nil
	}
	s, err := r.newSession(user, id)
	if err != nil {
		return err
	}
	c, number, err := r.kept.card(ctx, s.key, id)
	if err == nil {
		err = r.kept.claim(ctx, s, c, number)
	}
	if err == nil {
		err = r.kept.load(ctx, s)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, state.ErrName) {
		return fmt.Errorf("session %w", ErrNotFound)
	}
	if err != nil {
		return err
	}
	if err := s.fill(c); err != nil {
		return err
	}
	s.loaded = true
	return r.register(s)
}

// awaitLeft waits until what this process has let go of a session has ended.
func (r *sessions) awaitLeft(ctx context.Context, id ident.Session) error {
	r.mu.Lock()
	s := r.byID[id]
	r.mu.Unlock()
	if s == nil || !s.gone() {
		return nil
	}
	select {
	case <-s.left:
		return nil
	case <-ctx.Done():
		return ErrMoved
	}
}

// fill takes over what a card says.
func (s *session) fill(c card) error {
	if c.Title == nil {
		return nil
	}
	texts, err := s.vault.OpenTexts(c.Title)
	if err == nil && len(texts) == 1 {
		s.rename(texts[0])
	}
	return err
}

// keepingTime bounds what has no other context: a session may be looked for, or end,
// whoever asks and whoever waits.
func keepingTime() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), keepTime)
}

// openFiles makes the session's folders where they are missing, and opens their files.
// The caller holds opening.
func (r *sessions) openFiles(s *session) error {
	if err := r.fetchFiles(s); err != nil {
		return err
	}
	own, err := r.opts.Skills.Checkout(s.key, s.id)
	if err != nil {
		return fmt.Errorf("copy the user's skills: %w", err)
	}
	if s.folders == nil {
		if s.folders, err = foldersOf(r.opts, s, own); err != nil {
			return err
		}
	}
	space, err := workspace.Open(s.folders)
	if err != nil {
		return fmt.Errorf("open the session's folders: %w", err)
	}
	s.files = files{space, s.tools}
	return nil
}

// foldersOf puts together the folders that the session's scripts see; own is its copy of
// the user's skills.
func foldersOf(o Options, s *session, own string) ([]workspace.Folder, error) {
	work, err := o.Workspaces.Session(s.key, s.id)
	if err != nil {
		return nil, fmt.Errorf("make the session's workspace: %w", err)
	}
	artifacts, err := o.Workspaces.Artifacts(s.key)
	if err != nil {
		return nil, fmt.Errorf("open the user's artifacts: %w", err)
	}
	folders := []workspace.Folder{
		o.Workspaces.Folder("/workspace", work),
		o.Workspaces.Folder("/artifacts", artifacts),
		o.Workspaces.Folder("/skills", own),
		s.tools.asFolder(),
	}
	return append(folders, sharedFolders(o.Skills)...), nil
}

func sharedFolders(s *skills.Store) []workspace.Folder {
	var folders []workspace.Folder
	for name, fsys := range s.ReadOnly() {
		folders = append(folders, workspace.Folder{Guest: "/skills/" + name, FS: fsys, ReadOnly: true})
	}
	if dir := s.SharedDir(); dir != "" {
		folders = append(folders, workspace.Folder{Guest: "/skills/" + string(skills.ScopeShared), Root: dir, ReadOnly: true})
	}
	return folders
}

func (r *sessions) release(s *session) {
	r.mu.Lock()
	s.used = time.Now()
	s.users--
	leaves := s.users == 0 && s.gone() && r.byID[s.id] == s
	if leaves {
		delete(r.byID, s.id)
	}
	r.mu.Unlock()
	if leaves {
		r.leave(s)
	}
}

// endIdle ends the sessions that nobody has used for that long.
func (r *sessions) endIdle(idle time.Duration) error {
	r.mu.Lock()
	var idlers []*session
	for id, s := range r.byID {
		if s.users == 0 && time.Since(s.used) >= idle {
			delete(r.byID, id)
			idlers = append(idlers, s)
		}
	}
	r.mu.Unlock()
	return r.end(idlers)
}

func (r *sessions) end(list []*session) error {
	ctx, cancel := keepingTime()
	defer cancel()
	var errs []error
	for _, s := range list {
		errs = append(errs, s.close(), r.kept.ended(ctx, s), r.opts.Workspaces.RemoveSession(ctx, s.key, s.id), r.opts.Skills.Discard(s.key, s.id), r.endServers(s))
	}
	return errors.Join(errs...)
}

func (r *sessions) endServers(s *session) error {
	if r.opts.Servers == nil {
		return nil
	}
	return r.opts.Servers.EndSession(servers.Caller{User: s.user, Session: s.id})
}

// close ends all sessions; those that are kept go on in another process, if lasting.
func (r *sessions) close(lasting bool) error {
	r.mu.Lock()
	var over []*session
	var errs []error
	for id, s := range r.byID {
		delete(r.byID, id)
		if lasting && s.isKept() {
			errs = append(errs, s.close(), r.opts.Skills.Discard(s.key, s.id)) // a refused skill may hold values
		} else {
			over = append(over, s)
		}
	}
	r.mu.Unlock()
	return errors.Join(append(errs, r.end(over), r.stubs.close())...)
}

func (s *session) isKept() bool {
	s.keeping.mu.Lock()
	defer s.keeping.mu.Unlock()
	return !s.keeping.noted.IsZero()
}

// endForgotten ends the sessions that are kept, that no process has in memory, and that
// nobody has used for that long.
func (r *sessions) endForgotten(ctx context.Context, idle time.Duration) error {
	places, err := r.opts.State.Kept.All(ctx, liveFolder)
	if err != nil {
		return fmt.Errorf("look for sessions: %w", err)
	}
	var errs []error
	for _, p := range places {
		id := ident.Session(p.Name)
		c, _, err := r.kept.card(ctx, p.Owner, id)
		if err != nil || time.Since(c.Used) < idle || r.vault(id) != nil || r.kept.elsewhere(ctx, c.Holder) != nil {
			continue // ended meanwhile, or not to be ended
		}
		s, err := r.newSession(c.User, id)
		if err != nil {
			return err
		}
		errs = append(errs, r.end([]*session{s}))
	}
	return errors.Join(errs...)
}

// LiveSessions reads which sessions have not ended, for whoever cleans up after
// those that have.
func LiveSessions(ctx context.Context, kept KV) (func(ident.Session) bool, error) {
	places, err := kept.All(ctx, liveFolder)
	ids := map[ident.Session]bool{}
	for _, p := range places {
		ids[ident.Session(p.Name)] = true
	}
	return func(id ident.Session) bool { return ids[id] }, err
}

// vault returns that of a living session, or nil.
func (r *sessions) vault(id ident.Session) *pii.Vault {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s, ok := r.byID[id]; ok && !s.gone() {
		return s.vault
	}
	return nil
}

// remove ends one session of a user that nothing works in. It reports whether
// there was one.
func (r *sessions) remove(user ident.User, id ident.Session) (bool, error) {
	r.mu.Lock()
	s, ok := r.byID[id]
	if !ok || s.user != user {
		r.mu.Unlock()
		return false, nil
	}
	if s.users > 0 {
		r.mu.Unlock()
		return true, ErrWorking
	}
	delete(r.byID, id)
	r.mu.Unlock()
	s.vault.Erase() // what still shows the session's tasks shows tokens now
	return true, r.end([]*session{s})
}
