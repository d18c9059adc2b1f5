package wasm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"airlock/runtime/sandbox"
)

// idleTime is how long a session keeps a worker that it does not use.
const idleTime = time.Minute

// pool makes workers and bounds how many there are.
type pool struct {
	o       Options
	spawner *spawner
	slots   chan struct{}   // one for each process there is
	spares  chan *process   // unbuffered but for all spares beyond the first
	failed  chan error      // offered while workers cannot be started
	ended   <-chan struct{} // closed by cancel
	cancel  context.CancelFunc
	tasks   sync.WaitGroup // the filler, and expiring workers

	mu       sync.Mutex // guards all below
	sessions map[*session]struct{}
	parked   []*parking // workers of idle sessions, the longest idle first
	waiting  int        // executions that wait for a worker
	closed   bool
}

// parking is a worker that waits for its session to run something again.
type parking struct {
	owner   *session
	process *process
	expiry  *time.Timer
}

func newPool(o Options) *pool {
	p := &pool{
		o: o, spawner: newSpawner(), slots: make(chan struct{}, o.MaxWorkers),
		spares: make(chan *process, o.Spares-1), failed: make(chan error),
		sessions: map[*session]struct{}{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.ended, p.cancel = ctx.Done(), cancel
	p.tasks.Go(func() { p.fill(ctx) })
	return p
}

// fill keeps spares ready: one in its hands, the others in the channel.
func (p *pool) fill(ctx context.Context) {
	for failures := 0; ; {
		select {
		case p.slots <- struct{}{}:
		case <-p.ended:
			return
		}
		worker, err := p.spawner.startProcess(ctx, p.o)
		if err != nil {
			<-p.slots
			failures++
			if !p.fail(ctx, err, failures) {
				return
			}
			continue
		}
		failures = 0
		select {
		case p.spares <- worker:
		case <-p.ended:
			p.drop(worker)
			return
		}
	}
}

// fail gives an error to all who want a worker, for a while; false means that the
// pool ends.
func (p *pool) fail(ctx context.Context, err error, failures int) bool {
	if ctx.Err() != nil {
		return false
	}
	p.o.Log.Error("cannot start a sandbox worker", zap.Error(err))
	pause := time.NewTimer(min(time.Duration(failures)*500*time.Millisecond, 10*time.Second))
	defer pause.Stop()
	for {
		select {
		case p.failed <- err:
		case <-pause.C:
			return true
		case <-p.ended:
			return false
		}
	}
}

// fresh returns a worker that served nobody. The caller drops it in the end.
func (p *pool) fresh(ctx context.Context) (*process, error) {
	for {
		w, err := p.next(ctx)
		if err != nil || w.alive() {
			return w, err
		}
		p.drop(w) // something killed it while it waited
	}
}

func (p *pool) next(ctx context.Context) (*process, error) {
	select {
	case w := <-p.spares:
		return w, nil
	default:
	}
	p.beginWaiting()
	defer p.endWaiting()
	select {
	case w := <-p.spares:
		return w, nil
	case err := <-p.failed:
		return nil, err
	case <-p.ended:
		return nil, sandbox.ErrClosed
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for a sandbox worker: %w", context.Cause(ctx))
	}
}

// beginWaiting takes the worker of the session that is idle for longest, when
// there can be no more workers. Where none is idle, the next one that would be
// makes room instead: see park.
func (p *pool) beginWaiting() {
	p.mu.Lock()
	p.waiting++
	var oldest *parking
	if len(p.parked) > 0 && len(p.slots) == cap(p.slots) {
		oldest = p.parked[0]
		p.unpark(oldest)
	}
	p.mu.Unlock()
	if oldest != nil {
		p.drop(oldest.process)
	}
}

func (p *pool) endWaiting() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting--
}

// take returns the session's own worker, or a fresh one.
func (p *pool) take(ctx context.Context, s *session) (*process, error) {
	p.mu.Lock()
	own := p.find(s)
	p.mu.Unlock()
	if own != nil {
		if own.process.alive() {
			return own.process, nil
		}
		p.drop(own.process)
	}
	return p.fresh(ctx)
}

// find takes a session's parked worker out of the list. The lock is held.
func (p *pool) find(s *session) *parking {
	for _, k := range p.parked {
		if k.owner == s {
			p.unpark(k)
			return k
		}
	}
	return nil
}

func (p *pool) unpark(k *parking) {
	for i := range p.parked {
		if p.parked[i] == k {
			p.parked = append(p.parked[:i:i], p.parked[i+1:]...)
			k.expiry.Stop()
			return
		}
	}
}

// park keeps a worker for its session, unless others wait for a worker.
func (p *pool) park(s *session, w *process) {
	p.mu.Lock()
	_, keep := p.sessions[s]
	keep = keep && p.waiting == 0
	if keep {
		k := &parking{owner: s, process: w}
		k.expiry = time.AfterFunc(idleTime, func() { p.expire(k) })
		p.parked = append(p.parked, k)
	}
	p.mu.Unlock()
	if !keep {
		p.drop(w)
	}
}

// expire drops a worker that was idle for too long.
func (p *pool) expire(k *parking) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, other := range p.parked {
		if other == k && !p.closed {
			p.unpark(k)
			p.tasks.Go(func() { p.drop(k.process) })
			return
		}
	}
}

// drop ends a worker and waits for it.
func (p *pool) drop(w *process) {
	w.end()
	<-p.slots
}

// open makes the session known; false means that the pool is closed.
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
		p.drop(own.process)
	}
}

// close ends all sessions and workers and waits for them.
func (p *pool) close() error {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil
	}
	p.closed = true
	sessions := make([]*session, 0, len(p.sessions))
	for s := range p.sessions {
		sessions = append(sessions, s)
	}
	p.mu.Unlock()
	var errs []error
	for _, s := range sessions {
		errs = append(errs, s.Close())
	}
	p.cancel()
	p.tasks.Wait()
	for len(p.spares) > 0 {
		p.drop(<-p.spares)
	}
	p.spawner.close()
	return errors.Join(errs...)
}
