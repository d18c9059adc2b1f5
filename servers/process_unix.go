//go:build unix

package servers

import (
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"airlock/servers/keeper"
)

// process is a server's process and all that it starts. With a keeper that is
// everything it descends to, without one the members of a process group of
// their own: killing a wrapper such as npx alone would leave the server behind.
type process struct {
	cmd    *exec.Cmd
	kept   bool // cmd is a keeper
	stdin  *os.File
	stdout *os.File
	stderr *os.File
	report *os.File // of the keeper
	// exited is closed when the leader is gone, reaped, and the group killed.
	exited chan struct{}
	state  string // how it ended; set before exited is closed
	over   bool   // it had more memory than it may; set as state is
}

const (
	// politeTime is how long a server has to end by itself when its standard
	// input is closed, as the protocol asks it to, and again after SIGTERM.
	politeTime = 2 * time.Second
	// keeperTime is how long a keeper has to clear away what it keeps. It takes
	// milliseconds, unless the server stopped it.
	keeperTime = 5 * time.Second
)

// startProcess starts the command, by way of the keeper if there is one. The
// thread of s becomes its parent.
func startProcess(s *spawner, keeping []string, line commandLine) (*process, error) {
	p := &process{exited: make(chan struct{}), kept: len(keeping) > 0}
	var theirs []*os.File
	ends := []struct {
		ours  **os.File
		write bool // we write
	}{{&p.stdin, true}, {&p.stdout, false}, {&p.stderr, false}, {&p.report, false}}
	for _, end := range ends {
		r, w, err := os.Pipe()
		if err != nil {
			p.closePipes()
			closeAll(theirs)
			return nil, err
		}
		if end.write {
			*end.ours, theirs = w, append(theirs, r)
		} else {
			*end.ours, theirs = r, append(theirs, w)
		}
	}
	if p.kept && line.memory > 0 {
		keeping = append(slices.Clip(keeping), keeper.MemoryFlag, strconv.FormatInt(line.memory, 10))
	}
	all := append(slices.Concat(keeping, []string{line.path}), line.args...)
	p.cmd = exec.Command(all[0], all[1:]...)
	p.cmd.Env, p.cmd.Dir = line.env, line.dir
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	if p.kept {
		p.cmd.ExtraFiles = theirs[3:]
	}
	p.cmd.SysProcAttr = groupAttributes(p.kept)
	var err error
	s.do(func() { err = p.cmd.Start() })
	closeAll(theirs)
	if err != nil {
		p.closePipes()
		return nil, err
	}
	go p.watch() // ends with the process, whose exited says so
	return p, nil
}

// watch waits for the leader without reaping it where the system can: as long
// as it is a zombie its number, which is also the group's, cannot be given to
// others, so the group can be killed safely. Then it reaps.
func (p *process) watch() {
	defer close(p.exited)
	awaitExit(p.cmd)
	p.signal(syscall.SIGKILL)
	_ = p.cmd.Wait() // its error is in the state
	p.state = p.cmd.ProcessState.String()
	if !p.kept {
		return
	}
	if report, err := keeper.ReadReport(p.report); err == nil {
		p.state, p.over = report.String(), report.OverMemory
	}
}

// signal reaches the whole group. It is only sent while the leader has not been
// reaped.
func (p *process) signal(sig syscall.Signal) { _ = syscall.Kill(-p.cmd.Process.Pid, sig) }

// kill ends all of it at once. It does not wait.
func (p *process) kill() {
	if p.kept && p.cmd.Process.Signal(keeper.KillSignal) == nil {
		time.AfterFunc(keeperTime, p.killGroup)
		return
	}
	p.killGroup()
}

func (p *process) killGroup() {
	select {
	case <-p.exited:
	default:
		p.signal(syscall.SIGKILL)
	}
}

// stop asks the server to end, first by closing its input, then by SIGTERM,
// and then kills it. It returns when the process is gone.
func (p *process) stop() {
	_ = p.stdin.Close()
	if !p.gone(politeTime) {
		p.signal(syscall.SIGTERM)
		if !p.gone(politeTime) {
			p.kill()
			<-p.exited
		}
	}
	p.closePipes()
}

func (p *process) gone(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.exited:
		return true
	case <-timer.C:
		return false
	}
}

func (p *process) closePipes() { closeAll([]*os.File{p.stdin, p.stdout, p.stderr, p.report}) }

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}
