package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"airlock/pii"
)

// wire carries messages to one server. The handshake is mcp-go's, over the
// wire; calls go to the wire directly, since mcp-go's client decodes results
// and schemas into structs that lose parts of them.
type wire interface {
	transport.Interface
	// ended is closed when the server is gone for good.
	ended() <-chan struct{}
	// cause says why, after ended.
	cause() error
	// kill ends the server at once, for the given reason. What waits fails.
	kill(cause error)
	// detail is what the server said besides, such as its standard error.
	detail() pii.Raw
}

// connection is a server that has been started and has said what it offers.
type connection struct {
	up    *upstream
	owner Caller
	wire  wire
	// stop ends the context that the wire was started with.
	stop context.CancelFunc
	ids  atomic.Int64
	work sync.WaitGroup // cancellations and probes under way

	stale     atomic.Bool   // the server announced another list of tools
	questions chan struct{} // slots for what the server asks

	mu       sync.Mutex // guards what follows
	watchers map[int64]*watcher
	tools    *toolList
	relisted time.Time
	probe    chan struct{} // closed when the ping that is under way ends
	done     bool
}

const (
	// firstID keeps our requests apart from those of mcp-go's client, which
	// counts from 1 and sends the handshake only.
	firstID = 1000
	// probeTime is how long a server that overran a deadline has to answer a ping.
	probeTime = 2 * time.Second
	// cancelTime bounds telling a server that nobody waits any more.
	cancelTime = 2 * time.Second
)

// dial starts the server for its owner and lists its tools, within initTimeoutMs.
func dial(ctx context.Context, u *upstream, owner Caller) (*connection, error) {
	ctx, stop := context.WithCancel(ctx)
	w, err := u.open(ctx, owner)
	if err != nil {
		stop()
		return nil, err
	}
	c := &connection{up: u, owner: owner, wire: w, stop: stop, watchers: map[int64]*watcher{}, questions: make(chan struct{}, maxAsked)}
	c.ids.Store(firstID)
	if err := c.begin(ctx); err != nil {
		w.kill(err) // it does not work, so it is not asked to end
		_ = c.close()
		return nil, err
	}
	return c, nil
}

func (c *connection) begin(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, c.up.entry.initTimeout)
	defer cancel()
	mcpClient := client.NewClient(c.wire, client.WithProtocolVersion(c.up.entry.protocol))
	if err := mcpClient.Start(ctx); err != nil {
		return c.explain(limited, doStart, err)
	}
	c.wire.SetNotificationHandler(c.notified)
	if both, ok := c.wire.(transport.BidirectionalInterface); ok {
		both.SetRequestHandler(c.asked)
	}
	hello := mcp.InitializeRequest{}
	hello.Params.ProtocolVersion = c.up.entry.protocol
	hello.Params.Capabilities = c.capabilities()
	hello.Params.ClientInfo = mcp.Implementation{Name: "airlock", Version: "1"}
	if _, err := mcpClient.Initialize(limited, hello); err != nil {
		return c.explain(limited, doStart, err)
	}
	raw, err := c.fetchTools(limited)
	if err != nil {
		return c.explain(limited, doStart, err)
	}
	c.tools = c.up.toolListOf(raw)
	c.up.noted(c.tools, raw)
	return nil
}

type callParams struct {
	Meta      *callMeta       `json:"_meta,omitempty"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

func (c *connection) call(ctx context.Context, id int64, params callParams) (Result, error) {
	raw, err := c.requestAs(ctx, id, string(mcp.MethodToolsCall), params)
	if err != nil {
		return Result{}, c.explain(ctx, doCall, err)
	}
	var flags struct {
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(raw, &flags); err != nil || raw[0] != '{' {
		return Result{}, c.explain(ctx, doCall, errMalformed)
	}
	return Result{JSON: pii.NewRaw(string(raw)), IsError: flags.IsError}, nil
}

// request sends one request and waits for its answer or the end of ctx. The
// wire returns by then, whatever the server does.
func (c *connection) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return c.requestAs(ctx, c.ids.Add(1), method, params)
}

func (c *connection) requestAs(ctx context.Context, id int64, method string, params any) (json.RawMessage, error) {
	response, err := c.wire.SendRequest(ctx, transport.JSONRPCRequest{
		JSONRPC: mcp.JSONRPC_VERSION, ID: mcp.NewRequestId(id), Method: method, Params: params,
	})
	if err != nil {
		if ctx.Err() != nil {
			c.abandon(ctx, id, method)
		}
		return nil, err
	}
	if response.Error != nil {
		return nil, refusalOf(response.Error)
	}
	if len(response.Result) > c.up.entry.maxMessage {
		return nil, errTooLarge
	}
	return response.Result, nil
}

// abandon tells the server that nobody waits for an answer any more. One that
// overran its time must then answer a ping, or it is killed: until it is known
// which, no new call is sent to it.
func (c *connection) abandon(ctx context.Context, id int64, method string) {
	if method == string(mcp.MethodPing) || !c.alive() {
		return
	}
	c.background(func(own context.Context) {
		limited, cancel := context.WithTimeout(own, cancelTime)
		defer cancel()
		_ = c.wire.SendNotification(limited, cancelled(id)) // best effort
	})
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		c.suspect()
	}
}

func cancelled(id int64) mcp.JSONRPCNotification {
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method = string(mcp.MethodNotificationCancelled)
	n.Params.AdditionalFields = map[string]any{"requestId": id, "reason": "nobody waits for it any more"}
	return n
}

func (c *connection) suspect() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.probe != nil || c.done {
		return
	}
	probe := make(chan struct{})
	c.probe = probe
	c.work.Go(func() {
		c.ping()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.probe = nil
		close(probe)
	})
}

// ping kills a server that does not answer it in time. Any answer will do.
func (c *connection) ping() {
	ctx, cancel := context.WithTimeout(context.Background(), probeTime)
	defer cancel()
	_, err := c.request(ctx, string(mcp.MethodPing), nil)
	var refused *refusal
	if err != nil && !errors.As(err, &refused) {
		c.wire.kill(c.up.fail(doCall, ErrUpstream, fmt.Sprintf("it did not answer a ping for %s and was stopped", probeTime), "it is started again by the next call"))
	}
}

// background runs f in a goroutine that close waits for.
func (c *connection) background(f func(context.Context)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		c.work.Go(func() { f(context.Background()) })
	}
}

func (c *connection) probing() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.probe
}

func (c *connection) alive() bool {
	select {
	case <-c.wire.ended():
		return false
	default:
		return true
	}
}

func (c *connection) cause() error { return c.explain(context.Background(), doCall, c.wire.cause()) }

// close stops the server and waits for everything that belongs to it.
func (c *connection) close() error {
	c.mu.Lock()
	c.done = true
	c.mu.Unlock()
	err := c.wire.Close()
	c.stop()
	c.work.Wait()
	return err
}
