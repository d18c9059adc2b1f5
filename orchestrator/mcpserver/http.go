package mcpserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"airlock/ident"
)

// The headers of streamable HTTP.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerLast    = "Last-Event-Id"
)

// Bounds of what hosts over HTTP may leave behind.
const (
	maxSessions = 1000
	// maxUserSessions is what one user may have of them.
	maxUserSessions = 100
	// sessionIdle is how long a session is kept whose host says nothing and waits for
	// nothing.
	sessionIdle = time.Hour
	sweepEvery  = time.Minute
	// keptStreams and keptBytes bound the answers of a session that can be asked for
	// again after a connection broke.
	keptStreams = 32
	keptBytes   = 8 << 20
)

// httpSessions are the sessions of hosts over HTTP.
type httpSessions struct {
	face  *Server
	begun func(ident.User) time.Duration // see HTTPOptions

	mu   sync.Mutex // guards byID
	byID map[string]*session
}

func newHTTPSessions(f *Server, begun func(ident.User) time.Duration) *httpSessions {
	h := &httpSessions{face: f, begun: begun, byID: map[string]*session{}}
	f.work.Go(h.sweep)
	return h
}

// serve answers a request that the given user has sent.
func (h *httpSessions) serve(w http.ResponseWriter, r *http.Request, user ident.User) {
	if version := r.Header.Get(headerVersion); version != "" && !slices.Contains(versions, version) && r.Method != http.MethodPost {
		refuse(w, http.StatusBadRequest, nil, mcp.INVALID_REQUEST, "this server speaks no such version of the protocol: it speaks "+strings.Join(versions, ", "))
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, user)
	case http.MethodGet:
		h.get(w, r, user)
	case http.MethodDelete:
		h.delete(w, r, user)
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuse(w, http.StatusMethodNotAllowed, nil, mcp.INVALID_REQUEST, "use POST, GET or DELETE")
	}
}

// refuse answers with a JSON-RPC error that belongs to no request, or to the one of
// that id.
func refuse(w http.ResponseWriter, status int, id json.RawMessage, code int, text string) {
	answerJSON(w, status, failure(id, code, text))
}

// answerJSON sends a whole answer within the time of one write: a client that reads
// nothing is let go.
func answerJSON(w http.ResponseWriter, status int, body []byte) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTime)) // every connection of the listener has one
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that is gone reads nothing
}

// find returns the user's session that a request names. Without one it has answered.
func (h *httpSessions) find(w http.ResponseWriter, r *http.Request, user ident.User) *session {
	id := r.Header.Get(headerSession)
	if id == "" {
		refuse(w, http.StatusBadRequest, nil, mcp.INVALID_REQUEST, "the header "+headerSession+" is missing; initialize first")
		return nil
	}
	h.mu.Lock()
	s := h.byID[id]
	h.mu.Unlock()
	if s == nil || s.user != user {
		refuse(w, http.StatusNotFound, nil, codeNoSession, "there is no such session, or it has ended; initialize again")
		return nil
	}
	s.touch()
	return s
}

// codeNoSession is what other servers answer too.
const codeNoSession = -32001

func (h *httpSessions) post(w http.ResponseWriter, r *http.Request, user ident.User) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		refuse(w, http.StatusUnsupportedMediaType, nil, mcp.INVALID_REQUEST, "the body must be JSON: send the header Content-Type: application/json")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, nil, mcp.INVALID_REQUEST, fmt.Sprintf("the message is longer than %d bytes", maxMessage))
		return
	case err != nil:
		return // the client is gone
	}
	m, err := parse(body)
	switch {
	case errors.Is(err, errNotJSON):
		refuse(w, http.StatusBadRequest, nil, mcp.PARSE_ERROR, err.Error())
	case err != nil:
		refuse(w, http.StatusBadRequest, nil, mcp.INVALID_REQUEST, err.Error())
	case mcp.IsModernProtocol(m.meta) && m.isRequest():
		answerJSON(w, http.StatusBadRequest, unsupported(m))
	case m.method == string(mcp.MethodInitialize) && m.isRequest():
		h.initialize(w, m, user)
	default:
		h.take(w, r, m, user)
	}
}

// initialize begins a session.
func (h *httpSessions) initialize(w http.ResponseWriter, m message, user ident.User) {
	if !h.makeRoom(user) {
		refuse(w, http.StatusServiceUnavailable, m.id, codeBusy, "all sessions are at work; try again later")
		return
	}
	s := h.face.newSession(user)
	s.begun = h.begun
	answer := s.answer(m)
	if !s.Initialized() {
		s.close()
		answerJSON(w, http.StatusBadRequest, answer)
		return
	}
	h.mu.Lock()
	h.byID[s.id] = s
	h.mu.Unlock()
	w.Header().Set(headerSession, s.id)
	answerJSON(w, http.StatusOK, answer)
}

