package orchestrator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"airlock/bridge"
	"airlock/ident"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/servers"
	"airlock/skills"
	"airlock/workspace"
)

// tokenSlack is how much longer than its script a session token lives, so that
// the last call of a script is not refused for being late.
const tokenSlack = 60 * time.Second

// ExecuteRequest is a script that its caller wants run.
type ExecuteRequest struct {
	User ident.User
	// Session shares files and tokens with earlier work; empty starts a new one.
	Session  ident.Session
	Language sandbox.Language
	// Backend names the sandbox to use; empty takes the first that runs Language.
	Backend string
	// Code is the caller's own script.
	Code string
	// Timeout bounds the script; 0 takes the service's limit, which is also the
	// upper bound.
	Timeout time.Duration
	// Follow, if set, is told what happens while the script runs, by several
	// goroutines, until Execute returns. It must not wait.
	Follow func(EventType, EventData)
	// Approve, if set, asks the caller's user before calls that need consent; without
	// it they are refused. Its errors are those of bridge.Approver.
	Approve func(context.Context, bridge.ApprovalRequest) error
}

// Execution is how one script ended. Its texts are tokenized.
type Execution struct {
	ID       ident.Execution
	Session  ident.Session
	Language sandbox.Language
	Reason   sandbox.Reason
	// Value is the JSON of what the script returned; empty if nothing.
	Value          pii.Tokenized
	Stdout, Stderr pii.Tokenized
	// Dropped counts bytes of output that were not kept.
	Dropped   int64
	Error     *ScriptError
	Artifacts []Artifact
	// Saved and Refused tell what became of changes under /skills.
	Saved    []string
	Refused  []RefusedSkill
	Duration time.Duration
	Vault    *pii.Vault
}

// ScriptError is what went wrong in a script.
type ScriptError struct {
	Name, Message pii.Tokenized
	Line, Column  int
	Stack, Hint   pii.Tokenized
}

// RefusedSkill is a change under /skills that was not kept.
type RefusedSkill struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// Execute runs a script to its end. Errors are those of Submit, ErrLanguage, and
// failures to run it at all; what the script did is in the result.
func (s *Service) Execute(ctx context.Context, r ExecuteRequest) (Execution, error) {
	if r.Code == "" {
		return Execution{}, fmt.Errorf("%w: the code is empty", ErrInvalid)
	}
	wall := s.opts.Limits.Execution.Wall
	if r.Timeout < 0 || r.Timeout > wall {
		return Execution{}, fmt.Errorf("%w: timeoutMs is %d; it must be between 1 and %d", ErrInvalid, r.Timeout.Milliseconds(), wall.Milliseconds())
	}
	if _, err := s.backend(r.Language, r.Backend); err != nil {
		return Execution{}, err
	}
	session, err := s.take(ctx, r.User, r.Session)
	if err != nil {
		return Execution{}, err
	}
	defer s.sessions.release(session)
	done, err := s.sessions.work(session)
	if err != nil {
		return Execution{}, err
	}
	defer done()
	ctx, stop := session.within(ctx)
	defer stop(nil)
	return s.execute(ctx, session, script{
		language: r.Language, backend: r.Backend, code: r.Code, wall: cmp.Or(r.Timeout, wall), emit: r.Follow, approve: r.Approve,
	})
}

// script is one run as the parts of this package ask for it.
type script struct {
	language sandbox.Language
	backend  string
	code     string
	wall     time.Duration
	task     ident.Task
	emit     func(EventType, EventData)                          // nil if nobody follows
	approve  func(context.Context, bridge.ApprovalRequest) error // nil within a task, which asks by its events
	calls    int                                                 // of tools that its task has left; 0 without a task
}

func (x script) event(kind EventType, data EventData) {
	if x.emit != nil {
		x.emit(kind, data)
	}
}

// backend finds the sandbox for a language, of the given name if there is one.
func (s *Service) backend(l sandbox.Language, name string) (sandbox.Backend, error) {
	for _, b := range s.opts.Backends {
		if slices.Contains(b.Languages(), l) && (name == "" || name == b.Name()) {
			return b, nil
		}
	}
	if name != "" {
		return nil, fmt.Errorf("%w: %q in the sandbox %q; leave out backend to take any that can", ErrLanguage, l, name)
	}
	return nil, fmt.Errorf("%w: %q; available: %v", ErrLanguage, l, s.Languages())
}

