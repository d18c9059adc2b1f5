//go:build linux

package keeper

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestMain is a keeper when the test binary is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "keeper" {
		os.Exit(Main(os.Args[2:], os.Environ()))
	}
	os.Exit(m.Run())
}

// kept is a keeper under test with the pipes that its user has.
type kept struct {
	cmd    *exec.Cmd
	in     io.Closer
	out    *bufio.Reader
	report *os.File
}

func start(t *testing.T, command ...string) kept {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, append([]string{"keeper"}, command...)...)
	cmd.ExtraFiles = []*os.File{w}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return kept{cmd, in, bufio.NewReader(out), r}
}

func (k kept) line(t *testing.T) string {
	t.Helper()
	line, err := k.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func (k kept) ends(t *testing.T) string {
	t.Helper()
	if err := k.cmd.Wait(); err != nil {
		t.Errorf("the keeper ended with %v", err)
	}
	report, err := ReadReport(k.report)
	if err != nil {
		t.Fatal(err)
	}
	return report.String()
}

func TestReportSaysHowTheProgramFared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command []string
		want    string
	}{
		"success":      {[]string{"/bin/sh", "-c", "exit 0"}, "exit status 0"},
		"failure":      {[]string{"/bin/sh", "-c", "exit 3"}, "exit status 3"},
		"signal":       {[]string{"/bin/sh", "-c", "kill -KILL $$"}, "signal: killed"},
		"no such file": {[]string{"/nowhere/at/all"}, "exec failed: no such file or directory"},
		"no program":   {[]string{"/etc/passwd"}, "exec failed: permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := start(t, c.command...).ends(t); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// brood starts processes that lose their parents: in sessions of their own, two
// generations deep, deaf to SIGTERM.
const brood = `trap '' TERM HUP
setsid sh -c 'sleep 1000 & sleep 1000 & echo $! $$; wait' &
sleep 1000 & echo $!
read line < /dev/zero & echo $!
`

func TestNothingOutlivesTheProgram(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then, want string
		end        func(*testing.T, kept)
	}{
		"that ends":       {"read line || exit 7", "exit status 7", closeInput},
		"that is told":    {"exec sleep 1000", "signal: killed", func(t *testing.T, k kept) { send(t, k, KillSignal) }},
		"deaf to SIGTERM": {"sleep 1000; exit 5", "signal: killed", func(t *testing.T, k kept) { send(t, k, syscall.SIGTERM); send(t, k, KillSignal) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := start(t, "/bin/sh", "-c", brood+c.then)
			var pids []int
			for len(pids) < 4 {
				for field := range strings.FieldsSeq(k.line(t)) {
					pid, err := strconv.Atoi(field)
					if err != nil {
						t.Fatal(err)
					}
					pids = append(pids, pid)
				}
			}
			c.end(t, k)
			if _, err := io.Copy(io.Discard, k.out); err != nil {
				t.Error(err)
			}
			if got := k.ends(t); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			for _, pid := range pids {
				if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
					t.Errorf("process %d is still there: %v", pid, err)
				}
			}
		})
	}
}

func closeInput(t *testing.T, k kept) {
	t.Helper()
	if err := k.in.Close(); err != nil {
		t.Error(err)
	}
}

func send(t *testing.T, k kept, sig syscall.Signal) {
	t.Helper()
	if err := k.cmd.Process.Signal(sig); err != nil {
		t.Error(err)
	}
}

func TestMemoryOfAllProcessesIsLimited(t *testing.T) {
	t.Parallel()
	// Two processes of which neither is over the limit alone.
	const hungry = `head -c 48m /dev/zero | tail -c 48m & head -c 48m /dev/zero | tail -c 48m | sleep 1000`
	for limit, want := range map[string]string{"67108864": "it had more memory than its limit", "x": "exec failed: invalid argument", "0": "exec failed: invalid argument"} {
		if got := start(t, MemoryFlag, limit, "/bin/sh", "-c", hungry).ends(t); got != want {
			t.Errorf("limit %s: %q, want %q", limit, got, want)
		}
	}
	if got := start(t, MemoryFlag, "67108864", "/bin/sh", "-c", "head -c 16m /dev/zero | tail -c 16m > /dev/null; exit 3").ends(t); got != "exit status 3" {
		t.Errorf("under the limit: %q", got)
	}
}

func TestSilentKeeperIsAnError(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "1", "x y\n", "0 0\n"} {
		if _, err := ReadReport(strings.NewReader(text)); err == nil {
			t.Errorf("%q was taken for a report", text)
		}
	}
}
