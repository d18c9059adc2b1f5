//go:build unix && !linux

package servers

import (
	"os/exec"
	"syscall"
)

func groupAttributes(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitExit reaps: there is no portable way to wait without doing so.
func awaitExit(cmd *exec.Cmd) { _ = cmd.Wait() } // its error is in the state
