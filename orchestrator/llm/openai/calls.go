package openai

import (
	"encoding/json"
	"strings"

	"airlock/orchestrator/llm"
	"airlock/orchestrator/llm/internal/wire"
)

// callPiece is a piece of a tool call.
type callPiece struct {
	// Index says which call it belongs to; some servers send none.
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content"`
}

// call is a tool call that is under way.
type call struct {
	index     int
	id, name  string
	arguments strings.Builder
	extra     json.RawMessage
}

// calls are those of one answer, in order.
type calls struct{ list []*call }

// add puts a piece to its call.
func (c *calls) add(p callPiece) {
	arguments := wire.Piece(p.Function.Arguments)
	current := c.find(p)
	if current == nil || current.complete(p, arguments) {
		current = &call{index: c.place(p)}
		c.list = append(c.list, current)
	}
	if current.id == "" {
		current.id = p.ID
	}
	if current.name == "" {
		current.name = p.Function.Name
	}
	if len(p.ExtraContent) > 0 && string(p.ExtraContent) != "null" {
		current.extra = p.ExtraContent
	}
	current.arguments.WriteString(arguments)
}

// place is the index of a new call; one without gets the next.
func (c *calls) place(p callPiece) int {
	if p.Index != nil {
		return *p.Index
	}
	return len(c.list)
}

// find is the latest call that p may belong to.
func (c *calls) find(p callPiece) *call {
	for i := len(c.list) - 1; i >= 0; i-- {
		if p.Index == nil || c.list[i].index == *p.Index {
			return c.list[i]
		}
	}
	return nil
}

// complete reports whether p begins another call at the same index, as servers
// that count every call as the first one send: the id differs, or a whole call
// is followed by another name with arguments.
func (c *call) complete(p callPiece, arguments string) bool {
	if p.ID != "" && c.id != "" {
		return p.ID != c.id
	}
	if p.Function.Name == "" || c.name == "" {
		return false
	}
	return arguments != "" && json.Valid([]byte(c.arguments.String()))
}

// finished is a call that arrived in whole, and what goes back with it.
type finished struct {
	llm.Call
	extra json.RawMessage
}

// whole are the calls that parsed; err says that one did not.
func (c *calls) whole(ids wire.IDs) ([]finished, error) {
	var done []finished
	var failed error
	for _, call := range c.list {
		arguments, err := wire.Arguments(call.arguments.String())
		if err != nil || call.name == "" {
			failed = errCall
			continue
		}
		done = append(done, finished{llm.Call{ID: ids.Of(call.id), Name: call.name, Arguments: arguments}, call.extra})
	}
	return done, failed
}
