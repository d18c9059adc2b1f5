package sandbox

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestClock(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		use  func(*Clock)
		want time.Duration
	}{
		"runs out after its wall time": {func(*Clock) {}, time.Second},
		"stands still while stopped": {func(c *Clock) {
			<-time.After(400 * time.Millisecond)
			resume := c.Stop()
			<-time.After(5 * time.Second)
			resume()
			resume()
		}, 6 * time.Second},
		"runs again only after the last of nested stops": {func(c *Clock) {
			outer, inner := c.Stop(), c.Stop()
			outer()
			<-time.After(3 * time.Second)
			inner()
		}, 4 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				c := NewClock(time.Second)
				ctx, release := c.Start(context.Background())
				defer release()
				tc.use(c)
				<-ctx.Done()
				if got := time.Since(begin); got != tc.want {
					t.Errorf("ended after %v, want %v", got, tc.want)
				}
				if !errors.Is(context.Cause(ctx), ErrDeadline) {
					t.Errorf("cause is %v, want ErrDeadline", context.Cause(ctx))
				}
			})
		})
	}
}

func TestClockReleasedWhileStoppedNeverFires(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := NewClock(time.Second)
		ctx, release := c.Start(context.Background())
		resume := c.Stop()
		release()
		resume()
		<-time.After(time.Minute)
		if errors.Is(context.Cause(ctx), ErrDeadline) {
			t.Error("a released clock fired")
		}
	})
}
