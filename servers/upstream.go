package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// upstream is one enabled server of the catalog with its instances: one for
// all, for each user or for each session.
type upstream struct {
	manager *Manager
	entry   *Entry

	mu        sync.Mutex // guards what follows
	instances map[string]*instance
	first     *toolList // what a fresh instance lists, before anybody told it anything
	recalled  bool      // the cache has been asked for it
	closed    bool
}

// maxInstances bounds the processes of one server. At 90 MB each, the median
// of real servers, it is what a machine of 8 GB can hold.
const maxInstances = 64

func newUpstream(m *Manager, e *Entry) *upstream {
	return &upstream{manager: m, entry: e, instances: map[string]*instance{}}
}

// acquire returns a connection that works, starting the caller's instance when
// it has to. The caller must release it.
func (u *upstream) acquire(ctx context.Context, c Caller) (*connection, *instance, error) {
	for {
		i, err := u.instance(c)
		if err != nil {
			return nil, nil, err
		}
		conn, err := i.acquire(ctx)
		if errors.Is(err, errRetired) {
			continue // it made room for another; the caller gets a new one
		}
		return conn, i, err
	}
}

func (u *upstream) instance(c Caller) (*instance, error) {
	key := u.entry.instanceKey(c)
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.closed {
		return nil, u.fail(doStart, ErrUpstream, "airlock is shutting down", "")
	}
	if i := u.instances[key]; i != nil {
		return i, nil
	}
	if len(u.instances) >= maxInstances && !u.evict() {
		return nil, u.fail(doStart, ErrUpstream, fmt.Sprintf("all %d processes that it may have are busy", maxInstances),
			`try again later, or set "instance": "shared" if the server keeps no state`)
	}
	i := newInstance(u, c)
	u.instances[key] = i
	return i, nil
}

// evict removes the instance that has been idle for longest.
func (u *upstream) evict() bool {
	oldest, at := "", time.Time{}
	for key, i := range u.instances {
		if used, busy := i.usage(); !busy && (at.IsZero() || used.Before(at)) {
			oldest, at = key, used
		}
	}
	i := u.instances[oldest]
	if i == nil || !i.retire() {
		return false
	}
	delete(u.instances, oldest)
	return true
}

// list returns the tools that the catalog admits.
func (u *upstream) list(ctx context.Context, c Caller) ([]Tool, error) {
	current, err := u.current(ctx, c)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(current.tools), func(t Tool) bool { return !u.entry.admits(t.Name) }), nil
}

// current asks a live instance of the caller for its tools, else takes what a
// fresh one is known to say, else starts one.
func (u *upstream) current(ctx context.Context, c Caller) (*toolList, error) {
	if known := u.known(c); known != nil {
		return known, nil
	}
	conn, i, err := u.acquire(ctx, c)
	if err != nil {
		return nil, err
	}
	defer i.release()
	return conn.list(ctx), nil
}

func (u *upstream) tool(ctx context.Context, c Caller, name string) (Tool, error) {
	current, err := u.current(ctx, c)
	if err != nil {
		return Tool{}, err
	}
	t, ok := current.find(name)
	if !ok {
		return Tool{}, unknownTool(u.entry.Name)
	}
	return t, nil
}

func (u *upstream) call(ctx context.Context, c Caller, name string, arguments json.RawMessage, watch func(Progress)) (Result, error) {
	arguments, err := u.checkArguments(arguments)
	if err != nil {
		return Result{}, err
	}
	conn, i, err := u.acquire(ctx, c)
	if err != nil {
		return Result{}, err
	}
	defer i.release()
	if _, ok := conn.list(ctx).find(name); !ok {
		return Result{}, unknownTool(u.entry.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, u.entry.callTimeout)
	defer cancel()
	if err := i.enter(ctx); err != nil {
		return Result{}, u.interrupted(ctx, doCall, "every slot of its limits.concurrency was taken")
	}
	defer i.leave()
	result, err := conn.watched(ctx, name, arguments, watch)
	if err == nil {
		i.worked()
	}
	return result, err
}

func (u *upstream) checkArguments(arguments json.RawMessage) (json.RawMessage, error) {
	if len(arguments) == 0 {
		return json.RawMessage("{}"), nil
	}
	if len(arguments) > u.entry.maxMessage {
		return nil, u.fail(doCall, ErrArgumentsTooLarge,
			fmt.Sprintf("the arguments have %d bytes, more than the %d of limits.maxMessageBytes", len(arguments), u.entry.maxMessage),
			"send less at a time, or raise the limit in catalog.json")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &fields); err != nil || fields == nil {
		return nil, fmt.Errorf("%s %q: the arguments must be a JSON object", doCall, u.entry.Name)
	}
	return arguments, nil
}

func (u *upstream) close() error {
	u.mu.Lock()
	u.closed = true
	instances := u.instances
	u.instances = nil
	u.mu.Unlock()
	errs := make([]error, 0, len(instances))
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, i := range instances {
		all.Go(func() {
			err := i.close()
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// What can be attempted, as errors name it.
const (
	doStart = "start server"
	doCall  = "call a tool of server"
	doList  = "list the tools of server"
)

func (u *upstream) fail(doing string, kind error, reason, hint string) *Error {
	return &Error{Server: u.entry.Name, Doing: doing, Kind: kind, Reason: reason, Hint: hint}
}

// interrupted says why ctx ended a wait: its deadline is the server's fault,
// a cancellation the caller's wish.
func (u *upstream) interrupted(ctx context.Context, doing, reason string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return u.fail(doing, ErrTimeout, "no answer in time: "+reason, "raise lifecycle.callTimeoutMs or limits.concurrency in catalog.json, or call less at once")
	}
	return u.fail(doing, ctx.Err(), "cancelled", "")
}
