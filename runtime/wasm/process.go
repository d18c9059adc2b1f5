package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"airlock/runtime/wasm/internal/wire"
)

// process is a worker process. It belongs to one user at a time.
type process struct {
	conn  *wire.Conn
	locks map[string]string
	runs  uint32 // executions begun

	cmd    *exec.Cmd
	stdin  io.Closer
	stdout io.Closer
	stderr *tail
	killed sync.Once
	done   chan struct{} // closed when the process is gone
}

// startProcess starts a worker and waits until it is ready. The process must be
// killed in the end, whatever happens.
func (s *spawner) startProcess(ctx context.Context, o Options) (*process, error) {
	p, err := s.launch(o.Worker)
	if err != nil {
		return nil, fmt.Errorf("start a sandbox worker: %w", err)
	}
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	report, err := p.setup(o)
	if err == nil && report.Error != "" {
		err = errors.New(report.Error)
	}
	if err != nil {
		p.kill()
		<-p.done
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if words := p.lastWords(); words != "" && report.Error == "" {
			err = fmt.Errorf("%w; it said: %s", err, words)
		}
		return nil, fmt.Errorf("start a sandbox worker: %w", err)
	}
	p.locks = report.Locks
	return p, nil
}

// launch starts the process on the spawner's thread and waits for it in a
// goroutine of its own.
func (s *spawner) launch(command []string) (*process, error) {
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer childIn.Close()
	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, stdin.Close())
	}
	defer childOut.Close()
	p := &process{
		cmd: exec.Command(command[0], command[1:]...), conn: wire.NewConn(stdout, stdin),
		stdin: stdin, stdout: stdout, stderr: &tail{}, done: make(chan struct{}),
	}
	p.cmd.Env, p.cmd.Dir, p.cmd.SysProcAttr = []string{}, "/", isolation()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = childIn, childOut, p.stderr
	p.cmd.WaitDelay = time.Second
	if err := s.start(p.cmd); err != nil {
		return nil, errors.Join(err, stdin.Close(), stdout.Close())
	}
	go p.reap()
	return p, nil
}

// reap waits for the process to end. What is left in its pipe can still be read.
func (p *process) reap() {
	_ = p.cmd.Wait()
	close(p.done)
}

// kill ends the process and all it may have started. It does not wait.
func (p *process) kill() {
	p.killed.Do(func() {
		killGroup(p.cmd.Process)
		p.stdin.Close()
	})
}

// end kills the process and waits until it is gone.
func (p *process) end() {
	p.kill()
	<-p.done
	p.stdout.Close()
}

func (p *process) setup(o Options) (wire.Report, error) {
	zone := ""
	if o.TimeZone != nil {
		zone = o.TimeZone.String()
	}
	var report wire.Report
	setup, err := json.Marshal(wire.Setup{CacheDir: o.CacheDir, TimeZone: zone})
	if err != nil {
		return report, err
	}
	var f wire.Frame
	if err = p.conn.Send(wire.Start, 0, setup, []byte(o.Prelude)); err == nil {
		f, err = p.conn.Receive()
	}
	if err != nil {
		return report, fmt.Errorf("it ended before it was ready: %w", err)
	}
	if f.Kind != wire.Ready {
		return report, fmt.Errorf("%w: a frame of kind %d before it was ready", wire.ErrProtocol, f.Kind)
	}
	return report, json.Unmarshal(f.Field(0), &report)
}

// ready waits until the process can run something: after an execution it makes
// the next interpreter.
func (p *process) ready(ctx context.Context) error {
	if p.runs == 0 {
		return nil
	}
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	f, err := p.conn.Receive()
	if err == nil && f.Kind != wire.Ready {
		err = fmt.Errorf("%w: a frame of kind %d between executions", wire.ErrProtocol, f.Kind)
	}
	return err
}

// lastWords is the first line that the process wrote to its standard error: the
// reason, if it crashed.
func (p *process) lastWords() string {
	line, _, _ := strings.Cut(strings.TrimSpace(p.stderr.String()), "\n")
	return line
}

// ranOutOfMemory reports whether the dead process ended because the system or its
// limits gave it no more memory.
func (p *process) ranOutOfMemory() bool {
	s := p.stderr.String()
	return strings.Contains(s, "out of memory") || strings.Contains(s, "cannot allocate memory")
}

// limitMemory bounds what the process may take from the system.
func (p *process) limitMemory(bytes int64) { limitData(p.cmd.Process.Pid, bytes+workerMemory) }

// workerMemory is what a worker takes beside an interpreter's memory: compiled
// code, frames under way, a TypeScript compiler.
const workerMemory = 768 << 20

// graceTime is what a worker is given to end an execution, after it was asked to,
// before it is killed: its own kill comes after 200 ms and works within 100.
const graceTime = 700 * time.Millisecond

// tail keeps the beginning of what a process writes to its standard error, where
// the reason of a crash stands, and drops the rest.
type tail struct {
	mu   sync.Mutex // guards text
	text []byte
}

const tailBytes = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[:min(len(b), tailBytes-len(t.text))]...)
	return len(b), nil
}

// String is what was kept.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// alive reports whether the process runs and was not told to end.
func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}
