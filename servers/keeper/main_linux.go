package keeper

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Supported says whether this system has what Main needs.
const Supported = true

// Main runs the command of args, an absolute path and its arguments, and returns
// when no process of it is left. MemoryFlag may stand before it. It takes the whole process: its standard
// streams, signals and children. environ and dir of the process are the
// server's.
func Main(args []string, environ []string) int {
	runtime.LockOSThread() // the kernel takes the end of the thread that starts a child for the parent's death
	out := os.NewFile(ReportFD, "report")
	unix.CloseOnExec(ReportFD)
	report := keep(args, environ)
	if _, err := io.WriteString(out, report.line()); err != nil {
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
	args, memory, err := limited(args)
	if err != nil {
		return failed(err)
	}
	leader, err := syscall.ForkExec(args[0], args, &syscall.ProcAttr{
		Env: environ, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return failed(err)
	}
	closeStreams()
	if memory > 0 {
		most := &unix.Rlimit{Cur: backstop * memory, Max: backstop * memory}
		_ = unix.Prlimit(leader, unix.RLIMIT_DATA, most, nil) // it may have ended
	}
	look, stop := lookout(memory)
	defer stop()
	return attend(leader, memory, ended, told, look)
}

// lookEvery is the time between two looks at the memory: each takes a
// millisecond where a hundred processes run.
const lookEvery = 200 * time.Millisecond

func lookout(memory uint64) (<-chan time.Time, func()) {
	if memory == 0 {
		return nil, func() {}
	}
	t := time.NewTicker(lookEvery)
	return t.C, t.Stop
}

// limited takes the limit from before the command.
func limited(args []string) ([]string, uint64, error) {
	if len(args) < 3 || args[0] != MemoryFlag {
		return args, 0, nil
	}
	bytes, err := strconv.ParseUint(args[1], 10, 48)
	if err != nil || bytes == 0 {
		return nil, 0, syscall.EINVAL
	}
	return args[2:], bytes, nil
}

// backstop is how far the system's own limit of a process lies above the one for
// all. It is for what grows faster than it is looked at, and counts what is
// reserved, of which some programs have much (RLIMIT_DATA, getrlimit(2)).
const backstop = 4

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
func attend(leader int, memory uint64, ended, told <-chan os.Signal, look <-chan time.Time) Report {
	var report Report
	killing := false
	for {
		select {
		case <-ended:
		case <-told:
			killing = true
		case <-look:
			if used() <= memory {
				continue
			}
			killing, report.OverMemory = true, true
		}
		if !reap(leader, &report, &killing) {
			return report
		}
		if killing {
			killChildren()
		}
	}
}

// reap takes what has ended, and reports whether anything is left.
func reap(leader int, report *Report, killing *bool) bool {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil)
		switch {
		case errors.Is(err, syscall.ECHILD):
			return false
		case errors.Is(err, syscall.EINTR):
		case err != nil || pid == 0:
			return true
		case pid == leader:
			report.Status, *killing = status, true
		}
	}
}

// killChildren reaches those that lost their parents, too: they are ours. What
// the killed ones started becomes ours in turn, and the next round's.
func killChildren() {
	self, all := os.Getpid(), parents()
	if all == nil {
		_ = syscall.Kill(0, syscall.SIGKILL) // what can still be done: the group, ourselves included
		return
	}
	for pid, parent := range all {
		if parent == self {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}
