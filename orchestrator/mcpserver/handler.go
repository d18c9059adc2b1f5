package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"airlock/ident"
	"airlock/orchestrator/auth"
	"airlock/orchestrator/origins"
)

// Authenticator says who sent a request, by the credential in it. Its errors wrap
// auth.ErrUnauthorized where the credential is no good. It may be called concurrently.
type Authenticator interface {
	Authenticate(ctx context.Context, credential string) (auth.Caller, error)
}

// HTTPOptions are how hosts may call over HTTP. Origins is required.
type HTTPOptions struct {
	Origins origins.Policy
	// Authenticator says who a host calls for. Without one all call for the local user;
	// leave it out only for a server that listens on loopback.
	Authenticator Authenticator
	// AuthorizationServer is the issuer of the tokens that Authenticator takes, which
	// clients find by the protected-resource metadata (RFC 9728). None is told if empty.
	AuthorizationServer string
	// Begun, if set, counts one more script of a user, or gives how long the user has to
	// wait for it. It may be called concurrently.
	Begun func(ident.User) time.Duration
	// TrustedProxies may say by the header x-user-id whom they call for.
	TrustedProxies []netip.Prefix
}

// Path is where hosts call, and where the metadata of it as a protected resource is.
const (
	Path         = "/mcp"
	metadataPath = "/.well-known/oauth-protected-resource"
)

// localUser is who calls, on a server of one user.
const localUser ident.User = "local"

// endpoint is the way in over HTTP.
type endpoint struct {
	HTTPOptions
	face     *Server
	sessions *httpSessions
}

// Handler serves hosts over streamable HTTP. Its sessions end with Close.
func (f *Server) Handler(o HTTPOptions) http.Handler {
	e := &endpoint{HTTPOptions: o, face: f, sessions: newHTTPSessions(f, o.Begun)}
	mux := http.NewServeMux()
	mux.HandleFunc(Path, e.serve)
	mux.HandleFunc("GET "+metadataPath, e.metadata)
	mux.HandleFunc("GET "+metadataPath+Path, e.metadata)
	return e.guard(mux)
}

// guard refuses what a page in somebody's browser could send, before anything else.
func (e *endpoint) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		from := r.Header.Values("Origin")
		switch {
		case !e.Origins.KnownHost(r.Host):
			refuse(w, http.StatusMisdirectedRequest, nil, mcp.INVALID_REQUEST, "this server does not answer to that Host; use localhost, or add the name to ALLOWED_HOSTS")
			return
		case len(from) > 1, len(from) == 1 && !e.Origins.KnownOrigin(from[0]):
			refuse(w, http.StatusForbidden, nil, mcp.INVALID_REQUEST, "pages of that origin may not call this server; add it to ALLOWED_ORIGINS if you trust its pages")
			return
		case r.Header.Get("Content-Encoding") != "":
			refuse(w, http.StatusUnsupportedMediaType, nil, mcp.INVALID_REQUEST, "compressed bodies are not taken; send the body as it is")
			return
		}
		if len(from) == 1 && slices.Contains(e.Origins.Origins, from[0]) && allowPages(h, r, from[0]) {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// allowPages lets pages of an origin that the operator trusts read the answers
// (CORS). It reports whether the request asks for nothing else.
func allowPages(h http.Header, r *http.Request, origin string) (preflight bool) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", headerSession+", WWW-Authenticate")
	if r.Method != http.MethodOptions {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, "+headerSession+", "+headerVersion+", "+headerLast)
	h.Set("Access-Control-Max-Age", "600")
	return true
}

func (e *endpoint) serve(w http.ResponseWriter, r *http.Request) {
	caller, ok := e.authenticate(w, r)
	if !ok {
		return
	}
	user, err := e.user(r, caller)
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, nil, mcp.INVALID_REQUEST, "the header x-user-id: "+err.Error())
	case !caller.Rights.Run:
		refuse(w, http.StatusForbidden, nil, mcp.INVALID_REQUEST, "this needs the right run; use a key with that right")
	default:
		e.sessions.serve(w, r, user)
	}
}

// authenticate finds out who sent the request. Without one it has answered.
func (e *endpoint) authenticate(w http.ResponseWriter, r *http.Request) (auth.Caller, bool) {
	if e.Authenticator == nil {
		return auth.Caller{Rights: auth.Rights{Run: true}}, true
	}
	credential, ok := auth.Bearer(r.Header.Get("Authorization"))
	if !ok {
		e.unauthorized(w, r, "", "the request holds no credential")
		return auth.Caller{}, false
	}
	caller, err := e.Authenticator.Authenticate(r.Context(), credential)
	switch {
	case errors.Is(err, auth.ErrUnauthorized):
		e.unauthorized(w, r, `, error="invalid_token"`, err.Error())
	case err != nil:
		e.face.log.Error("a caller cannot be authenticated", zap.Error(err))
		refuse(w, http.StatusInternalServerError, nil, mcp.INTERNAL_ERROR, "the caller cannot be authenticated; the server's log says why")
	}
	return caller, err == nil
}

func (e *endpoint) unauthorized(w http.ResponseWriter, r *http.Request, problem, why string) {
	challenge := `Bearer realm="airlock"` + problem
	if e.AuthorizationServer != "" {
		challenge += `, resource_metadata="` + e.base(r) + metadataPath + Path + `"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	refuse(w, http.StatusUnauthorized, nil, mcp.INVALID_REQUEST, why+"; send an API key or a token as: Authorization: Bearer ...")
}

// errTwoUsers refuses a request in which a proxy's word may stand beside its client's.
var errTwoUsers = errors.New("it is there twice; the proxy must replace what its clients send")

// user is whom the request acts for: whom a trusted proxy names, or the caller.
func (e *endpoint) user(r *http.Request, caller auth.Caller) (ident.User, error) {
	if named := r.Header.Values("X-User-Id"); len(named) > 0 && e.trusted(r) {
		if len(named) > 1 {
			return "", errTwoUsers
		}
		return ident.ParseUser(named[0])
	}
	return cmp.Or(caller.User, localUser), nil
}

// trusted reports whether a request comes from a proxy that the operator trusts.
func (e *endpoint) trusted(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(e.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(from.Addr().Unmap()) })
}

// metadata tells clients where tokens for this server come from (RFC 9728).
func (e *endpoint) metadata(w http.ResponseWriter, r *http.Request) {
	if e.AuthorizationServer == "" {
		http.NotFound(w, r)
		return
	}
	body, _ := json.Marshal(map[string]any{ // strings always marshal
		"resource": e.base(r) + Path, "resource_name": "airlock",
		"authorization_servers": []string{e.AuthorizationServer}, "bearer_methods_supported": []string{"header"},
	})
	answerJSON(w, http.StatusOK, body)
}

// base is this server as the client knows it. The Host was checked before.
func (e *endpoint) base(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || e.trusted(r) && r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}
