package bridge

import (
	"sync"

	"airlock/discovery"
	"airlock/ident"
	"airlock/pii"
	"airlock/servers"
)

// The bounds of what is kept of results. A hostile server can make its tools'
// shapes as large as one may be, and push others out; it cannot have more.
const (
	maxShapes      = 2000   // tools of users
	maxShapesNodes = 50_000 // of all shapes together, 300 bytes each
	maxLearnt      = 5      // results that teach one shape
)

// observedShapes are the types of results of tools that declare none: types and
// keys, never values, and for each user his own. The zero value is ready.
type observedShapes struct {
	mu    sync.Mutex // guards the rest
	all   map[shapeKey]*observed
	clock int
	nodes int
}

type shapeKey struct {
	user ident.User
	tool string // full name
}

// observed is what is known of one tool's results.
type observed struct {
	used   int    // when last, guarded by observedShapes.mu
	nodes  int    // as counted in observedShapes, guarded by its mu
	text   string // the shape, guarded by observedShapes.mu
	learnt int    // results, guarded by learning

	learning sync.Mutex // held while shape learns
	shape    discovery.Shape
}

// of is the TypeScript type of a tool's results; empty if none were seen.
func (o *observedShapes) of(user ident.User, tool string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	known := o.all[shapeKey{user, tool}]
	if known == nil {
		return ""
	}
	o.clock++
	known.used = o.clock
	return known.text
}

// learn looks at one more result, which is tokenized. Keys with tokens in them are
// taken for data by discovery.Shape, so that no token of a session outlives it. A
// result that comes while another is looked at teaches nothing.
func (o *observedShapes) learn(user ident.User, tool servers.Tool, result pii.Tokenized) {
	if declaresResult(tool) {
		return
	}
	key := shapeKey{user, tool.FullName()}
	known := o.entry(key)
	if !known.learning.TryLock() {
		return
	}
	defer known.learning.Unlock()
	if known.learnt >= maxLearnt {
		return
	}
	value := discovery.ResultValue([]byte(result.String()))
	if value == nil || known.shape.Observe(value) != nil {
		return
	}
	known.learnt++
	text, nodes := known.shape.TypeScript(), known.shape.Nodes()
	if known.learnt == maxLearnt { // the text is all that is needed from now on
		known.shape, nodes = discovery.Shape{}, 1
	}
	o.keep(key, known, text, nodes)
}

func declaresResult(tool servers.Tool) bool {
	schema := inClear(tool.OutputSchema)
	return schema != "" && schema != "null"
}

// entry returns what is known of a tool, made at first use.
func (o *observedShapes) entry(key shapeKey) *observed {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.clock++
	if o.all == nil {
		o.all = map[shapeKey]*observed{}
	}
	known := o.all[key]
	if known == nil {
		known = &observed{}
		o.all[key] = known
	}
	known.used = o.clock
	o.makeRoom(known)
	return known
}

// keep publishes what was learnt, unless it was forgotten meanwhile.
func (o *observedShapes) keep(key shapeKey, known *observed, text string, nodes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all[key] != known {
		return
	}
	o.nodes += nodes - known.nodes
	known.text, known.nodes = text, nodes
	o.makeRoom(known)
}

// makeRoom forgets the shapes that nobody has used for longest. It is called with
// mu held.
func (o *observedShapes) makeRoom(keep *observed) {
	for len(o.all) > maxShapes || o.nodes > maxShapesNodes {
		var oldest shapeKey
		for key, known := range o.all {
			if known != keep && (o.all[oldest] == nil || known.used < o.all[oldest].used) {
				oldest = key
			}
		}
		gone := o.all[oldest]
		if gone == nil {
			return
		}
		o.nodes -= gone.nodes
		delete(o.all, oldest)
	}
}
