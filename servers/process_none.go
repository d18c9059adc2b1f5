//go:build !unix

package servers

import (
	"errors"
	"os"
	"os/exec"
	"time"
)

// process stands for a server's process on systems where none is started.
type process struct {
	stdin, stdout, stderr *os.File
	exited                chan struct{}
	state                 string
	over                  bool
}

// startProcess fails: ending all that a server has started takes the process groups
// of Unix, and one that outlives airlock is worse than none.
func startProcess(_ *spawner, _ []string, line commandLine) (*process, error) {
	return nil, &exec.Error{Name: line.path, Err: errors.New(`airlock starts servers on Unix systems only; here, use those with a "url"`)}
}

func (*process) gone(time.Duration) bool { return true }
func (*process) kill()                   {}
func (*process) stop()                   {}
func (*process) closePipes()             {}
