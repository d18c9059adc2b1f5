package bridge

import (
	"go.uber.org/zap"

	"airlock/ident"
)

// Each line of the log names what it is about: session, task, execution, and the
// request by its number in the execution. The loggers are made when a line is written,
// which few requests need.

func (d *door) log() *zap.Logger { return d.bridge.named(d.session, "") }

func (a *Access) log() *zap.Logger {
	return a.bridge.named(a.grant.Session, a.grant.Task).With(zap.String("execution", string(a.grant.Execution)))
}

func (r *request) log() *zap.Logger { return r.access.log().With(zap.Int("request", r.number)) }

// viewer is who looks by this request.
func (r *request) viewer() Viewer {
	v := r.access.viewer()
	v.request = r
	return v
}

func (b *Bridge) logOf(v Viewer) *zap.Logger {
	if v.request != nil {
		return v.request.log()
	}
	return b.named(v.Session, v.Task)
}

func (b *Bridge) named(session ident.Session, task ident.Task) *zap.Logger {
	log := b.log.With(zap.String("session", string(session)))
	if task == "" {
		return log
	}
	return log.With(zap.String("task", string(task)))
}
