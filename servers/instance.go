package servers

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"
)

// instance is one running copy of a server, or the place for one. It starts
// when it is acquired, is restarted with growing pauses after it failed, and
// stops when nobody has used it for a while.
type instance struct {
	up    *upstream
	owner Caller        // the first one; all others have the same instanceKey
	slots chan struct{} // calls at once

	mu        sync.Mutex // guards what follows
	conn      *connection
	starting  *attempt
	failures  int // in a row
	last      error
	notBefore time.Time // no start earlier
	holders   int
	used      time.Time
	idle      *time.Timer
	retired   bool
}

// attempt is a start that is under way; err is set before done is closed.
type attempt struct {
	done chan struct{}
	err  error
}

var errRetired = errors.New("instance retired")

const (
	maxBackoff = 30 * time.Second
	// coolDown is how long the circuit stays open before one more try.
	coolDown = 60 * time.Second
	// patience is the longest pause that a caller waits through; before a
	// longer one it is told to come back.
	patience = 2 * time.Second
)

func newInstance(u *upstream, c Caller) *instance {
	return &instance{up: u, owner: c, slots: make(chan struct{}, u.entry.concurrency), used: time.Now()}
}

// acquire returns the live connection and counts its caller as a holder.
func (i *instance) acquire(ctx context.Context) (*connection, error) {
	for {
		conn, wait, err := i.next()
		if conn != nil || err != nil {
			return conn, err
		}
		select {
		case <-wait.done:
			if wait.err != nil {
				return nil, wait.err
			}
		case <-ctx.Done():
			return nil, i.up.interrupted(ctx, doStart, "it was still starting")
		}
	}
}

// next returns a connection to use, or what to wait for.
func (i *instance) next() (*connection, *attempt, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.retired {
		return nil, nil, errRetired
	}
	if i.conn != nil && !i.conn.alive() {
		i.lost()
	}
	if i.conn != nil {
		if probe := i.conn.probing(); probe != nil {
			return nil, &attempt{done: probe}, nil
		}
		i.hold()
		return i.conn, nil, nil
	}
	if i.starting == nil {
		if err := i.begin(); err != nil {
			return nil, nil, err
		}
	}
	return nil, i.starting, nil
}

func (i *instance) hold() {
	i.holders++
	if i.idle != nil {
		i.idle.Stop()
		i.idle = nil
	}
}

// begin starts the server in a goroutine of the manager: the caller that
// happens to be first may give up without spoiling it for the others.
func (i *instance) begin() error {
	pause := time.Until(i.notBefore)
	if pause > 0 && i.failures > i.up.entry.maxRestarts {
		return i.circuitOpen(pause)
	}
	if pause > patience {
		return i.pausing(pause)
	}
	a := &attempt{done: make(chan struct{})}
	i.starting = a
	i.up.manager.work.Go(func() { i.start(a, pause) })
	return nil
}

func (i *instance) start(a *attempt, pause time.Duration) {
	ctx := i.up.manager.ctx
	conn, err := (*connection)(nil), sleep(ctx, pause)
	if err == nil {
		conn, err = dial(ctx, i.up, i.owner)
	} else {
		err = i.up.fail(doStart, ErrUpstream, "airlock is shutting down", "")
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.starting = nil
	i.used = time.Now()
	switch {
	case err != nil:
		i.failed(err)
	case i.retired:
		conn.close()
		err = errRetired
	default:
		i.conn = conn
		i.armIdle()
	}
	a.err = err
	close(a.done)
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lost takes a connection that broke out of use. Its remains are cleared away
// in the background, since the next start need not wait for them.
func (i *instance) lost() {
	conn := i.conn
	i.conn = nil
	i.failed(conn.cause())
	i.up.manager.work.Go(func() { conn.close() })
}

// failed counts a failure. The first one is followed by a restart at once, as
// whatever killed a server that worked is mostly over by then.
func (i *instance) failed(err error) {
	i.failures++
	i.last = err
	pause := time.Duration(0)
	switch n := i.failures; {
	case n > i.up.entry.maxRestarts:
		pause = coolDown
	case n > 1:
		pause = min(i.up.entry.backoff<<min(n-2, 16), maxBackoff)
	}
	i.notBefore = time.Now().Add(pause)
	i.up.manager.log.Warn("server failed", zap.String("server", i.up.entry.Name),
		zap.Int("inARow", i.failures), zap.Duration("pause", pause), zap.Error(err))
}

func (i *instance) circuitOpen(pause time.Duration) error {
	return i.again(fmt.Sprintf("it failed %d times in a row and is left alone", i.failures), pause)
}

func (i *instance) pausing(pause time.Duration) error {
	return i.again("it is restarted after a pause", pause)
}

// again adds the last failure, whose text is ours, to what it says.
func (i *instance) again(reason string, pause time.Duration) error {
	err := i.up.fail(doStart, ErrUpstream, reason, fmt.Sprintf("try again in %s", max(pause.Round(time.Second), time.Second)))
	var last *Error
	if errors.As(i.last, &last) {
		err.Reason += "; the last failure was: " + last.Reason
		err.Detail = last.Detail
		if last.Hint != "" {
			err.Hint = last.Hint + ", then " + err.Hint
		}
	}
	return err
}

// worked ends a row of failures.
func (i *instance) worked() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.failures = 0
}

func (i *instance) release() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.holders--
	i.used = time.Now()
	if i.holders == 0 {
		i.armIdle()
	}
}

// armIdle sets the alarm that stops the server. A built-in one has no process
// to save.
func (i *instance) armIdle() {
	if i.conn == nil || i.retired || i.holders > 0 || i.up.entry.Transport == transportBuiltin {
		return
	}
	if i.idle != nil {
		i.idle.Stop()
	}
	i.idle = time.AfterFunc(i.up.entry.idleStop, i.stopIdle)
}

func (i *instance) stopIdle() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.retired || i.holders > 0 || i.conn == nil || time.Since(i.used) < i.up.entry.idleStop {
		return
	}
	conn := i.conn
	i.conn = nil
	i.up.manager.work.Go(func() { conn.close() })
}

// enter takes one of the slots for calls.
func (i *instance) enter(ctx context.Context) error {
	select {
	case i.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (i *instance) leave() { <-i.slots }

func (i *instance) live() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.conn != nil && i.conn.alive()
}

func (i *instance) usage() (used time.Time, busy bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.used, i.holders > 0 || i.starting != nil
}
