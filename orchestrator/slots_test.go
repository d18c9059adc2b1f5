package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"airlock/ident"
)

// line has tasks wait for places, in a bubble: at each step all that can move has.
type line struct {
	slots   *slots
	begun   time.Time
	entered chan string
	ends    map[string]chan struct{}
	work    sync.WaitGroup
}

func newLine(places int) *line {
	return &line{slots: newSlots(places), begun: time.Now(), entered: make(chan string, 100), ends: map[string]chan struct{}{}}
}

// join puts a user's task in line that was accepted as number n.
func (l *line) join(ctx context.Context, user string, n int) {
	name, end := fmt.Sprint(user, n), make(chan struct{})
	l.ends[name] = end
	l.work.Go(func() {
		leave, err := l.slots.enter(ctx, ident.User(user), l.begun.Add(time.Duration(n)))
		if err != nil {
			return
		}
		l.entered <- name
		<-end
		leave()
	})
	synctest.Wait()
}

// run ends the tasks in the order they were admitted, and gives that order.
func (l *line) run() string {
	var order []string
	for synctest.Wait(); len(l.entered) > 0; synctest.Wait() {
		name := <-l.entered
		order = append(order, name)
		close(l.ends[name])
	}
	l.work.Wait()
	return strings.Join(order, " ")
}

func TestPlacesAreSharedAmongUsers(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		places int
		tasks  []string // users, in the order their tasks are accepted
		want   string
	}{
		"one user's tasks run in their order": {1, []string{"a", "a", "a", "a"}, "a1 a2 a3 a4"},
		"who comes later is next":             {1, []string{"a", "a", "a", "a", "b"}, "a1 b5 a2 a3 a4"},
		"users take turns":                    {1, []string{"a", "a", "a", "b", "b", "c", "b"}, "a1 b4 c6 a2 b5 a3 b7"},
		"who holds fewest is next":            {3, []string{"a", "a", "a", "a", "a", "b", "b"}, "a1 a2 a3 b6 a4 b7 a5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := newLine(tt.places)
				for i, user := range tt.tasks {
					l.join(t.Context(), user, i+1)
				}
				if got := l.run(); got != tt.want {
					t.Errorf("admitted %s, want %s", got, tt.want)
				}
				if l.slots.free != tt.places || len(l.slots.shares) > 0 {
					t.Errorf("%d places are free and %d users known when all have ended", l.slots.free, len(l.slots.shares))
				}
			})
		})
	}
}

// TestManyTasksOfOneUserDoNotKeepOthersOut has another user's one come last.
func TestManyTasksOfOneUserDoNotKeepOthersOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine(16)
		for i := range 90 {
			l.join(t.Context(), "a", i)
		}
		l.join(t.Context(), "b", 90)
		order := strings.Fields(l.run())
		if at := slices.Index(order, "b90"); at != 16 {
			t.Errorf("b's task was admitted as number %d, want right behind the 16 that ran", at)
		}
	})
}

func TestATaskAcceptedEarlierGoesFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine(1)
		for _, n := range []int{1, 4, 2, 3} { // as when an earlier task of the session ends late
			l.join(t.Context(), "a", n)
		}
		if got := l.run(); got != "a1 a2 a3 a4" {
			t.Errorf("admitted %s", got)
		}
	})
}

func TestWhoGivesUpTakesNoPlace(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine(1)
		l.join(t.Context(), "a", 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		l.join(ctx, "b", 2)
		l.join(t.Context(), "a", 3)
		cancel(errCancelled)
		if got := l.run(); got != "a1 a3" || l.slots.free != 1 || len(l.slots.shares) > 0 {
			t.Errorf("admitted %s; %d places are free, %d users known", got, l.slots.free, len(l.slots.shares))
		}
		if _, err := newSlots(0).enter(ctx, "b", time.Now()); !errors.Is(err, errCancelled) {
			t.Errorf("got %v", err)
		}
	})
}
