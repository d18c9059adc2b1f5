package mcpserver

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"airlock/ident"
	"airlock/orchestrator"
)

// session is one host's connection: what MCP knows of it, and the conversation that
// its calls work in. It is what mcp-go knows as its client.
type session struct {
	face  *Server
	id    string
	user  ident.User
	talks *orchestrator.Conversation
	begun func(ident.User) time.Duration // counts scripts; nil where nothing does

	ctx    context.Context //nolint:containedctx // the session's own life, parent of every request; ends with close
	cancel context.CancelFunc
	work   sync.WaitGroup // requests
	// own carries what belongs to no request.
	own *stream

	mu            sync.Mutex // guards all below
	initialized   bool
	version       string
	client        mcp.Implementation
	capabilities  mcp.ClientCapabilities
	level         mcp.LoggingLevel
	subscriptions map[string]struct{}
	inFlight      map[string]context.CancelFunc // by the request's id as it was written
	questions     map[int64]chan message        // our own requests that wait for an answer
	lastID        int64
	streams       []*stream // of requests, the oldest first; see keepStream
	lastStream    int
	used          time.Time
}

// Bounds of what one host may have under way and may subscribe to.
const (
	maxInFlight      = 64
	maxSubscriptions = 1000
)

func (f *Server) newSession(user ident.User) *session {
	ctx, cancel := context.WithCancel(f.ctx)
	s := &session{
		face: f, id: rand.Text(), user: user, talks: f.opts.Service.Converse(user), ctx: ctx, cancel: cancel, own: newStream(0),
		level: mcp.LoggingLevelWarning, subscriptions: map[string]struct{}{}, inFlight: map[string]context.CancelFunc{},
		questions: map[int64]chan message{}, used: time.Now(),
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions[s] = struct{}{}
	return s
}

// close ends what the session does, waits for it, and gives up its conversation.
func (s *session) close() {
	s.mu.Lock()
	s.cancel() // no request begins after this
	s.mu.Unlock()
	s.work.Wait()
	s.own.finish()
	s.face.mu.Lock()
	delete(s.face.sessions, s)
	s.face.mu.Unlock()
	if err := s.talks.Close(); err != nil {
		s.face.log.Warn("ending the session of a host failed", zap.Error(err))
	}
}

// touch notes that the host is there.
func (s *session) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = time.Now()
}

// idleSince is when the host was last heard of; zero while it waits for something.
func (s *session) idleSince() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.inFlight) > 0 {
		return time.Time{}
	}
	return s.used
}

// The methods that mcp-go asks of a session.

func (s *session) SessionID() string { return s.id }

func (s *session) Initialize() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.initialized = true
}

func (s *session) Initialized() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.initialized
}

// NotificationChannel is none: by mcp-go's way notifications are lost when many come
// at once, and may arrive after the answer that they belong to.
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }

func (s *session) SetLogLevel(level mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = level
}

func (s *session) GetLogLevel() mcp.LoggingLevel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}

func (s *session) GetClientInfo() mcp.Implementation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.client
}

func (s *session) SetClientInfo(client mcp.Implementation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.client = client
}

func (s *session) GetClientCapabilities() mcp.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capabilities
}

func (s *session) SetClientCapabilities(c mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.capabilities = c
}

func (s *session) ProtocolVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

func (s *session) SetProtocolVersion(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version = version
}

var errSubscriptions = errors.New("too many subscriptions; unsubscribe from some")

// SubscribeToResourceErr notes that the host wants to hear of a resource's changes.
func (s *session) SubscribeToResourceErr(uri string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.subscriptions) >= maxSubscriptions {
		return errSubscriptions
	}
	s.subscriptions[uri] = struct{}{}
	return nil
}

// SubscribeToResource is SubscribeToResourceErr for those who take no error.
func (s *session) SubscribeToResource(uri string) { _ = s.SubscribeToResourceErr(uri) }

func (s *session) UnsubscribeFromResource(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.subscriptions, uri)
}

func (s *session) SubscribedResources() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for uri := range s.subscriptions {
		all = append(all, uri)
	}
	slices.Sort(all)
	return all
}

func (s *session) IsSubscribedToResource(uri string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.subscriptions[uri]
	return ok
}

var (
	_ server.SessionWithLogging                  = (*session)(nil)
	_ server.SessionWithClientInfo               = (*session)(nil)
	_ server.SessionWithProtocolVersion          = (*session)(nil)
	_ server.SessionWithResourceSubscriptionsErr = (*session)(nil)
	_ server.SessionWithResources                = (*session)(nil)
)

// notify tells the host something by the stream of the request that ctx belongs to,
// or by the session's own.
func (s *session) notify(ctx context.Context, method string, params map[string]any) {
	out := s.own
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		out = r.out
	}
	out.add(notification(method, params), true)
}

func notification(method string, params map[string]any) []byte {
	return encode(struct {
		JSONRPC string         `json:"jsonrpc"`
		Method  string         `json:"method"`
		Params  map[string]any `json:"params,omitempty"`
	}{mcp.JSONRPC_VERSION, method, params})
}

// The reasons for which a question to the host gets no answer.
var (
	errNoWay  = errors.New("the host cannot be asked by the way on which it called")
	errFailed = errors.New("the host answered the question with an error")
)

// ask sends a request to the host and waits for its answer, by the stream of the
// request that ctx belongs to.
func (s *session) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	r, ok := ctx.Value(requestKey{}).(*request)
	if !ok || !r.streams {
		return nil, errNoWay
	}
	answer := make(chan message, 1)
	id := s.expect(answer)
	defer s.expectNoMore(id)
	r.out.add(encode(struct {
		JSONRPC string `json:"jsonrpc"`
		ID      int64  `json:"id"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{mcp.JSONRPC_VERSION, id, method, params}), false)
	select {
	case m := <-answer:
		if m.failed {
			return nil, errFailed
		}
		return m.result, nil
	case <-ctx.Done():
		r.out.add(notification(string(mcp.MethodNotificationCancelled), map[string]any{"requestId": id, "reason": "no answer is needed any more"}), true)
		return nil, context.Cause(ctx)
	}
}

func (s *session) expect(answer chan message) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastID++
	s.questions[s.lastID] = answer
	return s.lastID
}

func (s *session) expectNoMore(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.questions, id)
}

// answered hands the host's answer to whoever asked. One that nobody waits for is
// dropped.
func (s *session) answered(m message) {
	var id int64
	if json.Unmarshal(m.id, &id) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if answer, ok := s.questions[id]; ok {
		delete(s.questions, id)
		answer <- m
	}
}
