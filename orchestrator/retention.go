package orchestrator

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"airlock/orchestrator/state"
)

// expireEvery is how often artifacts are looked through for old ones.
const expireEvery = time.Hour

// keepTidy deletes artifacts that are past their age, and the values of old sessions,
// at the start and then every hour, until the service ends.
func (s *Service) keepTidy() {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		err := s.kept.forgetOld(s.ctx, time.Now().Add(-state.Retention))
		if s.opts.ArtifactAge > 0 {
			err = errors.Join(err, s.expireArtifacts(s.ctx, time.Now()))
		}
		err = errors.Join(err, s.tidyFolders(s.ctx))
		if err != nil && s.ctx.Err() == nil {
			s.log.Warn("deleting what is old failed; it is tried again in an hour", zap.Error(err))
		}
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// tidyFolders removes files that are kept of sessions which have ended.
func (s *Service) tidyFolders(ctx context.Context) error {
	live, err := LiveSessions(ctx, s.opts.State.Kept)
	if err != nil {
		return err
	}
	return s.opts.Workspaces.Tidy(ctx, live)
}

// expireArtifacts deletes what is older than ArtifactAge at a time.
func (s *Service) expireArtifacts(ctx context.Context, now time.Time) error {
	expired, err := s.opts.Workspaces.Expire(ctx, now.Add(-s.opts.ArtifactAge), now)
	errs := []error{err}
	for key, names := range expired {
		errs = append(errs, s.dropArtifacts(ctx, key, names))
	}
	return errors.Join(errs...)
}
