package sandbox

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrDeadline is the cause of a context that a Clock ended.
var ErrDeadline = errors.New("execution ran out of time")

// Clock measures the time of one execution and can be stopped, so that waiting
// for a person does not use up the script's time. Stops nest: it runs again when
// each Stop has been answered by its resume function. Safe for concurrent use.
type Clock struct {
	mu      sync.Mutex // guards all below
	left    time.Duration
	since   time.Time // when it last began to run; zero while stopped
	stops   int
	timer   *time.Timer
	expire  context.CancelCauseFunc
	stopped bool // Start's context is done; nothing may be armed any more
}

// NewClock makes a clock that holds wall of time and does not run yet.
func NewClock(wall time.Duration) *Clock { return &Clock{left: wall} }

// Start lets the clock run and returns a context that ends, with the cause
// ErrDeadline, when its time is used up. The returned function releases the
// clock and must be called. A clock is started once.
func (c *Clock) Start(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expire = cancel
	if c.stops == 0 {
		c.arm()
	}
	return ctx, func() {
		c.mu.Lock()
		c.disarm()
		c.stopped = true
		c.mu.Unlock()
		cancel(context.Canceled)
	}
}

// Stop lets the time stand still until the returned function is called. Calling
// that function more than once does nothing more.
func (c *Clock) Stop() (resume func()) {
	if c == nil {
		return func() {}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stops++
	c.disarm()
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stops--
		if c.stops == 0 && c.expire != nil && !c.stopped {
			c.arm()
		}
	})
}

// Left is the time that remains, not below zero.
func (c *Clock) Left() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.left
	if !c.since.IsZero() {
		left -= time.Since(c.since)
	}
	return max(left, 0)
}

func (c *Clock) arm() {
	c.since = time.Now()
	expire := c.expire
	c.timer = time.AfterFunc(c.left, func() { expire(ErrDeadline) })
}

func (c *Clock) disarm() {
	if c.timer == nil || c.since.IsZero() {
		return
	}
	c.timer.Stop()
	c.left = max(c.left-time.Since(c.since), 0)
	c.since = time.Time{}
}
