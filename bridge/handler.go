package bridge

import (
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"go.uber.org/zap"

	"airlock/ident"
)

// Handler answers the requests of scripts of one session; tokens of others are
// refused. It serves a unix socket and calls in process alike. Behind a server,
// that one bounds headers and idle connections; the handler bounds the rest.
func (b *Bridge) Handler(s ident.Session) http.Handler { return &door{b, s} }

// door is the handler of one session.
type door struct {
	bridge  *Bridge
	session ident.Session
}

// answer is a status and a JSON text that may leave.
type answer struct {
	status int
	body   string
}

func failure(e *Error) answer { return answer{e.Status, e.body()} }

// ServeHTTP implements http.Handler.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if e := wellFormed(r); e != nil {
		// What follows on a connection that was misread may be misread too.
		w.Header().Set("Connection", "close")
		d.write(w, failure(e), d.log)
		return
	}
	access, err := d.bridge.authenticate(r.Header, d.session)
	if err != nil {
		d.refuse(w, err)
		return
	}
	ctx, number, leave, e := access.enter(r.Context())
	if e != nil {
		d.write(w, failure(e), access.log)
		return
	}
	defer leave()
	work := &request{bridge: d.bridge, access: access, number: number, w: w, r: r.WithContext(ctx)}
	d.write(w, work.serve(), work.log)
}

// serve works on an authenticated request. A fault of ours must not take down
// the process, which nobody else would prevent for calls in process. The value
// of the panic stays out of the log, as it may hold anything.
func (r *request) serve() (out answer) {
	defer func() {
		if recover() != nil {
			r.log().Error("bridge panicked", zap.ByteString("stack", debug.Stack()))
			out = failure(errInternal())
		}
	}()
	handle, e := route(r.r)
	if e != nil {
		if allow := allowedMethod(e, r.r); allow != "" {
			r.w.Header().Set("Allow", allow)
		}
		return failure(e)
	}
	// Waiting before the body is read bounds what a flood of requests can hold.
	if r.access.slots.Acquire(r.ctx(), 1) != nil {
		return failure(errCancelled())
	}
	defer r.access.slots.Release(1)
	if r.access.ended() { // the place was freed by the end itself
		return failure(errCancelled())
	}
	return handle(r)
}

// refuse answers a bad token: always the same, with the reason in the audit log.
func (d *door) refuse(w http.ResponseWriter, reason error) {
	if err := d.bridge.audit.write(record{Event: eventTokenRefused, Session: d.session, Outcome: reason.Error()}); err != nil {
		d.log().Error("refused token not recorded", zap.Error(err))
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	w.Header().Set("Connection", "close")
	d.write(w, failure(errUnauthorized()), d.log)
}

func (d *door) write(w http.ResponseWriter, out answer, log func() *zap.Logger) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	wire, end := http.NewResponseController(w), time.Now().Add(d.bridge.options.Limits.TransferTime)
	// Neither is supported in process, where there is nobody slow to wait for. What
	// is left of a body is read by the server, before it writes.
	_ = wire.SetReadDeadline(end)
	_ = wire.SetWriteDeadline(end.Add(d.bridge.options.Limits.TransferTime))
	w.WriteHeader(out.status)
	if _, err := io.WriteString(w, out.body); err != nil {
		log().Debug("answer not taken", zap.Error(err))
	}
}

// handler works on one kind of request.
type handler func(*request) answer

// The routes below /v1. A route with a tool's name has it as its second part.
func route(r *http.Request) (handler, *Error) {
	if len(r.URL.EscapedPath()) > maxPath {
		return nil, badRequest("bad_path", "the path is too long", "")
	}
	// The escaped path: a name may hold %2F, which separates nothing.
	parts := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/"), "/")
	if len(parts) < 2 || parts[0] != "v1" {
		return nil, errNoRoute()
	}
	switch method, parts := r.Method, parts[1:]; {
	case parts[0] == "tools" && len(parts) == 1:
		return allow(method, http.MethodGet, (*request).list)
	case parts[0] == "tools" && len(parts) == 2:
		return named(method, http.MethodGet, parts[1], (*request).describe)
	case parts[0] == "tools" && len(parts) == 3 && parts[2] == "call":
		return named(method, http.MethodPost, parts[1], (*request).call)
	case parts[0] == "pii" && len(parts) == 2 && protectedQuestions[parts[1]] != nil:
		return allow(method, http.MethodPost, protectedQuestions[parts[1]])
	}
	return nil, errNoRoute()
}

// maxPath holds the longest tool name, percent-encoded, and the rest of a route.
const maxPath = 3*maxName + 64

func allow(method, want string, h handler) (handler, *Error) {
	if method != want {
		return nil, &Error{http.StatusMethodNotAllowed, "method_not_allowed", "this path takes " + want + " only", "use " + want}
	}
	return h, nil
}

func named(method, want, part string, h func(*request, string) answer) (handler, *Error) {
	name, e := toolName(part)
	if e != nil {
		return nil, e
	}
	return allow(method, want, func(r *request) answer { return h(r, name) })
}

// allowedMethod is the method for the Allow header of a 405.
func allowedMethod(e *Error, r *http.Request) string {
	switch {
	case e.Status != http.StatusMethodNotAllowed:
		return ""
	case r.Method == http.MethodGet, strings.HasSuffix(r.URL.Path, "/call"), strings.HasPrefix(r.URL.Path, "/v1/pii/"):
		return http.MethodPost
	}
	return http.MethodGet
}

func errNoRoute() *Error {
	return &Error{http.StatusNotFound, "unknown_route", "there is nothing at this path",
		"use GET /v1/tools, GET /v1/tools/{name}, POST /v1/tools/{name}/call or POST /v1/pii/{attr,rank,same}"}
}
