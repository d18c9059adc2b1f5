package keeper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Supported says whether this system has what Main needs.
const Supported = true

// Main runs the command of args, an absolute path and its arguments, and returns
// when no process of it is left. It takes the whole process: its standard
// streams, signals and children. environ and dir of the process are the
// server's.
func Main(args []string, environ []string) int {
	runtime.LockOSThread() // the kernel takes the end of the thread that starts a child for the parent's death
	out := os.NewFile(ReportFD, "report")
	unix.CloseOnExec(ReportFD)
	report := keep(args, environ)
	if _, err := io.WriteString(out, fmt.Sprintf(reportForm, uint32(report.Errno), uint32(report.Status))); err != nil {
		return 1
	}
	return 0
}

func keep(args, environ []string) Report {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return failed(err)
	}
	ended, told := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGCHLD)
	signal.Notify(told, KillSignal)
	// The others are for the server, which has them from its process group.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGTERM, syscall.SIGINT, syscall.SIGQUIT)
	leader, err := syscall.ForkExec(args[0], args, &syscall.ProcAttr{
		Env: environ, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return failed(err)
	}
	closeStreams()
	return attend(leader, ended, told)
}

func failed(err error) Report {
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		errno = syscall.EINVAL
	}
	return Report{Errno: errno}
}

// closeStreams lets go of the pipes, so that their ends are seen when the server
// ends.
func closeStreams() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	for fd := range 3 {
		if err != nil {
			_ = unix.Close(fd)
			continue
		}
		_ = unix.Dup3(int(null.Fd()), fd, 0)
	}
}

// attend reaps until the leader is gone, and then until nothing is left. Nobody
// else reaps here, so the numbers of children stay theirs between looking and
// killing.
func attend(leader int, ended, told <-chan os.Signal) Report {
	var report Report
	killing := false
	for {
		select {
		case <-ended:
		case <-told:
			killing = true
		}
		for {
			var status syscall.WaitStatus
			pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
			if errors.Is(err, syscall.ECHILD) {
				return report
			}
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if err != nil || pid == 0 {
				break
			}
			if pid == leader {
				report.Status, killing = status, true
			}
		}
		if killing {
			killChildren()
		}
	}
}

// killChildren reaches those that lost their parents, too: they are ours. What
// the killed ones started becomes ours in turn, and the next round's.
func killChildren() {
	self := os.Getpid()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		_ = syscall.Kill(0, syscall.SIGKILL) // what can still be done: the group, ourselves included
		return
	}
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && parentOf(pid) == self {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// parentOf reads the fourth field of /proc/PID/stat. The second, a name in
// parentheses, may hold anything.
func parentOf(pid int) int {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return -1
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	if len(fields) < 2 {
		return -1
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return -1
	}
	return parent
}