// execute runs one script in its turn.
func (s *Service) execute(ctx context.Context, session *session, x script) (Execution, error) {
	unlock, err := session.executions.lock(ctx)
	if err != nil {
		return Execution{}, err
	}
	defer unlock()
	backend, err := s.backend(x.language, x.backend)
	if err != nil {
		return Execution{}, err
	}
	box, err := session.box(ctx, backend)
	if err != nil {
		return Execution{}, err
	}
	before, err := s.opts.Workspaces.List(session.key)
	if err != nil {
		return Execution{}, fmt.Errorf("list artifacts: %w", err)
	}
	if err := s.kept.heed(ctx, session); err != nil {
		return Execution{}, err
	}
	id := ident.NewExecution()
	code, err := session.vault.Tokenize(pii.NewRaw(x.code), pii.OriginScript)
	if err != nil {
		return Execution{}, fmt.Errorf("tokenize the script for the event log: %w", err)
	}
	x.event(EventExecutionStarted, EventData{Execution: id, Language: string(x.language), Code: code})
	var out Execution
	ctx, ended := s.traceExecution(ctx, session, id, backend.Name(), x)
	defer func() { ended(out.Reason) }()
	result, err := s.run(ctx, session, box, id, x)
	if errors.Is(err, sandbox.ErrClosed) {
		delete(session.boxes, backend.Name())
	}
	if err != nil {
		return Execution{}, fmt.Errorf("run in the %s sandbox: %w", backend.Name(), err)
	}
	out, err = s.settle(ctx, session, id, x, result)
	if err != nil {
		return Execution{}, err
	}
	if err := s.keepFiles(ctx, session); err != nil { // before anybody is told of them
		return Execution{}, err
	}
	if err := s.kept.heed(context.WithoutCancel(ctx), session); err != nil { // what is kept below must say so
		return Execution{}, err
	}
	made, err := s.newArtifacts(session, before)
	if err != nil {
		return Execution{}, err
	}
	if err := s.kept.keep(ctx, session, made); err != nil {
		return Execution{}, err
	}
	if out.Artifacts, err = tellArtifacts(session.vault, made, x); err != nil {
		return Execution{}, err
	}
	s.opts.Observer.ExecutionEnded(backend.Name(), string(x.language), string(out.Reason), out.Duration)
	x.event(EventExecutionFinished, EventData{Execution: id, Outcome: string(out.Reason), DurationMs: out.Duration.Milliseconds()})
	return out, nil
}

// run gives the script its access to the bridge for just as long as it runs.
func (s *Service) run(ctx context.Context, session *session, box sandbox.Sandbox, id ident.Execution, x script) (sandbox.Result, error) {
	limits := s.opts.Limits.Execution
	limits.Wall = x.wall
	clock := sandbox.NewClock(x.wall)
	source, err := bridge.ScriptSource(session.vault, x.code)
	if err != nil {
		return sandbox.Result{}, err
	}
	scope, err := s.scopeOf(session, x.code)
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("what the skill may call: %w", err)
	}
	access, err := s.opts.Bridge.Grant(bridge.Grant{
		User: session.user, Session: session.id, Task: x.task, Execution: id,
		Vault: session.vault, Scope: scope, Calls: x.calls, Deadline: time.Now().Add(x.wall + tokenSlack), Clock: clock,
		Observe: s.observe(ctx, id, x),
	})
	if err != nil {
		return sandbox.Result{}, fmt.Errorf("grant access to the bridge: %w", err)
	}
	defer access.Revoke()
	if x.approve != nil {
		defer s.opts.Approvals.openExecution(id, x.approve)()
	}
	live := newLiveOutput(session.vault, id, x)
	result, err := box.Run(ctx, sandbox.Execution{
		ID: id, Task: x.task, Language: x.language, Code: source, Bridge: s.opts.Bridge.Handler(session.id),
		Token: sandbox.Secret(access.Token()), Files: session.files, Limits: limits, Clock: clock, Output: live.write,
	})
	live.close()
	return result, err
}

