package wasm

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolation puts a worker into a process group of its own and lets it die with
// the thread that made it.
func isolation() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killGroup kills a process and its group, unless it has been waited for.
func killGroup(p *os.Process) {
	if p.Kill() == nil {
		_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	}
}

// limitData bounds the private writable memory of another process.
func limitData(pid int, bytes int64) {
	var limit unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_DATA, nil, &limit) == nil {
		limit.Cur = min(uint64(bytes), limit.Max)
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &limit, nil)
	}
}
