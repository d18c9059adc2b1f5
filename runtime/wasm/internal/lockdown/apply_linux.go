package lockdown

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/landlock-lsm/go-landlock/landlock"
	landlocksys "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// apply goes from the outer to the inner: the filter of system calls comes last,
// since it forbids what the others need.
func apply() map[string]string {
	return map[string]string{
		Limits:   state(setLimits()),
		Landlock: state(restrictFiles()),
		Seccomp:  state(filterCalls()),
	}
}

func state(err error) string {
	if err != nil {
		return err.Error()
	}
	return Active
}

// limits are what a locked process may have of each. Its memory is bounded from
// outside, for each execution anew.
var limits = []struct {
	name     string
	resource int
	most     uint64
}{
	{"core", unix.RLIMIT_CORE, 0},      // a dump would hold what scripts worked on
	{"fsize", unix.RLIMIT_FSIZE, 0},    // no byte into any file; pipes are no files
	{"nofile", unix.RLIMIT_NOFILE, 32}, // the runtime has about ten open
}

func setLimits() error {
	for _, l := range limits {
		if err := unix.Setrlimit(l.resource, &unix.Rlimit{Cur: l.most, Max: l.most}); err != nil {
			return fmt.Errorf("limit %s: %w", l.name, err)
		}
	}
	// Not dumpable: no other process of the same user may look into this one.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make the process opaque: %w", err)
	}
	return nil
}

// restrictFiles denies every file, every TCP port and, as far as the kernel can,
// sockets and signals to other processes.
func restrictFiles() error {
	if _, err := landlocksys.LandlockGetABIVersion(); err != nil {
		return errors.New("the kernel has no Landlock, or it is not enabled")
	}
	return landlock.V8.BestEffort().Restrict()
}

func filterCalls() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	return loadFilter()
}
