package bridge

import (
	"time"

	"airlock/pii"
	"airlock/servers"
)

// progressEvery is the least time between two reports of a call's progress that are
// passed on; maxProgress bounds their text, in bytes.
const (
	progressEvery = 250 * time.Millisecond
	maxProgress   = 500
)

// watch passes on what the server reports of the call, to those who follow the
// execution; nil if nobody does.
func (c *call) watch() func(servers.Progress) {
	observe := c.access.grant.Observe
	if observe == nil {
		return nil
	}
	var last time.Time
	return func(p servers.Progress) {
		if time.Since(last) < progressEvery {
			return
		}
		last = time.Now()
		message, err := c.access.grant.Vault.Tokenize(p.Message, pii.OriginServer(c.tool.Server))
		if err != nil {
			return // the call itself will fail by the same fault
		}
		observe(Event{Tool: c.name, Server: c.tool.Server, Progress: &Progress{Done: p.Done, Total: p.Total, Message: pii.Cut(message, maxProgress)}})
	}
}
