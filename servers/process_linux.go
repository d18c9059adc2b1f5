package servers

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"airlock/servers/keeper"
)

// groupAttributes also let the kernel end a server whose parent died without
// having stopped it.
func groupAttributes(kept bool) *syscall.SysProcAttr {
	death := syscall.SIGKILL
	if kept {
		death = keeper.KillSignal
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: death}
}

// awaitExit returns when the process has ended and leaves it to be reaped.
func awaitExit(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}
