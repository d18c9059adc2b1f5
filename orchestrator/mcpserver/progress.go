package mcpserver

import (
	"context"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"airlock/orchestrator"
	"airlock/pii"
)

// maxProgress bounds what one notification says, in bytes.
const maxProgress = 8 << 10

// follower tells the host what happens while its script runs: as the progress of its
// call where it asked for that, and as log messages of the levels it wants.
type follower struct {
	*session
	ctx   context.Context //nolint:containedctx // of the one call that is followed
	token mcp.ProgressToken

	mu   sync.Mutex // guards done, and the order of what is told
	done int
}

func (c call) follower(ctx context.Context) *follower {
	f := &follower{session: c.session, ctx: ctx}
	if meta := c.request.Params.Meta; meta != nil {
		f.token = meta.ProgressToken
	}
	return f
}

// event tells of one event. It may be called concurrently.
func (f *follower) event(kind orchestrator.EventType, data orchestrator.EventData) {
	level, message := f.told(kind, data)
	if message.IsZero() {
		return
	}
	message = pii.Cut(message, maxProgress)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.token != nil {
		f.done++
		f.notify(f.ctx, string(mcp.MethodNotificationProgress), map[string]any{"progressToken": f.token, "progress": f.done, "message": message})
	}
	f.logTo(f.ctx, level, message)
}

// logTo sends a log message, if the host wants any of that level.
func (s *session) logTo(ctx context.Context, level mcp.LoggingLevel, message pii.Tokenized) {
	if level.ShouldSendTo(s.GetLogLevel()) {
		s.notify(ctx, string(mcp.MethodNotificationMessage), map[string]any{"level": level, "logger": "airlock", "data": message})
	}
}

// told puts an event into words; none for those that a result tells by itself.
func (f *follower) told(kind orchestrator.EventType, data orchestrator.EventData) (mcp.LoggingLevel, pii.Tokenized) {
	words := ""
	switch kind {
	case orchestrator.EventExecutionOutput, orchestrator.EventToolProgress:
		return mcp.LoggingLevelInfo, data.Text
	case orchestrator.EventExecutionStarted:
		return mcp.LoggingLevelDebug, pii.Static("the script has started")
	case orchestrator.EventToolCalled:
		words = "calling " + data.Tool
	case orchestrator.EventToolFinished:
		words = fmt.Sprintf("%s: %s after %d ms", data.Tool, data.Outcome, data.DurationMs)
	default:
		return mcp.LoggingLevelDebug, pii.Tokenized{}
	}
	told, err := f.talks.Tell(pii.NewRaw(words)) // a script may call what it likes
	if err != nil {
		return mcp.LoggingLevelDebug, pii.Tokenized{}
	}
	return mcp.LoggingLevelDebug, told
}
