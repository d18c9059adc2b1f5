package lockdown

import (
	"errors"
	"fmt"

	seccomp "github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// allowed are the system calls that a locked worker may make: what the Go runtime
// needs to compute, and reading and writing of what is open. All others fail with
// EPERM. Nothing here opens, connects, starts or looks at anything.
var allowed = []struct {
	why   string
	names []string
}{
	{"the pipes to the parent", []string{"read", "write", "readv", "writev", "close", "fcntl", "ppoll", "poll"}},
	{"the runtime's poller", []string{"epoll_wait", "epoll_pwait", "epoll_ctl", "epoll_create1", "eventfd2", "pipe2"}},
	{"memory", []string{"munmap", "madvise", "mincore", "brk"}},
	{"threads and their waiting", []string{"futex", "nanosleep", "clock_nanosleep", "sched_yield", "sched_getaffinity",
		"set_robust_list", "rseq", "gettid", "getpid", "exit", "exit_group", "restart_syscall"}},
	{"signals of the runtime to itself", []string{"rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "tgkill"}},
	{"clocks and random numbers", []string{"clock_gettime", "clock_getres", "gettimeofday", "getrandom"}},
}

// conditional are the calls that are allowed only with harmless arguments.
var conditional = []struct {
	why  string
	name string
	when seccomp.Condition
}{
	{"threads, but no processes", "clone",
		seccomp.Condition{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_THREAD}},
	{"memory that cannot be executed", "mmap",
		seccomp.Condition{Argument: 2, Operation: seccomp.BitsNotSet, Value: unix.PROT_EXEC}},
	{"memory that cannot be executed", "mprotect",
		seccomp.Condition{Argument: 2, Operation: seccomp.BitsNotSet, Value: unix.PROT_EXEC}},
}

func loadFilter() error {
	if !seccomp.Supported() {
		return errors.New("the kernel has no seccomp filters")
	}
	info, err := arch.GetInfo("")
	if err != nil {
		return fmt.Errorf("find the system calls of this processor: %w", err)
	}
	group := seccomp.SyscallGroup{Action: seccomp.ActionAllow}
	for _, a := range allowed {
		for _, name := range a.names {
			if _, ok := info.SyscallNames[name]; ok { // poll is not on every processor
				group.Names = append(group.Names, name)
			}
		}
	}
	for _, c := range conditional {
		group.NamesWithCondtions = append(group.NamesWithCondtions,
			seccomp.NameWithConditions{Name: c.name, Conditions: []seccomp.Condition{c.when}})
	}
	// glibc's pthread_create, in a binary with cgo, tries clone3 first, whose flags
	// a filter cannot see, and falls back to clone on this error only.
	absent := seccomp.SyscallGroup{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}}
	return seccomp.LoadFilter(seccomp.Filter{
		NoNewPrivs: true,
		Flag:       seccomp.FilterFlagTSync,
		Policy:     seccomp.Policy{DefaultAction: seccomp.ActionErrno, Syscalls: []seccomp.SyscallGroup{group, absent}},
	})
}
