package api

import (
	"bytes"
	"cmp"
	"context"
	"errors"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"airlock/ident"
	"airlock/orchestrator/auth"
)

// Authenticator says who sent a request, by the credential in it. Its errors wrap
// auth.ErrUnauthorized where the credential is no good. It may be called concurrently.
type Authenticator interface {
	Authenticate(ctx context.Context, credential string) (auth.Caller, error)
}

// callerKey is where a request's caller is kept.
const callerKey = "caller"

// localUser is who calls, on a server of one user.
const localUser = "local"

// callerOf is who sent the request.
func callerOf(c *fiber.Ctx) auth.Caller {
	caller, _ := c.Locals(callerKey).(auth.Caller) // the zero Caller may do nothing
	return caller
}

// authenticate finds out who sent the request.
func (s *Server) authenticate(c *fiber.Ctx) error {
	if token := c.Get(peerHeader); token != "" {
		return s.admitPeer(c, token)
	}
	if s.opts.Authenticator == nil {
		c.Locals(callerKey, auth.Caller{Rights: s.opts.Rights})
		return c.Next()
	}
	credential, ok := auth.Bearer(c.Get(fiber.HeaderAuthorization))
	if !ok {
		return unauthorized(c, "the request holds no credential")
	}
	caller, err := s.opts.Authenticator.Authenticate(s.ctx, credential)
	switch {
	case errors.Is(err, auth.ErrUnauthorized):
		return unauthorized(c, err.Error())
	case err != nil:
		return err
	}
	c.Locals(callerKey, caller)
	return c.Next()
}

// strangersBody bounds the bodies of requests that nobody is known to have sent.
const strangersBody = 64 << 10

// admitBody decides, before a body is read into memory, how large it may be.
func (s *Server) admitBody(h *fasthttp.RequestHeader) (c fasthttp.RequestConfig) {
	if n := h.ContentLength(); s.opts.Authenticator == nil || n >= 0 && n <= strangersBody {
		return c
	}
	if token := string(h.Peek(peerHeader)); token != "" && s.opts.Peers != nil {
		if _, err := s.opts.PeerTokens.Check(token, auth.Passed{To: s.opts.Peers.Self(), Method: string(h.Method()), URI: string(h.RequestURI())}); err == nil {
			return c
		}
	}
	credential, ok := auth.Bearer(string(h.Peek(fiber.HeaderAuthorization)))
	if visitors, is := s.page.(Visitors); is && bytes.HasPrefix(h.RequestURI(), []byte(pagePrefix)) { // routes of the API know no cookies
		credential = visitors.Credential(string(h.Peek(fiber.HeaderCookie)))
		ok = credential != ""
	}
	if ok {
		_, err := s.opts.Authenticator.Authenticate(s.ctx, credential)
		ok = err == nil
	}
	if !ok {
		c.MaxRequestBodySize = strangersBody
	}
	return c
}

// Visitors is implemented by pages to which people sign in.
type Visitors interface {
	// Credential is what the visitor who sends a Cookie header signed in with, "" if
	// nobody did. It may be called concurrently.
	Credential(cookie string) string
}

// stillAuthorized makes a check of the request's credential that outlives the handler:
// a key that is revoked, or a token that runs out, ends what it has opened.
func (s *Server) stillAuthorized(c *fiber.Ctx) func() error {
	if _, ok := passedOn(c); ok || s.opts.Authenticator == nil {
		return func() error { return nil } // who passed a request on sees to that
	}
	credential, _ := auth.Bearer(c.Get(fiber.HeaderAuthorization))
	return func() error {
		_, err := s.opts.Authenticator.Authenticate(s.ctx, credential)
		return err
	}
}

func unauthorized(c *fiber.Ctx, message string) problem {
	c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="airlock"`)
	return problem{fiber.StatusUnauthorized, "unauthorized", message, "send an API key or a token as: Authorization: Bearer ..."}
}

// needRun lets callers pass who may run something.
func (s *Server) needRun(c *fiber.Ctx) error {
	if !callerOf(c).Rights.Run {
		return problem{fiber.StatusForbidden, "no_run_right", "this needs the right run", "use a key with that right"}
	}
	return c.Next()
}

// mayReveal refuses real values to a caller without the right to them.
func mayReveal(c *fiber.Ctx, asked bool) error {
	if asked && !callerOf(c).Rights.Reveal {
		return problem{fiber.StatusForbidden, "no_reveal_right", "detokenized results need the right reveal", "leave out detokenize, or use a key with that right"}
	}
	return nil
}

// user is whom a request acts as: the user it names, or the caller's own. A caller
// who is known to be somebody acts as nobody else.
func user(c *fiber.Ctx, named string) (ident.User, error) {
	own := callerOf(c).User
	user, err := ident.ParseUser(cmp.Or(named, string(own)))
	switch {
	case err != nil:
		return "", problem{fiber.StatusBadRequest, "invalid_user_id", err.Error(), "an id of your own user base, or an e-mail address, will do"}
	case own != "" && user != own:
		return "", problem{fiber.StatusForbidden, "foreign_user", "the caller may act as its own user only", "leave userId out, or use that user's key"}
	}
	return user, nil
}

// queryUser reads the userId of calls without a body; on a server of one user it
// may be left out.
func queryUser(c *fiber.Ctx) (ident.User, error) {
	return user(c, c.Query("userId", localOf(c)))
}

// localOf is who is meant where no user is named.
func localOf(c *fiber.Ctx) string { return cmp.Or(string(callerOf(c).User), localUser) }
