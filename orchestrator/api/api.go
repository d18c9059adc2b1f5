// Package api is airlock's public HTTP face: it takes in tasks and scripts, and
// gives their users the results with the real values in place of tokens.
//
// It is one of two packages that may open personal data (package pii/reveal),
// which it does in its files present*.go alone.
//
// Every route checks, before anything else, that the request is meant for this
// server and was not sent by a page of another origin: see guard.go. Errors are
// always JSON of one shape: see problem.go.
package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/gofiber/fiber/v2/middleware/cors"
	"go.uber.org/zap"

	"airlock/orchestrator/auth"
	"airlock/orchestrator/origins"
)

// Options are what a Server is made of. All but Log are required.
type Options struct {
	Service Service
	// Hosts are the values of the Host header that mean this server, with their
	// ports. Loopback names are added for Port.
	Hosts []string
	Port  string
	// Origins are foreign origins whose pages may call; usually none.
	Origins []string
	// PublicURL is how people reach this server, where that is not under the Host that
	// they name, such as "https://airlock.example.com" behind a proxy. Links in chats
	// begin with it; empty takes the Host.
	PublicURL string
	// Models are listed for chats, beside "airlock", which is the model that the
	// Service takes by itself. The Service decides which it knows.
	Models []string
	// Authenticator says who a caller is. Without one, every caller has Rights.
	Authenticator Authenticator
	// Rights are what an unauthenticated caller may do, as any user. Give them only to
	// a server that listens on loopback.
	Rights auth.Rights
	// About is what the server says of itself.
	About About
	// Servers, if set, tells how the upstream servers are.
	Servers Servers
	// Page makes what answers "/" and all below "/ui/", for people with a browser. It
	// is a client of this API like any other: what it may see, its user may. Nil
	// leaves the page out.
	Page func(api *http.Client, baseURL string) (http.Handler, error)
	// Metrics answers GET /metrics; nil leaves the route out.
	Metrics http.Handler
	// Peers, if set, serve the same users; requests are passed on to them by PeerTokens.
	Peers      Peers
	PeerTokens *auth.Peers
	// Rate bounds what a user may begin.
	Rate Rate
	Log  *zap.Logger
}

// bodyLimit bounds every request's body, in bytes.
const bodyLimit = 8 << 20

// Server serves the API on listeners.
type Server struct {
	opts    Options
	app     *fiber.App
	origins origins.Policy
	ctx     context.Context //nolint:containedctx // the server's own life: ends with Shutdown, parent of every wait
	cancel  context.CancelFunc
	work    sync.WaitGroup // in-process listeners
	tries   *tries
	rates   *rates
	streams *streams
	page    http.Handler // nil without one

	peerTransport *http.Transport

	readiness readiness
}