// observe counts the bridge's events and turns them into the task's.
func (s *Service) observe(ctx context.Context, id ident.Execution, x script) func(bridge.Event) {
	return func(e bridge.Event) {
		if p := e.Progress; p != nil {
			x.event(EventToolProgress, EventData{Execution: id, Tool: e.Tool, Text: p.Message, Done: p.Done, Total: p.Total})
			return
		}
		kind := EventToolCalled
		if e.Finished {
			kind = EventToolFinished
			s.opts.Observer.ToolCalled(e.Server, e.Outcome, e.Duration)
			s.traceCall(ctx, id, e)
		}
		data := EventData{Execution: id, Tool: e.Tool, Outcome: e.Outcome, DurationMs: e.Duration.Milliseconds(), Bytes: int64(e.ResultBytes)}
		if len(e.Released)+len(e.Refused) > 0 {
			data.Privacy = &Privacy{Server: e.Server, Released: e.Released, Origins: e.Origins, Refused: e.Refused, Policy: e.Policy}
		}
		x.event(kind, data)
	}
}

// settle tokenizes what the script left and keeps the skills it wrote.
func (s *Service) settle(ctx context.Context, session *session, id ident.Execution, x script, r sandbox.Result) (Execution, error) {
	out := Execution{
		ID: id, Session: session.id, Language: x.language, Reason: r.Reason,
		Dropped: r.StdoutDropped + r.StderrDropped, Duration: r.Duration, Vault: session.vault,
	}
	var errs [3]error
	out.Value, errs[0] = session.vault.Tokenize(r.Value, pii.OriginScript)
	out.Stdout, errs[1] = session.vault.Tokenize(r.Stdout, pii.OriginScript)
	out.Stderr, errs[2] = session.vault.Tokenize(r.Stderr, pii.OriginScript)
	if err := errors.Join(errs[:]...); err != nil {
		return Execution{}, fmt.Errorf("tokenize the script's output: %w", err)
	}
	var err error
	if out.Error, err = tokenizeError(session.vault, r.Error); err != nil {
		return Execution{}, err
	}
	report, err := s.opts.Skills.Commit(ctx, session.key, skills.Origin{
		Session: session.id, Task: x.task, Tools: s.toolPrints(servers.Caller{User: session.user, Session: session.id}),
		Script: x.code, Failed: r.Reason != sandbox.ReasonOK,
	})
	if err != nil {
		return Execution{}, fmt.Errorf("keep the skills that the script wrote: %w", err)
	}
	out.Saved = report.Saved
	for _, refused := range report.Refused {
		out.Refused = append(out.Refused, RefusedSkill{Name: refused.Name, Reason: refused.Reason})
	}
	return out, nil
}

func tokenizeError(v *pii.Vault, e *sandbox.ScriptError) (*ScriptError, error) {
	if e == nil {
		return nil, nil
	}
	told := &ScriptError{Line: e.Line, Column: e.Column}
	for _, part := range []struct {
		from pii.Raw
		to   *pii.Tokenized
	}{
		{pii.NewRaw(e.Name), &told.Name}, {e.Message, &told.Message}, {e.Stack, &told.Stack}, {pii.NewRaw(e.Hint), &told.Hint},
	} {
		var err error
		if *part.to, err = v.Tokenize(part.from, pii.OriginScript); err != nil {
			return nil, fmt.Errorf("tokenize the script's error: %w", err)
		}
	}
	return told, nil
}

// newArtifacts finds the artifacts that were not there before, or were changed.
func (s *Service) newArtifacts(session *session, before []workspace.Artifact) ([]workspace.Artifact, error) {
	after, err := s.opts.Workspaces.List(session.key)
	if err != nil {
		return nil, fmt.Errorf("list artifacts: %w", err)
	}
	return slices.DeleteFunc(after, func(a workspace.Artifact) bool { return slices.Contains(before, a) }), nil
}

// tellArtifacts makes the names fit to be told, and tells them.
func tellArtifacts(v *pii.Vault, made []workspace.Artifact, x script) ([]Artifact, error) {
	var told []Artifact
	for _, a := range made {
		name, err := v.Tokenize(pii.NewRaw(a.Name), pii.OriginScript)
		if err != nil {
			return nil, fmt.Errorf("tokenize the name of an artifact: %w", err)
		}
		told = append(told, Artifact{Name: name, Size: a.Size, MIME: a.MIME})
		x.event(EventArtifactCreated, EventData{Name: name, Bytes: a.Size})
	}
	return told, nil
}
