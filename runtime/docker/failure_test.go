package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/containerd/errdefs"

	"airlock/ident"
	"airlock/pii"
	"airlock/runtime/sandbox"
)

// victimArgument makes the test program a process that waits to be killed.
const victimArgument = "docker-victim"

// beVictim runs an execution that does not end, and says so.
func beVictim(dir, installation string) int {
	b, err := New(Options{Image: standinImage, Dir: dir, InstallationID: installation, Pool: 1, untested: true})
	if err != nil {
		return 1
	}
	box, err := b.Open(context.Background(), ident.NewSession())
	if err != nil {
		return 1
	}
	x := order("print a\ndeaf")
	x.Output = func(sandbox.Stream, pii.Raw) { _, _ = io.WriteString(os.Stdout, "runs\n") }
	_, _ = box.Run(context.Background(), x)
	return 1
}

func TestAKilledProcessLeavesNothingForLong(t *testing.T) {
	t.Parallel()
	needStandin(t)
	o := options(t)
	victim := exec.CommandContext(t.Context(), "/proc/self/exe", victimArgument, o.Dir, o.InstallationID)
	out := must(victim.StdoutPipe())(t)
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "runs\n" {
		t.Fatalf("the process said %q (%v)", line, err)
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait()
	if containers(t, o) == 0 {
		t.Fatal("there is nothing to remove")
	}
	b := backend(t, o) // which fails the test if anything is left when it is closed
	if got := stdout(t, open(t, b), "print a"); got != "a\n" {
		t.Errorf("printed %q", got)
	}
	for id, instance := range must(b.engine.list(t.Context(), nil))(t) {
		if instance != b.instance.name {
			t.Errorf("container %.12s is left", id)
		}
	}
}

// relay stands between a backend and the engine, and can go away.
type relay struct {
	path  string
	tasks sync.WaitGroup

	mu       sync.Mutex // guards both below
	listener net.Listener
	conns    []net.Conn
}

func newRelay(t *testing.T) *relay {
	r := &relay{path: filepath.Join(must(os.MkdirTemp("", "relay"))(t), "engine.sock")}
	t.Cleanup(func() { r.goAway(); r.tasks.Wait(); _ = os.RemoveAll(filepath.Dir(r.path)) })
	r.come(t)
	return r
}

func (r *relay) come(t *testing.T) {
	t.Helper()
	listener := must(net.Listen("unix", r.path))(t)
	r.mu.Lock()
	r.listener = listener
	r.mu.Unlock()
	r.tasks.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			r.tasks.Go(func() { r.pass(conn) })
		}
	})
}

func (r *relay) pass(conn net.Conn) {
	engine, err := net.Dial("unix", "/var/run/docker.sock")
	if err != nil {
		conn.Close()
		return
	}
	r.mu.Lock()
	r.conns = append(r.conns, conn, engine)
	r.mu.Unlock()
	r.tasks.Go(func() { _, _ = io.Copy(engine, conn); engine.Close() })
	_, _ = io.Copy(conn, engine)
	conn.Close()
}

func (r *relay) goAway() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listener.Close()
	for _, c := range r.conns {
		c.Close()
	}
	r.conns = nil
}

func TestAnEngineThatGoesAndComesBack(t *testing.T) {
	t.Parallel()
	needStandin(t)
	r := newRelay(t)
	o := options(t)
	o.Host = "unix://" + r.path
	b := backend(t, o)
	s := open(t, b)
	x := order("print a\nsleep")
	x.Output = func(sandbox.Stream, pii.Raw) { r.goAway() }
	if result, err := s.Run(t.Context(), x); !errors.Is(err, errNoEngine) {
		t.Errorf("while it ran: %q and %v", result.Reason, err)
	}
	if _, err := s.Run(t.Context(), order("print a")); !errors.Is(err, errNoEngine) {
		t.Errorf("while it was gone: %v", err)
	}
	if err := b.Check(t.Context()); !errors.Is(err, errNoEngine) {
		t.Errorf("Check: %v", err)
	}
	r.come(t)
	if got := stdout(t, s, "print back"); got != "back\n" {
		t.Errorf("printed %q", got)
	}
}

func TestErrorsOfTheEngineSayWhatToDo(t *testing.T) {
	t.Parallel()
	e := must(newEngine(Options{Image: "some:image"}))(t)
	defer e.close()
	for _, tc := range []struct {
		err  error
		want string
		is   error
	}{
		{fmt.Errorf("dial: %w", fs.ErrPermission), "group docker", fs.ErrPermission},
		{errors.New("permission denied while trying to connect to the Docker daemon socket"), "group docker", fs.ErrPermission},
		{errors.New("dial unix /x: connect: connection refused"), "start it", errNoEngine},
		{errors.New("write /var/lib/docker/x: no space left on device"), "docker system prune", errNoSpace},
		{errdefs.ErrNotFound.WithMessage("No such image: some:image"), "make sandbox-image", errNoImage},
		{errors.New("unknown or invalid runtime name: runsc"), "install it", nil},
		{context.Canceled, "canceled", context.Canceled},
		{errors.New("something else"), "something else", nil},
	} {
		got := e.explain("do it", tc.err)
		if got == nil || !strings.Contains(got.Error(), tc.want) || !strings.HasPrefix(got.Error(), "do it") {
			t.Errorf("%v: %v, want %q in it", tc.err, got, tc.want)
		}
		if tc.is != nil && !errors.Is(got, tc.is) {
			t.Errorf("%v: %v does not match %v", tc.err, got, tc.is)
		}
	}
}
