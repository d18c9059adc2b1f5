package servers

import (
	"runtime"
	"sync"
)

// spawner runs functions on one operating system thread that lives as long as
// it does. Linux kills a child whose parent died when the thread that started
// it ends, not the process; without a thread of its own a server could die
// because the Go runtime let a thread go.
type spawner struct {
	jobs chan func()
	done chan struct{}
	once sync.Once
}

func newSpawner() *spawner {
	s := &spawner{jobs: make(chan func()), done: make(chan struct{})}
	go s.run()
	return s
}

func (s *spawner) run() {
	defer close(s.done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for job := range s.jobs {
		job()
	}
}

// do runs f on the thread and waits for it. It must not be called after close.
func (s *spawner) do(f func()) {
	finished := make(chan struct{})
	s.jobs <- func() {
		defer close(finished)
		f()
	}
	<-finished
}

func (s *spawner) close() {
	s.once.Do(func() { close(s.jobs) })
	<-s.done
}
