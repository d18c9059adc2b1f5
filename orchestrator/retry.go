package orchestrator

import (
	"context"
	"errors"
	"time"

	"go.uber.org/zap"

	"airlock/orchestrator/llm"
)

const (
	// turnAttempts is how often one turn is asked before its error counts.
	turnAttempts = 4
	// firstPause doubles with each further attempt, where the provider names no
	// time of its own.
	firstPause = 500 * time.Millisecond
	// longestPause is how long a provider may have us wait where another model could
	// go on. Without one, the task's time is the bound.
	longestPause = 10 * time.Second
)

// persist asks for one turn, again where that may help: nothing of a turn has had an
// effect before it is complete.
func (a *agent) persist(ctx context.Context) (*turn, error) {
	for attempt := 1; ; attempt++ {
		begun := time.Now()
		traced, ended := a.traceTurn(ctx)
		turn, err := a.turn(traced)
		ended(turn, err)
		a.spend(turn.usage)
		a.observeTurn(turn, err, time.Since(begun))
		if err == nil {
			return turn, nil
		}
		wait := pauseAfter(err, attempt)
		if attempt == turnAttempts || !worthRetrying(err) || wait >= a.patience() {
			return nil, err
		}
		a.logOf(a.task).Info("asking the model again", zap.String("model", a.model),
			zap.Int("attempt", attempt+1), zap.Duration("after", wait), zap.Error(err))
		if err := pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

func worthRetrying(err error) bool {
	var provider *llm.Error
	return errors.Is(err, llm.ErrTruncated) || (errors.As(err, &provider) && provider.Retry)
}

// pauseAfter is how long to wait after a failed attempt: as long as the provider asks.
func pauseAfter(err error, attempt int) time.Duration {
	var provider *llm.Error
	if errors.As(err, &provider) && provider.After > 0 {
		return provider.After
	}
	return firstPause << (attempt - 1)
}

// patience is how long a provider may have the task wait. A wait that would outlast
// it is of no use, so the provider's error counts at once.
func (a *agent) patience() time.Duration {
	left := a.task.clock.Left()
	if a.opts.Fallback != "" && a.opts.Fallback != a.model {
		return min(left, longestPause)
	}
	return left
}

func pause(ctx context.Context, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fallBack has the fallback model go on with the task where err says that the one
// asked so far is not to be had. What the request itself is to blame for would fail
// there as well, or hide a mistake, so it stays an error. Blocks of reasoning that
// belong to the other model are left out by the drivers.
func (a *agent) fallBack(err error) bool {
	next := a.opts.Fallback
	if next == "" || next == a.model || !unavailable(err) {
		return false
	}
	a.logOf(a.task).Warn("going on with the fallback model", zap.String("model", a.model), zap.String("fallback", next), zap.Error(err))
	a.resting.fail(a.model)
	a.switchTo(next, problemOf(err))
	return true
}

func unavailable(err error) bool {
	var provider *llm.Error
	return errors.Is(err, llm.ErrTruncated) || (errors.As(err, &provider) && provider.Unavailable())
}
