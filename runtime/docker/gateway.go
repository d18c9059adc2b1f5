package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.uber.org/zap"
	"golang.org/x/net/netutil"
)

const (
	// maxConnections bounds what scripts can keep open at a socket; more wait.
	maxConnections = 256
	// maxRequest bounds a request's body, above what the bridge takes.
	maxRequest = 32 << 20
	// headTime is how long a request's head may take: a slow client has no more.
	headTime = 10 * time.Second
	// maxSocketPath is the longest path that a socket can be bound to.
	maxSocketPath = 100
	// rehearsalPath is what an interpreter calls that gets ready for a script, also
	// while another script runs whose bridge has nothing to do with it.
	rehearsalPath = "/rehearsal"
)

// gateway is a container's socket, behind which the bridge answers while an
// execution runs.
type gateway struct {
	dir    string // on the host; what the container sees as /bridge
	server *http.Server
	served sync.WaitGroup

	mu  sync.Mutex // guards now, and that nothing is added to its calls after end
	now *calls
}

// calls are those of one execution.
type calls struct {
	bridge http.Handler
	// join makes of a request's context one that ends with the execution as well.
	join    func(context.Context) (context.Context, context.CancelFunc)
	over    <-chan struct{} // closed when the execution ends
	pending sync.WaitGroup
}

// newGateway makes a folder with a socket and answers there.
func newGateway(i *instance, log *zap.Logger) (*gateway, error) {
	dir, err := i.folder()
	if err != nil {
		return nil, err
	}
	listener, err := listen(dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make the bridge's socket: %w", err), os.RemoveAll(dir))
	}
	g := &gateway{dir: dir}
	g.server = &http.Server{
		Handler: g, ReadHeaderTimeout: headTime, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		ErrorLog: zap.NewStdLog(zap.NewNop()), // what scripts send is not for the log
	}
	g.served.Go(func() {
		if err := g.server.Serve(netutil.LimitListener(listener, maxConnections)); !errors.Is(err, http.ErrServerClosed) {
			log.Warn("a sandbox's bridge socket ended", zap.Error(err))
		}
	})
	return g, nil
}

// listen makes the socket, which the container's user may connect to. Others on
// the host cannot: the folder above is ours alone.
func listen(dir string) (net.Listener, error) {
	path := filepath.Join(dir, socketName)
	if len(path) > maxSocketPath {
		folder, err := os.Open(dir)
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		path = fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), socketName)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	listener.SetUnlinkOnClose(false) // the whole folder goes
	if err := os.Chmod(path, 0o666); err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	return listener, nil
}

// begin lets an execution's calls through until end.
func (g *gateway) begin(ctx context.Context, bridge http.Handler) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	c := &calls{bridge: bridge, over: ctx.Done(), join: func(request context.Context) (context.Context, context.CancelFunc) {
		request, stop := context.WithCancel(request)
		leave := context.AfterFunc(ctx, stop)
		return request, func() { leave(); stop() }
	}}
	g.mu.Lock()
	g.now = c
	g.mu.Unlock()
	return func() {
		g.mu.Lock()
		g.now = nil
		g.mu.Unlock()
		cancel()
		c.pending.Wait()
	}
}

// ServeHTTP implements http.Handler: it hands a call to the execution's bridge.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == rehearsalPath {
		refuseUnavailable(w)
		return
	}
	c := g.enter()
	if c == nil || c.bridge == nil {
		refuseUnavailable(w)
		if c != nil {
			c.pending.Done()
		}
		return
	}
	defer c.pending.Done()
	ctx, cancel := c.join(r.Context())
	defer cancel()
	r.Body = http.MaxBytesReader(w, r.Body, maxRequest)
	if !handle(c.bridge, w, r.WithContext(ctx)) {
		refuse(w, http.StatusInternalServerError, "internal", "the bridge failed", "try again")
	}
	select {
	case <-c.over:
		hangUp(w) // a script must not see, and end with, the failure of a call that was cut short
	default:
	}
}

// enter counts a call among those of the running execution, if there is one.
func (g *gateway) enter() *calls {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now != nil {
		g.now.pending.Add(1)
	}
	return g.now
}

// handle serves a request; false means that the handler panicked.
func handle(h http.Handler, w http.ResponseWriter, r *http.Request) (ok bool) {
	defer func() { ok = recover() == nil }()
	h.ServeHTTP(w, r)
	return true
}

func hangUp(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

func refuseUnavailable(w http.ResponseWriter) {
	refuse(w, http.StatusServiceUnavailable, "unavailable", "this sandbox has no bridge", "run the script with a bridge to call tools")
}

// refuse answers with an error in the bridge's own form.
func refuse(w http.ResponseWriter, status int, code, message, hint string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"code":%q,"message":%q,"hint":%q}}`, code, message, hint)
}

// close ends the socket and removes its folder.
func (g *gateway) close() error {
	err := g.server.Close()
	g.served.Wait()
	return errors.Join(err, os.RemoveAll(g.dir))
}
