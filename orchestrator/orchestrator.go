// Package orchestrator takes in tasks and sees them to their end: it keeps users'
// sessions, runs the agent loop between a model and the sandboxes, and records
// what happened.
//
// Start with Service. Submit takes a task in and returns at once; Wait follows it
// to its end; Execute runs a script without any model. A task belongs to one
// goroutine, which the Service owns: Close ends them all and waits.
//
// Every text that leaves this package is pii.Tokenized. Turning it back for the
// user is the business of package api, since this package cannot open a pii.Raw.
// What goes wrong inside a script is part of a result, not an error; errors here
// mean that the work itself could not be done.
package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"

	"airlock/bridge"
	"airlock/ident"
	"airlock/orchestrator/llm"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/skills"
	"airlock/workspace"
)

// Options are what a Service is made of. All but Log and
// Observer are required.
type Options struct {
	Provider llm.Provider
	// Models are what tasks may name, the one of those that name none first. Without
	// any, that one is the Provider's own choice.
	Models []Model
	// Fallback, if set, is the ID of the model that goes on with a task when the
	// task's own cannot be reached, is overloaded, or has no quota left.
	Fallback string
	// Backends are tried in order; the first that runs a script's language does.
	Backends []sandbox.Backend
	Bridge   *bridge.Bridge
	// Approvals is the Approver of Bridge.
	Approvals  *Approvals
	Skills     *skills.Store
	Workspaces *workspace.Store
	// Vaults configure the vault of each session.
	Vaults pii.VaultOptions
	// State keeps what must outlive the process; StateKey, 32 random bytes that are not
	// kept in it, seals what of it is personal.
	State    State
	StateKey []byte
	// Pseudonym names users in paths and logs.
	Pseudonym ident.Pseudonym
	// Servers, if set, is told of each session that has ended.
	Servers SessionServers
	// StubsDir is where the service writes the files that tell scripts their tools,
	// into a folder of its own that Close removes.
	StubsDir string
	Limits   Limits
	// ArtifactAge is how long after its last change a file in /artifacts is deleted; 0
	// keeps files until their users delete them.
	ArtifactAge time.Duration
	// Observer counts what happens; nil counts nothing.
	Observer Observer
	// Tracer makes spans of what happens; nil makes none.
	Tracer trace.Tracer
	Log    *zap.Logger
}

// Limits bound the service. Every field must be positive.
type Limits struct {
	// TaskBytes bounds the text of a task.
	TaskBytes int
	// Turns bounds how often a task asks the model, Task how long it may take.
	Turns int
	Task  time.Duration
	// Tokens bounds what a task's model reads and writes, ToolCalls how often its
	// scripts call tools.
	Tokens, ToolCalls int
	// CostUSD bounds what a task's model may cost, in US dollars by the prices of
	// Models; 0 sets no bound, as the prices may not be known.
	CostUSD float64
	// Running tasks work at once, Waiting more are kept in line.
	Running, Waiting int
	// InputBytes bounds what was sent with all tasks that have not ended, UserInputBytes
	// what one user sent with theirs.
	InputBytes, UserInputBytes int
	// Sessions bounds the sessions kept; one unused for SessionIdle is ended.
	Sessions    int
	SessionIdle time.Duration
	// KeptTasks bounds the finished tasks that can still be looked up.
	KeptTasks int
	// ModelBytes bounds what one execution may tell the model; the rest stays in
	// a file of the session's workspace.
	ModelBytes int
	// ContextTokens is about how much of a conversation the model is told; a longer one
	// is shortened from its beginning.
	ContextTokens int
	// Execution bounds each script.
	Execution sandbox.Limits
}

// DefaultLimits are the limits used where an operator names none.
func DefaultLimits() Limits {
	return Limits{
		TaskBytes:      1 << 20,
		Turns:          30,
		Task:           10 * time.Minute,
		Tokens:         4_000_000,
		ToolCalls:      5000,
		Running:        16,
		Waiting:        1000,
		InputBytes:     512 << 20,
		UserInputBytes: 64 << 20,
		Sessions:       2000,
		SessionIdle:    time.Hour,
		KeptTasks:      5000,
		ModelBytes:     16 << 10,
		ContextTokens:  120_000,
		Execution:      sandbox.DefaultLimits(),
	}
}

