package wasm

import (
	"os/exec"
	"runtime"
)

// spawner starts processes on one thread that lives as long as it does. A child
// whose parent's death kills it is tied, by the kernel, to the thread that made
// it: made on just any thread, it would die when the Go runtime ends that one.
type spawner struct {
	requests chan spawn
	done     chan struct{}
}

type spawn struct {
	cmd   *exec.Cmd
	reply chan error
}

func newSpawner() *spawner {
	s := &spawner{requests: make(chan spawn), done: make(chan struct{})}
	go s.loop()
	return s
}

func (s *spawner) loop() {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	defer close(s.done)
	for r := range s.requests {
		r.reply <- r.cmd.Start()
	}
}

// start starts a command. It must not be called after close.
func (s *spawner) start(cmd *exec.Cmd) error {
	reply := make(chan error, 1)
	s.requests <- spawn{cmd, reply}
	return <-reply
}

// close ends the thread, and with it every process it started.
func (s *spawner) close() {
	close(s.requests)
	<-s.done
}
