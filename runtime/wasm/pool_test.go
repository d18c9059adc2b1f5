package wasm

import (
	"context"
	"sync"
	"testing"

	"airlock/runtime/sandbox"
)

// TestMoreSessionsThanWorkersAllRun would wait for sessions to idle out, a minute
// each time, if a finished worker were kept while others wait.
func TestMoreSessionsThanWorkersAllRun(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.MaxWorkers = 2
	b := backend(t, o)
	ctx, cancel := context.WithTimeout(t.Context(), idleTime*2/3)
	defer cancel()
	var runs sync.WaitGroup
	for range 12 {
		s := open(t, b)
		runs.Go(func() {
			if r, err := s.Run(ctx, script("return 1")); err != nil || r.Reason != sandbox.ReasonOK {
				t.Errorf("ended %s, %v", r.Reason, err)
			}
		})
	}
	runs.Wait()
}

// TestSpareThatWasKilledServesNobody kills a spare while it waits.
func TestSpareThatWasKilledServesNobody(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.MaxWorkers = 1 // so that no other spare can be made meanwhile
	b := backend(t, o)
	spare := <-b.pool.spares
	spare.kill()
	<-spare.done
	handed := make(chan struct{})
	go func() { // ends with the hand-over
		defer close(handed)
		b.pool.spares <- spare
	}()
	r, err := open(t, b).Run(t.Context(), script("return 1"))
	if err != nil || r.Reason != sandbox.ReasonOK {
		t.Errorf("ended %s, %v", r.Reason, err)
	}
	<-handed
}
