package docker

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"sync"
	"time"

	"go.uber.org/zap"

	"airlock/runtime/docker/internal/wire"
	"airlock/runtime/sandbox"
)

const (
	// graceTime is what a supervisor is given to end an execution, after it was
	// asked to, before its container is killed.
	graceTime = 500 * time.Millisecond
	// maxResult bounds a result whatever its limit says.
	maxResult = 128 << 20
)

var (
	// errNotBegun means that the container was dead before the script began.
	errNotBegun = errors.New("the container was dead")
	errOutput   = errors.New("too much output")
	errResult   = fmt.Errorf("%w: the result is longer than it may be", wire.ErrProtocol)
)

// execution is this process's half of an execution: it follows the supervisor that
// runs the script, and does not trust it.
type execution struct {
	x         sandbox.Execution
	script    script
	container *container
	backend   *Backend
	log       *zap.Logger
	output    *output
	stop      context.CancelCauseFunc
	nonce     string
	started   bool
	value     []byte
	complaint string // what the script threw, for the isolation's test
	// healthy says, after run, that the container can run another one.
	healthy bool
}

// run runs the script to its end, which comes with ctx's at the latest: its clock
// runs. When it returns, no call of the bridge and nothing of the execution in the
// container is left.
func (e *execution) run(ctx context.Context) (sandbox.Result, error) {
	before, err := e.container.folders.open()
	if err != nil {
		e.healthy = true
		return sandbox.Result{}, err
	}
	if err := e.container.adopt(ctx, e.x.Limits, e.backend.o.Runtime); err != nil {
		return sandbox.Result{}, err
	}
	begun := time.Now()
	quota := &quota{bytes: e.backend.o.FolderBytes, files: e.backend.o.FolderFiles, was: before}
	ctx, e.stop = context.WithCancelCause(ctx)
	defer e.stop(nil)
	end := e.container.gateway.begin(ctx, e.x.Bridge)
	outcome, err := e.follow(ctx, quota)
	stopped := context.Cause(ctx)
	end()
	e.healthy = err == nil && !outcome.Leftovers && e.container.alive()
	if err != nil {
		if failed := e.bury(err); failed != nil {
			return sandbox.Result{}, fmt.Errorf("the engine was lost while the script ran, and so was its outcome: %w", failed)
		}
	}
	if !e.started && err != nil && stopped == nil {
		return sandbox.Result{}, fmt.Errorf("%w: %w", errNotBegun, err)
	}
	stopped = e.settle(quota, stopped)
	result := e.result(outcome, err, stopped)
	result.Duration = time.Since(begun)
	return result, nil
}

// bury makes sure that nothing runs in a container that ended out of order; its
// error means that this is not known.
func (e *execution) bury(err error) error {
	if !errors.Is(err, net.ErrClosed) { // which is what our own hanging up does
		e.log.Warn("a sandbox's supervisor failed", zap.Error(err), zap.String("said", e.container.lastWords()))
	}
	return e.container.kill()
}

// settle looks at the folders once more, when nothing writes to them, and brings
// them back to what they may hold.
func (e *execution) settle(q *quota, stopped error) error {
	found := q.exceeded()
	var over *full
	if !errors.As(found, &over) {
		return stopped
	}
	if err := q.trim(); err != nil {
		e.log.Warn("cannot make room in a sandbox's folder", zap.Error(err))
	}
	if stopped == nil {
		return over
	}
	return stopped
}

// follow starts the script and reads what the supervisor says until it is done.
// Beside it, one goroutine ends the execution when its time does and another
// looks after the folders.
func (e *execution) follow(ctx context.Context, q *quota) (wire.Outcome, error) {
	ended := make(chan struct{})
	var beside sync.WaitGroup
	defer beside.Wait()
	defer close(ended)
	beside.Go(func() { e.watch(ctx, ended) })
	beside.Go(func() { e.guard(q, ended) })
	if err := e.send(); err != nil {
		return wire.Outcome{}, err
	}
	for f := range e.container.frames {
		done, err := e.take(f)
		if err != nil {
			return wire.Outcome{}, err
		}
		if done != nil {
			return *done, nil
		}
	}
	<-e.container.gone
	return wire.Outcome{}, e.container.failed
}

