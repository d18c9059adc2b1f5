package docker

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"airlock/runtime/sandbox"
)

// idleTime is how long a session keeps a container that it does not use.
const idleTime = 5 * time.Minute

// pool knows every container there is and bounds their number.
type pool struct {
	backend *Backend
	// embedded are host folders for what is part of the program, by guest name.
	embedded map[string]string
	// making bounds how many containers are made at once: more take longer together.
	making chan struct{}

	mu       sync.Mutex // guards all below
	sessions map[*session]struct{}
	count    int          // containers there are or are being made
	spares   []*container // without folders of a session, for whoever comes
	parked   []*parking   // containers of idle sessions, the longest idle first
	trash    []string     // containers that could not be removed
	changed  chan struct{}
	closed   bool
}

// parking is a container that waits for its session to run something again.
type parking struct {
	owner     *session
	container *container
	expiry    *time.Timer
}

const makingAtOnce = 4

func newPool(b *Backend, embedded map[string]string) *pool {
	return &pool{
		backend: b, embedded: embedded, sessions: map[*session]struct{}{}, changed: make(chan struct{}),
		making: make(chan struct{}, makingAtOnce),
	}
}

// tell wakes all who wait for something to change. The lock is held.
func (p *pool) tell() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// take returns the session's own container if it has these folders, else a spare
// one that has, else a new one.
func (p *pool) take(ctx context.Context, s *session, f folders) (*container, error) {
	p.mu.Lock()
	own := p.find(s)
	var found *container
	if own != nil && own.container.folders.equal(f) && own.container.alive() {
		found, own = own.container, nil
	}
	dead := p.unused(own)
	for found == nil && len(p.spares) > 0 && p.spares[0].folders.equal(f) {
		if p.spares[0].alive() {
			found = p.spares[0]
		} else {
			dead = append(dead, p.spares[0])
		}
		p.spares = p.spares[1:]
	}
	p.tell() // the keeper replaces the spare
	p.mu.Unlock()
	for _, c := range dead {
		p.drop(c)
	}
	if found != nil {
		return found, nil
	}
	return p.make(ctx, f)
}

func (p *pool) unused(k *parking) []*container {
	if k == nil {
		return nil
	}
	return []*container{k.container}
}

// make makes a container when there is room for one.
func (p *pool) make(ctx context.Context, f folders) (*container, error) {
	if err := p.room(ctx); err != nil {
		return nil, err
	}
	var c *container
	select {
	case p.making <- struct{}{}:
	case <-ctx.Done():
		p.leave()
		return nil, fmt.Errorf("wait for a container: %w", context.Cause(ctx))
	}
	c, err := p.backend.make(ctx, f)
	<-p.making
	if err != nil {
		p.leave()
		return nil, err
	}
	return c, nil
}

// room counts one more container, waiting until it may. An idle session's has to
// make room.
func (p *pool) room(ctx context.Context) error {
	for {
		p.mu.Lock()
		if p.closed {
			p.mu.Unlock()
			return sandbox.ErrClosed
		}
		if p.count < p.backend.o.MaxContainers {
			p.count++
			p.mu.Unlock()
			return nil
		}
		idle, changed := p.idle(), p.changed
		p.mu.Unlock()
		if idle != nil {
			p.drop(idle)
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for a container, of which there are %d: %w", p.backend.o.MaxContainers, context.Cause(ctx))
		}
	}
}

// idle takes out a container that nobody uses now. The lock is held.
func (p *pool) idle() *container {
	if len(p.parked) > 0 {
		k := p.parked[0]
		p.unpark(k)
		return k.container
	}
	if len(p.spares) > 0 {
		c := p.spares[0]
		p.spares = p.spares[1:]
		return c
	}
	return nil
}

// leave counts one container less.
func (p *pool) leave() {
	p.mu.Lock()
	p.count--
	p.tell()
	p.mu.Unlock()
}

// drop ends a container and waits for it.
func (p *pool) drop(c *container) {
	if err := p.backend.dispose(c); err != nil {
		p.backend.log.Warn("cannot remove a container's socket", zap.String("container", c.id), zap.Error(err))
	}
	p.leave()
}

// find takes a session's parked container out of the list. The lock is held.
func (p *pool) find(s *session) *parking {
	for _, k := range p.parked {
		if k.owner == s {
			p.unpark(k)
			return k
		}
	}
	return nil
}

// unpark takes a container out of the list. The lock is held.
func (p *pool) unpark(k *parking) {
	if i := slices.Index(p.parked, k); i >= 0 {
		p.parked = slices.Delete(p.parked, i, i+1)
		k.expiry.Stop()
	}
}

// has reports whether a session's own container, or a spare one, has these folders.
func (p *pool) has(s *session, f folders) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, k := range p.parked {
		if k.owner == s {
			return k.container.folders.equal(f)
		}
	}
	return len(p.spares) > 0 && p.spares[0].folders.equal(f)
}

// park keeps a container for its session.
func (p *pool) park(s *session, c *container) {
	p.mu.Lock()
	_, open := p.sessions[s]
	var older *parking
	if open {
		older = p.find(s)
		k := &parking{owner: s, container: c}
		k.expiry = time.AfterFunc(idleTime, func() { p.expire(k) })
		p.parked = append(p.parked, k)
		p.tell()
	}
	p.mu.Unlock()
	if !open {
		p.drop(c)
	}
	if older != nil {
		p.drop(older.container)
	}
}

// expire drops a container that was idle for too long.
func (p *pool) expire(k *parking) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slices.Contains(p.parked, k) && !p.closed {
		p.unpark(k)
		p.backend.tasks.Go(func() { p.drop(k.container) })
	}
}

// discard leaves a container to the keeper to remove.
func (p *pool) discard(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trash = append(p.trash, id)
}

// open makes a session known; false means that the pool is closed.
func (p *pool) open(s *session) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.sessions[s] = struct{}{}
	return true
}

// forget ends what a session has.
func (p *pool) forget(s *session) {
	p.mu.Lock()
	delete(p.sessions, s)
	own := p.find(s)
	p.mu.Unlock()
	if own != nil {
		p.drop(own.container)
	}
}

// close ends all sessions and waits for them; false means that it was closed.
func (p *pool) close() bool {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return false
	}
	p.closed = true
	p.tell()
	sessions := make([]*session, 0, len(p.sessions))
	for s := range p.sessions {
		sessions = append(sessions, s)
	}
	p.mu.Unlock()
	var ended sync.WaitGroup
	for _, s := range sessions {
		ended.Go(func() { _ = s.Close() })
	}
	ended.Wait()
	return true
}

// spare makes a container for whoever comes, if one is missing.
func (p *pool) spare(ctx context.Context, f folders) error {
	c, err := p.make(ctx, f)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spares = append(p.spares, c)
	return nil
}

// missing takes out dead spares and tells how many to make, and what changes when
// that does.
func (p *pool) missing() (n int, dead []*container, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spares = slices.DeleteFunc(p.spares, func(c *container) bool {
		if !c.alive() {
			dead = append(dead, c)
		}
		return !c.alive()
	})
	n = p.backend.o.Pool - len(p.spares)
	if p.count-len(dead)+n > p.backend.o.MaxContainers {
		n = p.backend.o.MaxContainers - p.count + len(dead) // sessions come first
	}
	return max(n, 0), dead, p.changed
}

// takeTrash returns the containers that are still to be removed.
func (p *pool) takeTrash() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	trash := p.trash
	p.trash = nil
	return trash
}
