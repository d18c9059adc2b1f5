package api

import (
	"sync"

	"github.com/gofiber/fiber/v2"

	"airlock/ident"
)

// maxStreams is how many streams of events one user may have open, so that nobody
// takes the connections of all.
const maxStreams = 64

// streams counts what users have open. Its methods may be called concurrently.
type streams struct {
	mu   sync.Mutex
	open map[ident.User]int
}

func newStreams() *streams { return &streams{open: map[ident.User]int{}} }

// enter counts one more stream of the user until leave is called, or refuses it.
func (s *streams) enter(user ident.User) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[user] >= maxStreams {
		return nil, problem{fiber.StatusTooManyRequests, "too_many_streams", "this user has too many streams of events open", "close one, and ask again with Last-Event-ID"}
	}
	s.open[user]++
	return sync.OnceFunc(func() { s.leave(user) }), nil
}

func (s *streams) leave(user ident.User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[user]--; s.open[user] == 0 {
		delete(s.open, user)
	}
}
