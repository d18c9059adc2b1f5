package bridge

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/sync/semaphore"

	"airlock/ident"
	"airlock/pii"
	"airlock/servers"
)

// Grant is what one execution may do, and on whose behalf.
type Grant struct {
	User      ident.User
	Session   ident.Session
	Task      ident.Task // may be empty: an execution without a task
	Execution ident.Execution
	Vault     *pii.Vault
	Scope     Scope
	// Calls is how many calls the task of the execution has left; 0 sets no bound
	// beside that of Limits.
	Calls int
	// Deadline is when the execution ends at the latest, not counting the time its
	// clock stands still; zero leaves only the bridge's TokenTTL.
	Deadline time.Time
	// Clock is stopped while the user is asked; nil if there is none.
	Clock Clock
	// Observe, if set, is told of each call as it begins and ends, from the
	// goroutine of the call: it must return soon and may not call Revoke.
	Observe func(Event)
}

// errRevoked is the cause with which pending calls of a revoked access end.
var errRevoked = errors.New("the execution has ended")

// Access is the access of one execution, from Grant to Revoke.
type Access struct {
	bridge *Bridge
	grant  Grant
	id     string
	token  string
	digest [sha256.Size]byte
	claims claims // of the token
	slots  *semaphore.Weighted
	work   sync.WaitGroup // requests being answered

	mu       sync.Mutex // guards all below
	revoked  bool
	calls    int
	requests int
	cancels  map[int]context.CancelCauseFunc // of requests being answered
	waits    int                             // approvals being waited for
	waiting  time.Time                       // since when
	waited   time.Duration                   // in earlier approvals
}

// Grant opens the bridge for one execution. The access must be revoked when the
// execution has ended.
func (b *Bridge) Grant(g Grant) (*Access, error) {
	if err := g.check(); err != nil {
		return nil, fmt.Errorf("grant access to the bridge: %w", err)
	}
	now := time.Now()
	a := &Access{
		bridge: b, grant: g, id: rand.Text(), cancels: map[int]context.CancelCauseFunc{},
		slots: semaphore.NewWeighted(int64(b.options.Limits.Concurrent)),
	}
	a.claims = claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer: tokenIssuer, Audience: jwt.ClaimStrings{tokenAudience}, Subject: b.options.Pseudonym.User(g.User), ID: a.id,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(b.tokens.expiry(now, g.Deadline)),
		},
		Session: g.Session, Execution: g.Execution, Scope: g.Scope,
	}
	token, err := b.tokens.sign(a.claims)
	if err != nil {
		return nil, fmt.Errorf("sign a session token: %w", err)
	}
	a.token, a.digest = token, digest(token)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.accesses[a.id] = a
	b.byToken[a.digest] = a
	return a, nil
}

func (g Grant) check() error {
	switch {
	case g.User == "" || g.Session == "" || g.Execution == "":
		return errors.New("user, session and execution must be named")
	case g.Vault == nil:
		return errors.New("a vault is needed to tokenize results")
	case !g.Deadline.IsZero() && g.Deadline.Before(time.Now()):
		return errors.New("the deadline has passed")
	}
	return g.Scope.check()
}

// Token is the session token that the execution's requests must carry.
func (a *Access) Token() string { return a.token }

// Revoke ends the access: the token is refused from now on, pending requests are
// cancelled, and when Revoke returns none of them runs any more. It may be called
// more than once.
func (a *Access) Revoke() {
	a.mu.Lock()
	a.revoked = true
	for _, cancel := range a.cancels {
		cancel(errRevoked)
	}
	a.mu.Unlock()
	a.work.Wait()
	a.bridge.mu.Lock()
	defer a.bridge.mu.Unlock()
	delete(a.bridge.accesses, a.id)
	delete(a.bridge.byToken, a.digest)
}

// authenticate finds the access whose token the request carries, if it belongs to
// the session. The error is for the audit log only.
func (b *Bridge) authenticate(h http.Header, s ident.Session) (*Access, error) {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || token == "" {
		return nil, errNoToken
	}
	d := digest(token)
	b.mu.Lock()
	a := b.byToken[d]
	b.mu.Unlock()
	if a != nil { // letter for letter what we signed
		return b.admit(a, a.claims, s, d)
	}
	c, err := b.tokens.read(token)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	a = b.accesses[c.ID]
	b.mu.Unlock()
	if a == nil {
		return nil, errTokenRevoked
	}
	return b.admit(a, c, s, d)
}

// admit checks that a token with these claims and this digest is the one of the
// access, belongs to the session and has not expired.
func (b *Bridge) admit(a *Access, c claims, s ident.Session, d [sha256.Size]byte) (*Access, error) {
	if !sameSecret(string(c.Session), string(s)) || !sameSecret(string(a.grant.Session), string(s)) {
		return nil, errTokenForeign
	}
	if !hmac.Equal(d[:], a.digest[:]) {
		return nil, errTokenClaims
	}
	return a, b.tokens.check(c, a.now())
}

// now is the time by which the token ages: like the script's own clock it stands
// still while the user is asked, so that a slow answer does not cost the script
// its token.
func (a *Access) now() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	waited := a.waited
	if a.waits > 0 {
		waited += time.Since(a.waiting)
	}
	return time.Now().Add(-waited)
}

// pause stops the clocks of the script and of the token.
func (a *Access) pause() (resume func()) {
	a.mu.Lock()
	if a.waits++; a.waits == 1 {
		a.waiting = time.Now()
	}
	a.mu.Unlock()
	start := func() {}
	if a.grant.Clock != nil {
		start = a.grant.Clock.Stop()
	}
	return func() {
		start()
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.waits--; a.waits == 0 {
			a.waited += time.Since(a.waiting)
		}
	}
}

// enter begins a request, which gets a number within the execution. Its context ends
// when the access is revoked; leave must be called when the request is answered.
func (a *Access) enter(ctx context.Context) (inner context.Context, number int, leave func(), refused *Error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.revoked {
		return nil, 0, nil, errUnauthorized()
	}
	if a.requests++; a.requests > a.bridge.options.Limits.Requests {
		return nil, 0, nil, tooMany("requests", a.bridge.options.Limits.Requests)
	}
	number = a.requests
	inner, cancel := context.WithCancelCause(ctx)
	a.cancels[number] = cancel
	a.work.Add(1)
	return inner, number, func() {
		a.mu.Lock()
		delete(a.cancels, number)
		a.mu.Unlock()
		cancel(nil)
		a.work.Done()
	}, nil
}

func (a *Access) ended() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.revoked
}

// countCall takes one call off the execution's allowance.
func (a *Access) countCall() *Error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.calls >= a.bridge.options.Limits.Calls:
		return tooMany("tool calls", a.bridge.options.Limits.Calls)
	case a.grant.Calls > 0 && a.calls >= a.grant.Calls:
		return &Error{http.StatusTooManyRequests, "limit_reached", "the task has used up its tool calls", "go on with what the calls so far gave"}
	}
	a.calls++
	return nil
}

func (a *Access) caller() servers.Caller {
	return servers.Caller{User: a.grant.User, Session: a.grant.Session}
}

func (a *Access) viewer() Viewer {
	return Viewer{User: a.grant.User, Session: a.grant.Session, Task: a.grant.Task, Vault: a.grant.Vault, Scope: a.grant.Scope}
}