func (l Limits) validate() error {
	for _, f := range []struct {
		name  string
		value int64
	}{
		{"TaskBytes", int64(l.TaskBytes)}, {"Turns", int64(l.Turns)}, {"Task", int64(l.Task)},
		{"Tokens", int64(l.Tokens)}, {"ToolCalls", int64(l.ToolCalls)},
		{"Running", int64(l.Running)}, {"Waiting", int64(l.Waiting)}, {"InputBytes", int64(l.InputBytes)},
		{"UserInputBytes", int64(l.UserInputBytes)}, {"Sessions", int64(l.Sessions)},
		{"SessionIdle", int64(l.SessionIdle)}, {"KeptTasks", int64(l.KeptTasks)}, {"ModelBytes", int64(l.ModelBytes)},
		{"ContextTokens", int64(l.ContextTokens)},
	} {
		if f.value <= 0 {
			return fmt.Errorf("orchestrator limits: %s is %d; it must be positive", f.name, f.value)
		}
	}
	if !(l.CostUSD >= 0) { // NaN too
		return fmt.Errorf("orchestrator limits: CostUSD is %v; it must not be negative", l.CostUSD)
	}
	return l.Execution.Validate()
}

// Service takes in tasks and executions. Its methods may be called concurrently.
type Service struct {
	opts     Options
	log      *zap.Logger
	ctx      context.Context //nolint:containedctx // the service's own life: ends with Close, parent of every task
	cancel   context.CancelFunc
	work     sync.WaitGroup // tasks, the sweeper and who keeps tidy
	slots    *slots         // of running tasks
	resting  *resting       // models that failed just now
	sessions *sessions
	tasks    *tasks
	kept     *keeper
	lasting  atomic.Bool // what does not end here goes on in another process
	taking   gate        // held while tasks are taken over
}

// New checks the options and starts the service.
func New(o Options) (*Service, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	if o.Observer == nil {
		o.Observer = unobserved{}
	}
	if o.Tracer == nil {
		o.Tracer = noop.NewTracerProvider().Tracer("")
	}
	ctx, cancel := context.WithCancel(context.Background())
	kept := &keeper{state: o.State, key: o.StateKey, vaults: o.Vaults}
	s := &Service{
		opts: o, log: o.Log, ctx: ctx, cancel: cancel,
		slots:    newSlots(o.Limits.Running),
		resting:  newResting(),
		sessions: newSessions(o, kept),
		tasks:    newTasks(o.Limits),
		kept:     kept,
		taking:   newGate(),
	}
	s.work.Go(s.sweep)
	return s, nil
}

func (o Options) validate() error {
	switch {
	case o.Provider == nil:
		return errors.New("orchestrator: Provider is missing")
	case len(o.Backends) == 0:
		return errors.New("orchestrator: no sandbox backend")
	case o.StubsDir == "":
		return errors.New("orchestrator: StubsDir is missing")
	case o.Bridge == nil || o.Approvals == nil || o.Skills == nil || o.Workspaces == nil || o.State.missing():
		return errors.New("orchestrator: Bridge, Approvals, Skills, Workspaces and State are required")
	}
	if err := o.checkModels(); err != nil {
		return err
	}
	return o.Limits.validate()
}

// Close ends all tasks and sessions and waits for them. Tasks that were under way end
// as cancelled, or, after Resume, wait for the next process that resumes.
func (s *Service) Close() error {
	s.tasks.close()
	s.cancel()
	s.work.Wait()
	return s.sessions.close(s.lasting.Load())
}

// sweepEvery is how often idle sessions are looked for.
const sweepEvery = time.Minute

func (s *Service) sweep() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			if err := errors.Join(s.sessions.endIdle(s.opts.Limits.SessionIdle), s.sweepKept()); err != nil {
				s.log.Warn("ending an idle session failed", zap.Error(err))
			}
		}
	}
}