// watch asks the supervisor to stop when the time is up, and kills the container
// if it does not.
func (e *execution) watch(ctx context.Context, ended <-chan struct{}) {
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	kill := time.AfterFunc(graceTime, e.container.hangUp)
	defer kill.Stop()
	order, _ := json.Marshal(wire.Order{ID: string(e.x.ID)})
	_ = e.container.send(wire.Cancel, order) // if it fails, the stream ends, or the time does
	<-ended
}

// guard stops the execution when a folder holds too much. It looks as often as
// looking takes a small part of the time.
func (e *execution) guard(q *quota, ended <-chan struct{}) {
	const least, share = 100 * time.Millisecond, 20
	for pause := least; ; {
		timer := time.NewTimer(pause)
		select {
		case <-ended:
			timer.Stop()
			return
		case <-timer.C:
		}
		begun := time.Now()
		var over *full
		if errors.As(q.exceeded(), &over) {
			e.stop(over)
			return
		}
		pause = max(least, share*time.Since(begun))
	}
}

// send sends the script.
func (e *execution) send() error {
	e.nonce = rand.Text()
	code := e.script.code
	for len(code) > wire.PartBytes {
		if err := e.container.send(wire.Code, []byte(code[:wire.PartBytes])); err != nil {
			return fmt.Errorf("send the script: %w", err)
		}
		code = code[wire.PartBytes:]
	}
	l := e.x.Limits
	job, err := json.Marshal(wire.Job{
		ID: string(e.x.ID), Nonce: e.nonce, Language: string(e.script.language), Code: code, Name: e.script.name,
		Token: string(e.x.Token), Socket: bridgeFolder + "/" + socketName,
		Limits: wire.Limits{
			WallMs: l.Wall.Milliseconds(), OutputBytes: l.OutputBytes, OutputKillBytes: l.OutputKillBytes,
			ResultBytes: min(l.ResultBytes, maxResult), MemoryBytes: l.MemoryBytes,
		},
	})
	if err != nil {
		return err
	}
	if err := e.container.send(wire.Run, job); err != nil {
		return fmt.Errorf("send the script: %w", err)
	}
	return nil
}

// take takes one frame; an outcome ends the execution.
func (e *execution) take(f wire.Frame) (*wire.Outcome, error) {
	switch f.Kind {
	case wire.Pong:
		return nil, nil
	case wire.Started:
		e.started = true
		return nil, nil
	case wire.Stdout, wire.Stderr:
		index := 0
		if f.Kind == wire.Stderr {
			index = 1
		}
		e.output.add(index, f.Payload)
		if e.output.total > e.x.Limits.OutputKillBytes {
			e.stop(errOutput)
		}
		return nil, nil
	case wire.Value:
		e.value = append(e.value, f.Payload...)
		if int64(len(e.value)) > min(e.x.Limits.ResultBytes, maxResult) {
			return nil, errResult
		}
		return nil, nil
	case wire.Done:
		return e.done(f.Payload)
	default:
		return nil, fmt.Errorf("%w: a frame of kind %q during an execution", wire.ErrProtocol, f.Kind)
	}
}

func (e *execution) done(payload []byte) (*wire.Outcome, error) {
	var o wire.Outcome
	if err := json.Unmarshal(payload, &o); err != nil {
		return nil, fmt.Errorf("%w: an outcome that is no JSON", wire.ErrProtocol)
	}
	if o.ID != string(e.x.ID) || o.Nonce != e.nonce {
		return nil, fmt.Errorf("%w: the outcome of another execution", wire.ErrProtocol)
	}
	return &o, nil
}

// adopt gives the container the execution's limits, if it has others.
func (c *container) adopt(ctx context.Context, l sandbox.Limits, runtime string) error {
	if c.limits.MemoryBytes == l.MemoryBytes && c.limits.Processes == l.Processes && c.limits.CPUQuota == l.CPUQuota {
		return nil
	}
	if err := c.engine.limit(ctx, c.id, l, runtime); err != nil {
		return err
	}
	c.limits = l
	return nil
}

// clock is the execution's clock, or one that never stops.
func clock(x sandbox.Execution) *sandbox.Clock {
	if x.Clock != nil {
		return x.Clock
	}
	return sandbox.NewClock(x.Limits.Wall)
}

var outsideName = regexp.MustCompile(`[^A-Za-z0-9._/-]+`)

// scriptName makes a name that can stand in a stack trace.
func scriptName(name string) string {
	name = outsideName.ReplaceAllString(name, "_")
	if name == "" {
		return "script"
	}
	return name[:min(len(name), 200)]
}
