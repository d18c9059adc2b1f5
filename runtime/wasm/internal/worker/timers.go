package worker

import (
	"container/heap"
	"time"

	"airlock/runtime/wasm/internal/quickjs"
)

// timers are a script's timers, the next one first; those of the same moment in
// the order they were set.
type timers struct {
	waiting timerHeap
	set     int
}

type timer struct {
	at      time.Time
	order   int
	resolve quickjs.Value
}

func (t *timers) add(at time.Time, resolve quickjs.Value) {
	t.set++
	heap.Push(&t.waiting, timer{at, t.set, resolve})
}

// due takes the next timer whose time has come.
func (t *timers) due(now time.Time) (quickjs.Value, bool) {
	if len(t.waiting) == 0 || t.waiting[0].at.After(now) {
		return 0, false
	}
	next, _ := heap.Pop(&t.waiting).(timer)
	return next.resolve, true
}

type timerHeap []timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].order < h[j].order
	}
	return h[i].at.Before(h[j].at)
}
func (h timerHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push and Pop are for package heap.
func (h *timerHeap) Push(x any) {
	if t, ok := x.(timer); ok {
		*h = append(*h, t)
	}
}

// Pop removes the last element.
func (h *timerHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
