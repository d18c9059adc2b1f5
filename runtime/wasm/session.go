package wasm

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"go.uber.org/zap"

	"airlock/runtime/sandbox"
	"airlock/runtime/wasm/internal/wire"
)

// session is the sandbox of one session.
type session struct {
	pool *pool
	log  *zap.Logger // names the session

	running sync.Mutex // held while an execution runs

	mu     sync.Mutex // guards both below
	cancel context.CancelCauseFunc
	closed bool
}

// minMemory is the least memory an interpreter can do anything with.
const minMemory = 8 << 20

// Run runs one execution in the session's worker.
func (s *session) Run(ctx context.Context, x sandbox.Execution) (sandbox.Result, error) {
	if err := validate(x); err != nil {
		return sandbox.Result{}, err
	}
	if !s.running.TryLock() {
		return sandbox.Result{}, sandbox.ErrBusy
	}
	defer s.running.Unlock()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !s.begin(cancel) {
		return sandbox.Result{}, sandbox.ErrClosed
	}
	log := s.log.WithLazy(zap.String("execution", string(x.ID)), zap.String("task", string(x.Task)))
	w, err := s.readyWorker(ctx, log)
	if err != nil {
		return notBegun(ctx, err)
	}
	e := newExecution(x, w, log)
	result := e.run(ctx)
	if e.healthy {
		s.pool.park(s, w)
	} else {
		s.pool.drop(w)
	}
	return result, nil
}

// notBegun is the outcome of an execution that got no worker.
func notBegun(ctx context.Context, err error) (sandbox.Result, error) {
	switch cause := context.Cause(ctx); {
	case cause == nil:
		return sandbox.Result{}, err
	case errors.Is(cause, sandbox.ErrClosed):
		return sandbox.Result{}, sandbox.ErrClosed
	default:
		return sandbox.Result{Reason: sandbox.ReasonCancelled, Error: cancelled()}, nil
	}
}

// readyWorker takes the session's worker, or a fresh one if that has died since.
func (s *session) readyWorker(ctx context.Context, log *zap.Logger) (*process, error) {
	w, err := s.pool.take(ctx, s)
	if err != nil {
		return nil, err
	}
	failed := w.ready(ctx)
	if failed == nil {
		return w, nil
	}
	s.pool.drop(w)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("wait for a sandbox worker: %w", context.Cause(ctx))
	}
	log.Warn("a sandbox worker died between executions", zap.Error(failed), zap.String("said", w.lastWords()))
	return s.pool.fresh(ctx)
}

func validate(x sandbox.Execution) error {
	if x.Language != sandbox.JavaScript && x.Language != sandbox.TypeScript {
		return fmt.Errorf("run %q in the wasm sandbox: %w; it runs javascript and typescript", x.Language, sandbox.ErrLanguage)
	}
	if err := x.Limits.Validate(); err != nil {
		return err
	}
	if x.Limits.MemoryBytes < minMemory {
		return fmt.Errorf("%w: memory is %d bytes; a script needs at least %d", sandbox.ErrLimits, x.Limits.MemoryBytes, minMemory)
	}
	if len(x.Code) > wire.MaxCode {
		return fmt.Errorf("%w: the script is %d bytes long; at most %d can be run, so put data into a file", sandbox.ErrLimits, len(x.Code), wire.MaxCode)
	}
	return nil
}

// begin registers how to end the execution; false means that the sandbox is closed.
func (s *session) begin(cancel context.CancelCauseFunc) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel = cancel
	return !s.closed
}

// Close ends a running execution, with ReasonKilled, and the session's worker.
func (s *session) Close() error {
	s.mu.Lock()
	s.closed = true
	if s.cancel != nil {
		s.cancel(sandbox.ErrClosed)
	}
	s.mu.Unlock()
	s.running.Lock()
	defer s.running.Unlock()
	s.pool.forget(s)
	return nil
}

// clock is the execution's clock, or one that never stops.
func clock(x sandbox.Execution) *sandbox.Clock {
	if x.Clock != nil {
		return x.Clock
	}
	return sandbox.NewClock(x.Limits.Wall)
}
