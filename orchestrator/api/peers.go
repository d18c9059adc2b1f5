package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/zap"

	"airlock/orchestrator"
	"airlock/orchestrator/auth"
)

// Several processes may serve the same users. A request for a session that another one
// has is passed on to it as it came, with a token in place of the caller's credential,
// and is not passed on again.

// Peers are the processes that serve the same users, this one among them.
type Peers interface {
	// Self is the name of this process among them; empty while it is cut off.
	Self() string
	// Others are the others that live: where each is reached, by name.
	Others() map[string]string
}

const (
	// peerHeader carries the token of a process that passes a request on.
	peerHeader = "X-Airlock-Peer"
	// passedKey is where it is kept what that token says.
	passedKey = "passed"
	// countedKey is where it is kept that a request was counted for its user.
	countedKey = "counted"
	// untilKey is where it is kept how long a request may still look for its process.
	untilKey = "until"
)

const (
	// findTime is how long a request may look for the process that has its session: one
	// that dies is found dead and taken over from within that.
	findTime = 30 * time.Second
	// findAgain is how long it waits before it looks again.
	findAgain = 500 * time.Millisecond
	// dialTime bounds how long it takes to reach a process.
	dialTime = 2 * time.Second
	// eraseTime bounds how long another process may take to erase something.
	eraseTime = time.Minute
	// maxRefusal bounds what is read of another process's error, in bytes.
	maxRefusal = 64 << 10
	// notHere is the code of the error of a process that does not have the session.
	notHere = "not_here"
)

// newPeerTransport makes what reaches other processes.
func newPeerTransport() *http.Transport {
	return &http.Transport{
		DialContext: (&net.Dialer{Timeout: dialTime}).DialContext, DisableCompression: true,
		MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: dialTime,
	}
}

// admitPeer lets in a request that another process passed on.
func (s *Server) admitPeer(c *fiber.Ctx, token string) error {
	if s.opts.Peers == nil {
		return unauthorized(c, "no other process may pass requests on to this one")
	}
	passed, err := s.opts.PeerTokens.Check(token, auth.Passed{To: s.opts.Peers.Self(), Method: c.Method(), URI: c.OriginalURL()})
	if err != nil {
		// It may be for another process that was here, or for this one before it was cut
		// off: who passed it on looks again.
		return problem{fiber.StatusMisdirectedRequest, "unknown_peer", err.Error(), "give all processes at one NATS_URL the same SESSION_SECRET"}
	}
	c.Locals(callerKey, passed.Caller)
	c.Locals(passedKey, passed)
	return c.Next()
}

// passedOn says what came with a request that another process passed on.
func passedOn(c *fiber.Ctx) (passed auth.Passed, ok bool) {
	passed, ok = c.Locals(passedKey).(auth.Passed)
	return passed, ok
}

// hostOf is the name under which the caller reached us.
func hostOf(c *fiber.Ctx) string {
	if passed, ok := passedOn(c); ok {
		return passed.Host
	}
	return string(c.Request().Host())
}

// findPeer passes a request on whose session another process has.
func (s *Server) findPeer(c *fiber.Ctx) error {
	err := c.Next()
	var elsewhere *orchestrator.ElsewhereError
	if s.opts.Peers == nil || !errors.As(err, &elsewhere) {
		return err
	}
	if _, ok := passedOn(c); ok {
		return problem{fiber.StatusMisdirectedRequest, notHere, err.Error(), "look again for the process that has the session"}
	}
	if elsewhere.URL == "" {
		return problem{fiber.StatusServiceUnavailable, "elsewhere", err.Error(), "set PEER_URL on each airlock process, so that requests can be passed on"}
	}
	again, err := s.passOn(c, elsewhere)
	if !again {
		return err
	}
	return s.lookAgain(c, err)
}

// lookAgain starts over with a request, as long as it may look for its process.
func (s *Server) lookAgain(c *fiber.Ctx, cause error) error {
	until, ok := c.Locals(untilKey).(time.Time)
	if !ok {
		until = time.Now().Add(findTime)
		c.Locals(untilKey, until)
	}
	if time.Now().After(until) {
		s.log(c).Warn("no process has the session of a request", zap.Error(cause))
		return problem{fiber.StatusServiceUnavailable, "peer_unreachable", "the process that has the session cannot be reached", "try again in some seconds; look whether each PEER_URL is reachable from the other processes"}
	}
	wait := time.NewTimer(findAgain)
	defer wait.Stop()
	select {
	case <-wait.C:
		c.Response().Reset()
		return c.RestartRouting()
	case <-s.ctx.Done():
		return orchestrator.ErrClosed
	}
}

