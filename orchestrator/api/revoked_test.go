package api

import (
	"bufio"
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"airlock/orchestrator"
	"airlock/orchestrator/auth"
)

// TestARevokedCallersStreamEnds follows a task that tells nothing more.
func TestARevokedCallersStreamEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		follow := &follower{
			server: &Server{opts: Options{Service: &fakeService{}, Log: zap.NewNop()}},
			authorized: func() error {
				if time.Since(begun) > time.Minute {
					return auth.ErrUnauthorized
				}
				return nil
			},
			write: func(*bufio.Writer, orchestrator.Event) error { return nil },
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := follow.follow(ctx, bufio.NewWriter(io.Discard))
		if took := time.Since(begun); !errors.Is(err, auth.ErrUnauthorized) || took > time.Minute+2*callerCheck {
			t.Errorf("ended after %v with %v", took, err)
		}
	})
}

func TestReadinessIsLookedAtOnceASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, r := &fakeService{}, readiness{}
		for range 10 {
			r.look(t.Context(), f.Check)
		}
		if n := f.checks.Load(); n != 1 {
			t.Errorf("looked %d times at once", n)
		}
		f.err = errors.New("gone")
		<-time.After(readyFor)
		if found := r.look(t.Context(), f.Check); found["sandbox fake"] == nil || f.checks.Load() != 2 {
			t.Errorf("a second later %v was found", found)
		}
	})
}
