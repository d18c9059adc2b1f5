package api

import (
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/time/rate"

	"airlock/ident"
)

// Rate bounds the tasks, scripts and chats that a user begins: Most in each Window,
// at once or spread over it. The zero Rate bounds nothing.
type Rate struct {
	Most   int
	Window time.Duration
}

// maxRates bounds the users whose rates are remembered.
const maxRates = 100_000

// rates hold a token bucket for each user.
type rates struct {
	rate Rate

	mu     sync.Mutex // guards byUser
	byUser map[ident.User]*rate.Limiter
}

func newRates(r Rate) *rates { return &rates{rate: r, byUser: map[ident.User]*rate.Limiter{}} }

// take counts one more for the user, or gives how long to wait for the next.
func (r *rates) take(user ident.User) (wait time.Duration) {
	if r.rate.Most <= 0 {
		return 0
	}
	reservation := r.limiter(user).Reserve()
	if wait = reservation.Delay(); wait > 0 {
		reservation.Cancel()
	}
	return wait
}

func (r *rates) limiter(user ident.User) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.byUser[user]
	if l == nil {
		if len(r.byUser) >= maxRates {
			r.forget()
		}
		l = rate.NewLimiter(rate.Every(r.rate.Window/time.Duration(r.rate.Most)), r.rate.Most)
		r.byUser[user] = l
	}
	return l
}

// forget drops the users who have all of their share left, and if there are none,
// all: then nobody is refused for a moment, in place of everybody's memory growing.
func (r *rates) forget() {
	for user, l := range r.byUser {
		if l.Tokens() >= float64(r.rate.Most) {
			delete(r.byUser, user)
		}
	}
	if len(r.byUser) >= maxRates {
		clear(r.byUser)
	}
}

// Begun counts one more thing that a user begins by another way than this API, or gives
// how long the user has to wait for it.
func (s *Server) Begun(user ident.User) time.Duration { return s.rates.take(user) }

// allow counts a request that begins something.
func (s *Server) allow(c *fiber.Ctx, user ident.User) error {
	if _, passed := passedOn(c); passed || c.Locals(countedKey) != nil {
		return nil
	}
	wait := s.rates.take(user)
	if wait == 0 {
		c.Locals(countedKey, true)
		return nil
	}
	seconds := strconv.Itoa(int(math.Ceil(wait.Seconds())))
	c.Set(fiber.HeaderRetryAfter, seconds)
	return problem{fiber.StatusTooManyRequests, "rate_limited", "this user has begun too much in a short time", "try again in " + seconds + " s"}
}