// take hands a message to its session.
func (h *httpSessions) take(w http.ResponseWriter, r *http.Request, m message, user ident.User) {
	s := h.find(w, r, user)
	if s == nil {
		return
	}
	if version := r.Header.Get(headerVersion); version != "" && !slices.Contains(versions, version) {
		refuse(w, http.StatusBadRequest, m.id, mcp.INVALID_REQUEST, "this server speaks no such version of the protocol: it speaks "+strings.Join(versions, ", "))
		return
	}
	switch {
	case m.isResponse():
		s.answered(m)
		w.WriteHeader(http.StatusAccepted)
	case !m.isRequest():
		s.note(m)
		w.WriteHeader(http.StatusAccepted)
	case m.method == string(mcp.MethodToolsCall) && acceptsEvents(r):
		s.stream(w, r, m)
	default:
		answerJSON(w, http.StatusOK, s.answer(m))
	}
}

// answer serves a request whose answer is all that is told of it.
func (s *session) answer(m message) (answer []byte) {
	s.begin(m, newStream(0), false)(func(a []byte) { answer = a })
	return answer
}

func acceptsEvents(r *http.Request) bool {
	return strings.Contains(strings.ToLower(strings.Join(r.Header.Values("Accept"), ",")), "text/event-stream")
}

// stream serves a request whose progress is told as events. It is served to its end
// though the connection breaks: its client can come again for the rest.
func (s *session) stream(w http.ResponseWriter, r *http.Request, m message) {
	out := s.newStream()
	serve := s.begin(m, out, true)
	go serve(func(answer []byte) { // close waits for it
		out.add(answer, false)
		out.finish()
	})
	s.send(w, r, out, 0, maxStreamEvents)
}

// newStream makes a stream that can be asked for again, and lets go of old ones.
func (s *session) newStream() *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastStream++
	out := newStream(s.lastStream)
	s.streams = append(s.streams, out)
	bytes := 0
	for i := len(s.streams) - 1; i >= 0; i-- {
		bytes += s.streams[i].size()
		if s.streams[i].isDone() && (bytes > keptBytes || len(s.streams)-i > keptStreams) {
			s.streams = slices.Delete(s.streams, i, i+1)
		}
	}
	return out
}

// keptOwn is how many messages that belong to no request can be asked for again.
const keptOwn = 256

// get gives a host what belongs to no request, or the rest of an answer whose
// connection broke.
func (h *httpSessions) get(w http.ResponseWriter, r *http.Request, user ident.User) {
	if !acceptsEvents(r) {
		refuse(w, http.StatusNotAcceptable, nil, mcp.INVALID_REQUEST, "send the header Accept: text/event-stream")
		return
	}
	s := h.find(w, r, user)
	if s == nil {
		return
	}
	last := r.Header.Get(headerLast)
	if last == "" {
		s.send(w, r, s.own, s.own.unsent(), keptOwn)
		return
	}
	out, seq, ok := s.resume(last)
	if !ok {
		refuse(w, http.StatusBadRequest, nil, mcp.INVALID_REQUEST, headerLast+" names no event that is still kept; ask again, or list what there is")
		return
	}
	keep := maxStreamEvents
	if out == s.own {
		keep = keptOwn
	}
	s.send(w, r, out, seq, keep)
}

// resume finds the place after an event.
func (s *session) resume(last string) (out *stream, seq int, ok bool) {
	stream, number, _ := strings.Cut(last, "-")
	id, err := strconv.Atoi(stream)
	if err != nil {
		return nil, 0, false
	}
	if seq, err = strconv.Atoi(number); err != nil || seq < 0 {
		return nil, 0, false
	}
	if id == s.own.id {
		return s.own, seq, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, out := range s.streams {
		if out.id == id {
			return out, seq, true
		}
	}
	return nil, 0, false
}

// delete ends a session.
func (h *httpSessions) delete(w http.ResponseWriter, r *http.Request, user ident.User) {
	s := h.find(w, r, user)
	if s == nil {
		return
	}
	h.mu.Lock()
	delete(h.byID, s.id)
	h.mu.Unlock()
	s.close()
	w.WriteHeader(http.StatusOK)
}

// makeRoom ends the session that has been idle for longest where there are as many
// as may be: one of the user's own where those are too many, so that nobody can end
// the sessions of all others. It reports whether there is room.
func (h *httpSessions) makeRoom(user ident.User) bool {
	h.mu.Lock()
	own := 0
	for _, s := range h.byID {
		if s.user == user {
			own++
		}
	}
	full := len(h.byID) >= maxSessions || own >= maxUserSessions
	var oldest *session
	var since time.Time
	for _, s := range h.byID {
		if !full || own >= maxUserSessions && s.user != user {
			continue
		}
		if idle := s.idleSince(); !idle.IsZero() && (oldest == nil || idle.Before(since)) {
			oldest, since = s, idle
		}
	}
	if oldest != nil {
		delete(h.byID, oldest.id)
	}
	h.mu.Unlock()
	if oldest != nil {
		oldest.close()
	}
	return !full || oldest != nil
}

// sweep ends sessions whose hosts are gone, until the server closes.
func (h *httpSessions) sweep() {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-h.face.ctx.Done():
			return
		case <-tick.C:
			for _, s := range h.idle() {
				s.close()
			}
		}
	}
}

// idle takes the sessions out of the list that have been idle for too long.
func (h *httpSessions) idle() []*session {
	h.mu.Lock()
	defer h.mu.Unlock()
	var idle []*session
	for id, s := range h.byID {
		if since := s.idleSince(); !since.IsZero() && time.Since(since) > sessionIdle {
			delete(h.byID, id)
			idle = append(idle, s)
		}
	}
	return idle
}
