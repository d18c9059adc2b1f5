//go:build unix

package keeper

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// Report says how the server's first process fared.
type Report struct {
	// Errno says why it could not be started; 0 if it could.
	Errno syscall.Errno
	// Status is how it ended.
	Status syscall.WaitStatus
	// OverMemory means that it was killed for having more memory than it may.
	OverMemory bool
}

// errNoReport means that the keeper ended without saying anything.
var errNoReport = errors.New("the keeper left no report")

// ReadReport reads what a keeper that has ended wrote.
func ReadReport(r io.Reader) (Report, error) {
	var report Report
	var errno, status uint32
	var over bool
	if _, err := fmt.Fscanf(r, reportForm, &errno, &status, &over); err != nil {
		return report, errNoReport
	}
	return Report{Errno: syscall.Errno(errno), Status: syscall.WaitStatus(status), OverMemory: over}, nil
}

const reportForm = "%d %d %t\n"

func (r Report) line() string {
	return fmt.Sprintf(reportForm, uint32(r.Errno), uint32(r.Status), r.OverMemory)
}

// String says it as os.ProcessState does.
func (r Report) String() string {
	switch {
	case r.Errno != 0:
		return "exec failed: " + r.Errno.Error()
	case r.OverMemory:
		return "it had more memory than its limit"
	case r.Status.Signaled():
		return "signal: " + r.Status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", r.Status.ExitStatus())
}