// passOn lets another process answer. Again says that it did not, and that the request
// may be sent once more.
func (s *Server) passOn(c *fiber.Ctx, to *orchestrator.ElsewhereError) (again bool, err error) {
	target, err := url.Parse(to.URL)
	if err != nil {
		return false, fmt.Errorf("reach another process: %w", err)
	}
	host, caller := hostOf(c), callerOf(c)
	pass := &pass{repeatable: c.Method() == fiber.MethodGet || c.Get("Idempotency-Key") != ""}
	proxy := &httputil.ReverseProxy{
		Transport: s.peerTransport, ErrorLog: log.New(io.Discard, "", 0),
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			for _, name := range []string{fiber.HeaderAuthorization, fiber.HeaderCookie, fiber.HeaderOrigin, fiber.HeaderExpect} {
				r.Out.Header.Del(name) // what they say was looked at here
			}
			token, err := s.opts.PeerTokens.Sign(auth.Passed{To: to.Member, Method: r.Out.Method, URI: r.Out.URL.RequestURI(), Host: host, Caller: caller})
			if err != nil {
				token = "" // which is refused
			}
			r.Out.Header.Set(peerHeader, token)
		},
		ModifyResponse: pass.look,
		ErrorHandler:   pass.fail,
	}
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		s.work.Go(func() { s.whileLives(ctx, to.Member, cancel) })
		proxy.ServeHTTP(w, r.WithContext(ctx))
	})
	if err := s.serveHTTP(c, handler, s.stillAuthorized(c)); err != nil {
		return false, err
	}
	return pass.again, pass.err
}

// whileLives calls dead if another process dies before ctx ends: a connection to one that
// fell silent need not break.
func (s *Server) whileLives(ctx context.Context, member string, dead func()) {
	look := time.NewTicker(callerCheck)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if _, lives := s.opts.Peers.Others()[member]; !lives {
				dead()
				return
			}
		}
	}
}

// pass is one try of a request at another process.
type pass struct {
	repeatable bool // it does no harm to send the request twice
	again      bool
	err        error
}

var errNotThere = errors.New("it does not have the session, or is another process by now")

// look judges the answer.
func (p *pass) look(r *http.Response) error {
	if r.StatusCode == http.StatusMisdirectedRequest {
		return errNotThere
	}
	for name := range r.Header { // these are for our own caller
		if name == "Cross-Origin-Resource-Policy" || name == "Date" || name == "Content-Length" || strings.HasPrefix(name, "Access-Control-") {
			r.Header.Del(name)
		}
	}
	return nil
}

// fail judges that there was none.
func (p *pass) fail(_ http.ResponseWriter, _ *http.Request, err error) {
	var dial *net.OpError
	unsent := errors.As(err, &dial) && dial.Op == "dial" || errors.Is(err, errNotThere)
	p.again, p.err = unsent || p.repeatable, fmt.Errorf("another process did not answer: %w", err)
	if !p.again {
		p.err = problem{fiber.StatusServiceUnavailable, "peer_lost", "the process that had the session ended before it answered", "what was accepted goes on in another process: see GET /tasks, or send the request again under the same Idempotency-Key"}
	}
}

// eraseElsewhere lets the other processes erase what they hold of what a request names,
// each as that request would have it do. Erased says that one of them had something.
func (s *Server) eraseElsewhere(c *fiber.Ctx) (erased bool, err error) {
	if _, ok := passedOn(c); ok || s.opts.Peers == nil {
		return false, nil
	}
	return s.eraseAtOthers(s.ctx, s.log(c), c.OriginalURL(), hostOf(c), callerOf(c))
}

// eraseAtOthers is eraseElsewhere for what a caller names by a URI.
func (s *Server) eraseAtOthers(ctx context.Context, log *zap.Logger, uri, host string, caller auth.Caller) (erased bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, eraseTime)
	defer cancel()
	for member, base := range s.opts.Peers.Others() {
		if base == "" {
			continue // nobody can ask it
		}
		status, code, err := s.eraseAt(ctx, base+uri, auth.Passed{To: member, Host: host, Caller: caller})
		switch {
		case status == http.StatusNoContent:
			erased = true
		case status == http.StatusNotFound, status == http.StatusMisdirectedRequest && code == notHere: // not with that one
		case status == http.StatusConflict:
			return false, orchestrator.ErrWorking
		default: // also one that does not know this process: it erased nothing
			log.Warn("another process did not erase what it was asked to", zap.String("peer", member), zap.Int("status", status), zap.String("code", code), zap.Error(err))
			return false, problem{fiber.StatusServiceUnavailable, "peer_unreachable", "not all processes could erase what they hold", "send the request again in some seconds; look whether each PEER_URL is reachable from the other processes"}
		}
	}
	return erased, nil
}

// eraseAt asks the process at an address to erase, and gives its status and the code of
// its error.
func (s *Server) eraseAt(ctx context.Context, address string, passed auth.Passed) (status int, code string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodDelete, address, nil)
	if err != nil {
		return 0, "", err
	}
	passed.Method, passed.URI = r.Method, r.URL.RequestURI()
	token, err := s.opts.PeerTokens.Sign(passed)
	if err != nil {
		return 0, "", err
	}
	r.Header.Set(peerHeader, token)
	answer, err := s.peerTransport.RoundTrip(r)
	if err != nil {
		return 0, "", err
	}
	var said struct{ Error struct{ Code string } }
	if answer.StatusCode != http.StatusNoContent {
		err = json.NewDecoder(io.LimitReader(answer.Body, maxRefusal)).Decode(&said)
	}
	return answer.StatusCode, said.Error.Code, errors.Join(err, answer.Body.Close())
}
