package orchestrator

import (
	"context"
	"slices"
	"sync"
	"time"

	"airlock/ident"
)

// slots are the places of the tasks that run, shared among users: a place that gets
// free goes to the user who has the fewest running of those whose tasks wait, in turn
// where they are equal, and there to the task that was accepted first.
type slots struct {
	mu     sync.Mutex // guards all below
	free   int
	turn   int                   // how many were admitted so far
	shares map[ident.User]*share // of users with tasks that run or wait
}

// share is one user's part of the slots.
type share struct {
	running int
	served  int       // the turn in which the user was admitted last, or came
	waiting []*waiter // in the order they were accepted
}

// waiter is a task that waits.
type waiter struct {
	accepted time.Time
	admitted chan struct{} // closed when its turn has come
}

func newSlots(n int) *slots { return &slots{free: n, shares: map[ident.User]*share{}} }

// enter waits for a place for a task. It fails with ctx's cause.
func (s *slots) enter(ctx context.Context, user ident.User, accepted time.Time) (leave func(), err error) {
	w := &waiter{accepted: accepted, admitted: make(chan struct{})}
	s.join(user, w)
	select {
	case <-w.admitted:
	case <-ctx.Done():
		if s.giveUp(user, w) {
			return nil, context.Cause(ctx)
		}
	}
	return func() { s.leave(user) }, nil
}

// join puts a task in line.
func (s *slots) join(user ident.User, w *waiter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.shares[user]
	if mine == nil {
		mine = &share{served: s.turn - 1} // before the one who had the latest turn, behind those who wait longer
		s.shares[user] = mine
	}
	later := func(a, b *waiter) int { return a.accepted.Compare(b.accepted) }
	at, _ := slices.BinarySearchFunc(mine.waiting, w, later)
	mine.waiting = slices.Insert(mine.waiting, at, w)
	s.admit()
}

// giveUp takes a task out of line; false says that it was admitted meanwhile.
func (s *slots) giveUp(user ident.User, w *waiter) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.shares[user]
	if mine == nil {
		return false
	}
	at := slices.Index(mine.waiting, w)
	if at < 0 {
		return false
	}
	mine.waiting = slices.Delete(mine.waiting, at, at+1)
	s.forget(user, mine)
	return true
}

func (s *slots) leave(user ident.User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	mine := s.shares[user]
	mine.running--
	s.free++
	s.forget(user, mine)
	s.admit()
}

// forget drops a share that nothing runs or waits in. The lock is held.
func (s *slots) forget(user ident.User, mine *share) {
	if mine.running == 0 && len(mine.waiting) == 0 {
		delete(s.shares, user)
	}
}

// admit gives away what is free. The lock is held.
func (s *slots) admit() {
	for s.free > 0 {
		next := s.next()
		if next == nil {
			return
		}
		s.free--
		s.turn++
		next.running++
		next.served = s.turn
		close(next.waiting[0].admitted)
		next.waiting = next.waiting[1:]
	}
}

// next is the share whose turn it is, nil if nobody waits. The lock is held.
func (s *slots) next() (next *share) {
	for _, one := range s.shares {
		if len(one.waiting) > 0 && (next == nil || one.before(next)) {
			next = one
		}
	}
	return next
}

func (s *share) before(other *share) bool {
	if s.running != other.running {
		return s.running < other.running
	}
	if s.served != other.served {
		return s.served < other.served
	}
	return s.waiting[0].accepted.Before(other.waiting[0].accepted)
}