// New makes a server that does not listen yet.
func New(o Options) (*Server, error) {
	if o.Service == nil {
		return nil, errors.New("api: Service is missing")
	}
	if o.Peers != nil && o.PeerTokens == nil {
		return nil, errors.New("api: PeerTokens is missing")
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{
		opts: o, ctx: ctx, cancel: cancel, tries: newTries(), rates: newRates(o.Rate), streams: newStreams(),
		origins:       origins.Policy{Hosts: o.Hosts, Port: o.Port, Origins: o.Origins},
		peerTransport: newPeerTransport(),
	}
	s.app = fiber.New(fiber.Config{
		AppName:               "airlock",
		BodyLimit:             bodyLimit,
		DisableStartupMessage: true,
		ErrorHandler:          s.answerError,
		Immutable:             true, // handlers hand strings to goroutines that outlive them
		ReadTimeout:           30 * time.Second,
		WriteTimeout:          10 * time.Minute, // of a whole answer; streams go by their events
		IdleTimeout:           2 * time.Minute,
		ReadBufferSize:        16 << 10,
		// Forms are read by decodeForm: Fiber's own reading writes files to disk.
		DisablePreParseMultipartForm: true,
		UnescapePath:                 false,
	})
	s.app.Server().HeaderReceived = s.admitBody
	s.routes()
	if o.Page == nil {
		return s, nil
	}
	var err error
	if s.page, err = o.Page(s.Client()); err != nil {
		return nil, errors.Join(fmt.Errorf("make the web page: %w", err), s.Shutdown(ctx))
	}
	return s, nil
}

func (s *Server) routes() {
	s.app.Use(s.recoverPanic, s.guard)
	if len(s.opts.Origins) > 0 {
		s.app.Use(cors.New(cors.Config{
			AllowOrigins: strings.Join(s.opts.Origins, ","), AllowMethods: "GET,POST,PATCH,DELETE", ExposeHeaders: "Location," + sessionHeader,
		}))
	}
	s.app.Get("/health", s.health)
	s.app.Get("/ready", s.ready)
	s.app.Get("/openapi.json", describe)
	if s.opts.Page != nil {
		s.app.Get("/", s.servePage)
		s.app.All(pagePrefix+"*", s.servePage)
	}
	s.app.Use(s.authenticate, s.findPeer)
	if s.opts.Metrics != nil {
		s.app.Get("/metrics", s.needRun, adaptor.HTTPHandler(s.opts.Metrics))
	}
	s.app.Post("/task", s.needRun, s.postTask)
	s.app.Get("/tasks", s.needRun, s.listTasks)
	s.app.Get("/tasks/:id", s.needRun, s.getTask)
	s.app.Post("/tasks/:id/cancel", s.needRun, s.cancelTask)
	s.app.Get("/tasks/:id/events", s.needRun, s.getEvents)
	s.app.Post("/tasks/:id/approvals/:approvalId", s.needRun, s.postApproval)
	s.app.Get("/tasks/:id/privacy", s.needRun, s.getPrivacy)
	s.app.Get("/tasks/:id/privacy/values", s.needRun, s.getPrivateValues)
	s.app.Get("/about", s.needRun, s.getAbout)
	s.app.Get("/servers", s.needRun, s.listServers)
	s.app.Patch("/sessions/:id", s.needRun, s.renameSession)
	s.app.Delete("/sessions/:id", s.needRun, s.eraseSession)
	s.app.Delete("/users/:userId", s.needRun, s.eraseUser)
	s.app.Post("/execute", s.needRun, s.postExecute)
	s.app.Get("/tools", s.needRun, s.listTools)
	s.app.Get("/tools/:name", s.needRun, s.getTool)
	s.app.Get("/skills", s.needRun, s.listSkills)
	s.app.Post("/skills", s.needRun, s.postSkill)
	s.app.Get("/skills/:name", s.needRun, s.getSkill)
	s.app.Delete("/skills/:name", s.needRun, s.deleteSkill)
	s.app.Get("/skills/:name/zip", s.needRun, s.zipSkill)
	s.app.Get("/skills/:name/history", s.needRun, s.skillHistory)
	s.app.Get("/skills/:name/diff", s.needRun, s.skillDiff)
	s.app.Get("/skills/:name/review", s.needRun, s.reviewSkill)
	s.app.Post("/skills/:name/rollback", s.needRun, s.rollbackSkill)
	s.app.Post("/skills/:name/promote", s.needRun, s.promoteSkill)
	s.app.Post("/skills/:name/verify", s.needRun, s.verifySkill)
	s.app.Get("/artifacts/:userId", s.needRun, s.listArtifacts)
	s.app.Get("/artifacts/:userId/+", s.needRun, s.getArtifact)
	s.app.Delete("/artifacts/:userId/+", s.needRun, s.deleteArtifact)
	s.app.Get(chatPrefix+"models", s.needRun, s.listModels)
	s.app.Post(chatPrefix+"chat/completions", s.needRun, s.postChat)
	s.app.Use(func(c *fiber.Ctx) error { return s.unknownRoute(c) })
}

// Serve answers on l until Shutdown.
func (s *Server) Serve(l net.Listener) error { return s.app.Listener(l) }

// Shutdown stops taking requests, ends those that wait, and returns when all are
// answered or ctx ends.
func (s *Server) Shutdown(ctx context.Context) error {
	s.cancel()
	err := s.app.ShutdownWithContext(ctx)
	s.work.Wait()
	s.peerTransport.CloseIdleConnections()
	return err
}
