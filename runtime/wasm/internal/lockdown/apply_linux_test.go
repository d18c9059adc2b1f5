package lockdown

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// probeArgument makes the test program lock itself down and try things.
const probeArgument = "lockdown-probe"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == probeArgument {
		probe()
		return
	}
	os.Exit(m.Run())
}

// attempts are what a locked process must not be able to do.
var attempts = map[string]func() error{
	"read a file":        func() error { _, err := os.ReadFile("/etc/passwd"); return err },
	"write a file":       func() error { return os.WriteFile("/tmp/lockdown-probe", nil, 0o600) },
	"list a folder":      func() error { _, err := os.ReadDir("/"); return err },
	"make a socket":      func() error { _, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); return err },
	"make a unix socket": func() error { _, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0); return err },
	"connect":            func() error { _, err := net.Dial("tcp", "127.0.0.1:1"); return errors.Unwrap(err) },
	"start a process":    func() error { return exec.Command("/bin/true").Run() },
	"fork": func() error {
		_, _, e := syscall.RawSyscall(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0)
		return errno(e)
	},
	"trace":             func() error { return unix.PtraceAttach(os.Getppid()) },
	"signal its parent": func() error { return unix.Kill(os.Getppid(), 0) },
	"map executable memory": func() error {
		_, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
		return err
	},
	"raise its limits": func() error {
		return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1000, Max: 1000})
	},
	"make a namespace": func() error { return unix.Unshare(unix.CLONE_NEWUSER) },
}

func errno(e syscall.Errno) error {
	if e != 0 {
		return e
	}
	return nil
}

type probed struct {
	Locks   map[string]string
	Outcome map[string]string
}

func probe() {
	p := probed{Locks: Apply(), Outcome: map[string]string{}}
	for name, attempt := range attempts {
		p.Outcome[name] = "done"
		if err := attempt(); err != nil {
			p.Outcome[name] = err.Error()
		}
	}
	runtime.GC() // what the runtime needs still works
	done := make(chan struct{})
	go func() { runtime.LockOSThread(); close(done) }() // also a new thread
	<-done
	b, _ := json.Marshal(p)
	_, _ = os.Stdout.Write(b)
}

func TestLockedProcessCannotReachAnything(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("/proc/self/exe", probeArgument).Output()
	if err != nil {
		t.Fatalf("the probe failed: %v: %s", err, out)
	}
	var p probed
	if err := json.Unmarshal(out, &p); err != nil {
		t.Fatal(err)
	}
	for name, state := range p.Locks {
		t.Logf("%s: %s", name, state)
	}
	if p.Locks[Seccomp] != Active {
		t.Skipf("this kernel has no seccomp filters: %s", p.Locks[Seccomp])
	}
	for name, outcome := range p.Outcome {
		if outcome == "done" {
			t.Errorf("a locked process can %s", name)
		}
	}
}
