package bridge

import (
	"hash/maphash"
	"slices"
	"sync"

	"airlock/discovery"
	"airlock/servers"
)

// view is the set of tools that some caller can see, with the index over it.
type view struct {
	id    uint64
	names []string       // full names, sorted
	tools []servers.Tool // in the order of names
	used  int            // when last, for viewCache

	once  sync.Once // makes the following
	index *discovery.Index
	err   error
}

func newView(id uint64, tools []servers.Tool) *view {
	v := &view{id: id}
	byName := make(map[string]servers.Tool, len(tools))
	for _, t := range tools {
		name := t.FullName()
		byName[name] = t
		v.names = append(v.names, name)
	}
	slices.Sort(v.names)
	for _, name := range v.names {
		v.tools = append(v.tools, byName[name])
	}
	return v
}

// indexed returns the index, made when somebody first asks for it.
func (v *view) indexed() (*discovery.Index, error) {
	v.once.Do(func() { v.index, v.err = discovery.NewIndex(v.tools) })
	return v.index, v.err
}

func (v *view) find(fullName string) (servers.Tool, bool) {
	i, ok := slices.BinarySearch(v.names, fullName)
	if !ok {
		return servers.Tool{}, false
	}
	return v.tools[i], true
}

// maxViews bounds how many sets of tools are kept. Callers with the same rights
// share one; a change of a tool list makes a new one.
const maxViews = 32

// viewCache keeps views by what is in them, so that an index is made again only
// when the tools or their descriptions change. The zero value is ready.
type viewCache struct {
	once sync.Once
	seed maphash.Seed

	mu    sync.Mutex // guards the rest
	views map[uint64]*view
	clock int
}

// of returns the view of these tools.
func (c *viewCache) of(tools []servers.Tool) *view {
	c.once.Do(func() { c.seed = maphash.MakeSeed() })
	id := c.fingerprint(tools)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	if v := c.views[id]; v != nil {
		v.used = c.clock
		return v
	}
	if c.views == nil {
		c.views = map[uint64]*view{}
	}
	if len(c.views) >= maxViews {
		c.dropOldest()
	}
	v := newView(id, tools)
	v.used = c.clock
	c.views[id] = v
	return v
}

// dropOldest is called with c.mu held.
func (c *viewCache) dropOldest() {
	var oldest *view
	for _, v := range c.views {
		if oldest == nil || v.used < oldest.used {
			oldest = v
		}
	}
	delete(c.views, oldest.id)
}

// fingerprint depends on the order of tools, which servers keep. It reads every
// text in full: two megabytes for a thousand tools, which takes a fifth of a
// millisecond.
func (c *viewCache) fingerprint(tools []servers.Tool) uint64 {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, t := range tools {
		for _, text := range []string{t.Server, t.Name, inClear(t.Title), inClear(t.Description), inClear(t.InputSchema), inClear(t.OutputSchema)} {
			maphash.WriteComparable(&h, len(text)) // keeps neighbours apart
			_, _ = h.WriteString(text)             // cannot fail
		}
	}
	return h.Sum64()
}
