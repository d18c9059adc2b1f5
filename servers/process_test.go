package servers

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"strconv"
	"strings"
	"testing"

	"airlock/servers/keeper"
)

// keeping is the command line that makes this test binary a keeper.
func keeping() []string {
	program, err := os.Executable()
	if err != nil || !keeper.Supported {
		return nil
	}
	return []string{program, "keeper"}
}

// mark is an argument that every process of a test carries.
func mark(t testing.TB) string {
	h := fnv.New64()
	_, _ = h.Write([]byte(t.Name()))
	return fmt.Sprintf("mark-%x", h.Sum64())
}

// seen is a process as /proc shows it.
type seen struct {
	pid, parent int
	state       string
	command     []byte
}

// processes lists what runs on this machine, zombies included.
func processes() []seen {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var all []seen
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it has just ended
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			continue
		}
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil {
			continue
		}
		all = append(all, seen{pid, parent, fields[0], command})
	}
	return all
}

// assertNothingLeft finds what carries the test's mark.
func assertNothingLeft(t testing.TB) {
	t.Helper()
	for _, p := range processes() {
		if p.pid != os.Getpid() && bytes.Contains(p.command, []byte(mark(t))) {
			t.Errorf("process %d is left in state %s: %q", p.pid, p.state, p.command)
		}
	}
}
