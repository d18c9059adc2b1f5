package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.uber.org/zap"

	"airlock/runtime/sandbox"
)

// session is the sandbox of one session.
type session struct {
	backend *Backend
	log     *zap.Logger // names the session

	running sync.Mutex // held while an execution runs, and by Close

	mu       sync.Mutex // guards all below
	cancel   context.CancelCauseFunc
	prepared chan struct{} // closed when the container being made ahead is there or failed
	abandon  context.CancelFunc
	closed   bool
}

const (
	// leastMemory is what no interpreter of the image starts without.
	leastMemory = 16 << 20
	// maxCode bounds a script.
	maxCode = 4 << 20
)

// Run runs one execution in the session's container.
func (s *session) Run(ctx context.Context, x sandbox.Execution) (sandbox.Result, error) {
	if err := s.backend.validate(x); err != nil {
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
	result, err := s.run(ctx, x)
	if err == nil {
		return result, nil
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, sandbox.ErrClosed):
		return sandbox.Result{}, sandbox.ErrClosed
	case cause != nil:
		return sandbox.Result{Reason: sandbox.ReasonCancelled, Error: cancelled()}, nil
	default:
		return sandbox.Result{}, fmt.Errorf("run a script in the docker sandbox: %w", err)
	}
}

// run finds a container and runs the execution in it. A container that turns out
// to be dead before the script began is replaced, once by one in stock and once
// by a new one.
func (s *session) run(ctx context.Context, x sandbox.Execution) (sandbox.Result, error) {
	if err := s.backend.verify(ctx); err != nil {
		return sandbox.Result{}, err
	}
	folders, err := s.backend.foldersOf(x.Files)
	if err != nil {
		return sandbox.Result{}, err
	}
	code, mistake := s.backend.prepareCode(x)
	if mistake != nil {
		return *mistake, nil
	}
	s.await(ctx)
	log := s.log.WithLazy(zap.String("execution", string(x.ID)), zap.String("task", string(x.Task)))
	timed := ctx
	for attempt := 0; ; attempt++ {
		c, err := s.backend.pool.take(ctx, s, folders)
		if err != nil {
			return sandbox.Result{}, err
		}
		if attempt == 0 { // a clock is started once
			var release context.CancelFunc
			timed, release = clock(x).Start(ctx)
			defer release()
		}
		e := &execution{x: x, script: code, container: c, backend: s.backend, log: log, output: newOutput(x)}
		result, err := e.run(timed)
		s.release(c, e.healthy)
		if !errors.Is(err, errNotBegun) || attempt == 2 || timed.Err() != nil {
			return result, err
		}
		log.Warn("a container died between executions", zap.Error(err))
	}
}

func (s *session) release(c *container, healthy bool) {
	if healthy {
		s.backend.pool.park(s, c)
	} else {
		s.backend.pool.drop(c)
	}
}

func (b *Backend) validate(x sandbox.Execution) error {
	if !slices.Contains(b.Languages(), x.Language) {
		return fmt.Errorf("run %q in the docker sandbox: %w; it runs javascript, typescript, python and bash", x.Language, sandbox.ErrLanguage)
	}
	if err := x.Limits.Validate(); err != nil {
		return err
	}
	if x.Limits.MemoryBytes < leastMemory {
		return fmt.Errorf("%w: memory is %d bytes; a script needs at least %d", sandbox.ErrLimits, x.Limits.MemoryBytes, leastMemory)
	}
	if len(x.Code) > maxCode {
		return fmt.Errorf("%w: the script is %d bytes long; at most %d can be run, so put data into a file", sandbox.ErrLimits, len(x.Code), maxCode)
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

// Prepare implements Preparer.
func (s *session) Prepare(files sandbox.Files) {
	folders, err := s.backend.foldersOf(files)
	if err != nil {
		return // Run says it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.prepared != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.prepared, s.abandon = done, cancel
	go s.makeAhead(ctx, cancel, folders, done)
}

// makeAhead makes the session's container. Close waits for it.
func (s *session) makeAhead(ctx context.Context, cancel context.CancelFunc, f folders, done chan<- struct{}) {
	defer close(done)
	defer cancel()
	if err := s.backend.verify(ctx); err != nil {
		return // Run says it
	}
	if s.backend.pool.has(s, f) {
		return
	}
	c, err := s.backend.pool.make(ctx, f)
	if err != nil {
		s.log.Warn("cannot make a container ahead", zap.Error(err))
		return
	}
	s.backend.pool.park(s, c)
}

// await waits for the container that is being made ahead.
func (s *session) await(ctx context.Context) {
	s.mu.Lock()
	prepared := s.prepared
	s.mu.Unlock()
	if prepared == nil {
		return
	}
	select {
	case <-prepared:
		s.mu.Lock()
		s.prepared = nil
		s.mu.Unlock()
	case <-ctx.Done():
	}
}

// Close ends a running execution, with ReasonKilled, and the session's container.
func (s *session) Close() error {
	s.mu.Lock()
	s.closed = true
	if s.cancel != nil {
		s.cancel(sandbox.ErrClosed)
	}
	if s.abandon != nil {
		s.abandon()
	}
	prepared := s.prepared
	s.mu.Unlock()
	s.running.Lock()
	defer s.running.Unlock()
	if prepared != nil {
		<-prepared
	}
	s.backend.pool.forget(s)
	return nil
}
