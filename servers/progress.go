package servers

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"airlock/pii"
)

// Progress is what a server says about a call that is under way. Numbers and
// text are the server's own claims.
type Progress struct {
	Done float64
	// Total is 0 where the server does not know it.
	Total   float64
	Message pii.Raw
}

// watcher hands the progress of one call on, without ever holding the reading
// goroutine up: what comes faster than it is taken is left out.
type watcher struct {
	news chan Progress
	work sync.WaitGroup
}

// progressKept is how many reports wait for one that is being handled.
const progressKept = 16

func newWatcher(watch func(Progress)) *watcher {
	w := &watcher{news: make(chan Progress, progressKept)}
	w.work.Go(func() {
		for p := range w.news {
			watch(p)
		}
	})
	return w
}

// close waits until what came has been handled. Nothing may come after it.
func (w *watcher) close() {
	close(w.news)
	w.work.Wait()
}

// watched makes a call and reports its progress to watch, which is called by one
// goroutine at a time and for the last time before watched returns.
func (c *connection) watched(ctx context.Context, name string, arguments json.RawMessage, watch func(Progress)) (Result, error) {
	id := c.ids.Add(1)
	params := callParams{Name: name, Arguments: arguments}
	if watch == nil {
		return c.call(ctx, id, params)
	}
	params.Meta = &callMeta{ProgressToken: id}
	w := newWatcher(watch)
	c.mu.Lock()
	c.watchers[id] = w
	c.mu.Unlock()
	defer w.close()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.watchers, id)
	}()
	return c.call(ctx, id, params)
}

type callMeta struct {
	ProgressToken int64 `json:"progressToken"`
}

// progressed runs on the wire's reading goroutine.
func (c *connection) progressed(n mcp.JSONRPCNotification) {
	said := n.Params.AdditionalFields
	token, ok := said["progressToken"].(float64) // as encoding/json reads numbers
	if !ok {
		return
	}
	p := Progress{}
	p.Done, _ = said["progress"].(float64)
	p.Total, _ = said["total"].(float64)
	if text, ok := said["message"].(string); ok {
		p.Message = pii.NewRaw(text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.watchers[int64(token)]
	if w == nil {
		return
	}
	select {
	case w.news <- p:
	default:
	}
}
