package docker

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"airlock/ident"
	"airlock/pii"
	"airlock/runtime/sandbox"
	"airlock/runtime/sandbox/sandboxtest"
)

func TestExecutionsEndAsTheyShould(t *testing.T) {
	t.Parallel()
	needStandin(t)
	s := open(t, backend(t, options(t)))
	for _, tc := range []struct {
		name, code string
		reason     sandbox.Reason
		change     func(*sandbox.Limits)
	}{
		{"well", "print a", sandbox.ReasonOK, nil},
		{"with an error", "read /none", sandbox.ReasonError, nil},
		{"with an error without words", "reason error", sandbox.ReasonError, nil},
		{"out of memory, as it says", "reason memory", sandbox.ReasonMemory, nil},
		{"out of memory", "hold", sandbox.ReasonMemory, func(l *sandbox.Limits) { l.MemoryBytes = 64 << 20 }},
		{"with too much output, as it says", "reason output", sandbox.ReasonOutput, nil},
		{"with too much output", "flood", sandbox.ReasonOutput, nil},
		{"with a reason of its own", "reason fine", sandbox.ReasonKilled, nil},
		{"out of time", "sleep", sandbox.ReasonTimeout, func(l *sandbox.Limits) { l.Wall = 100 * time.Millisecond }},
		{"out of time, and deaf", "deaf", sandbox.ReasonTimeout, func(l *sandbox.Limits) { l.Wall = 100 * time.Millisecond }},
		{"with a dead supervisor", "die", sandbox.ReasonKilled, nil},
		{"with the outcome of another", "foreign", sandbox.ReasonKilled, nil},
		{"with an unknown frame", "frame ?", sandbox.ReasonKilled, nil},
		{"with an endless frame", "raw \xff\xff\xff\xffD", sandbox.ReasonKilled, nil},
		{"with an outcome that is no JSON", "frame D{", sandbox.ReasonKilled, nil},
		{"with a result that is no JSON", "value {", sandbox.ReasonError, nil},
		{"with a result beyond its limit", "value " + strings.Repeat("1", 2000), sandbox.ReasonKilled, func(l *sandbox.Limits) { l.ResultBytes = 1000 }},
		{"with leftovers", "leftovers", sandbox.ReasonOK, nil},
		{"before it began", "die early", "", nil},
		{"well again", "print a", sandbox.ReasonOK, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			x := order(tc.code)
			if tc.change != nil {
				tc.change(&x.Limits)
			}
			r, err := s.Run(t.Context(), x)
			if (err != nil) != (tc.reason == "") || r.Reason != tc.reason {
				t.Fatalf("it ended with %q and %v, want %q (%s)", r.Reason, err, tc.reason, message(t, r))
			}
			if r.Reason != sandbox.ReasonOK && err == nil && (r.Error == nil || r.Error.Name == "") {
				t.Error("the result does not say what went wrong")
			}
			if got := stdout(t, s, "print next"); got != "next\n" {
				t.Errorf("the next execution printed %q", got)
			}
		})
	}
}

func TestAContainerWithLeftoversIsThrownAway(t *testing.T) {
	t.Parallel()
	needStandin(t)
	s := open(t, backend(t, options(t)))
	stdout(t, s, "write /workspace/mark 1")
	stdout(t, s, "read /workspace/mark\nleftovers")
	if r := run(t, s, order("read /workspace/mark")); r.Reason != sandbox.ReasonError {
		t.Errorf("it ended with %q: the container is still the same", r.Reason)
	}
}

func TestScriptsArriveWhole(t *testing.T) {
	t.Parallel()
	needStandin(t)
	s := open(t, backend(t, options(t)))
	x := order("length\n" + strings.Repeat("#", maxCode-7))
	if got := sandboxtest.Text(t, run(t, s, x).Value); got != "4194304" {
		t.Errorf("%s bytes arrived", got)
	}
	x.Code += "#"
	if _, err := s.Run(t.Context(), x); !errors.Is(err, sandbox.ErrLimits) {
		t.Errorf("Run of more than the most: %v", err)
	}
}

func TestResultsComeWholeOrInParts(t *testing.T) {
	t.Parallel()
	needStandin(t)
	s := open(t, backend(t, options(t)))
	for code, want := range map[string]string{
		`return {"a":1}`: `{"a":1}`, "value [1,\nvalue 2]": `[1,2]`, "print x": ``, "return null": "null",
	} {
		if got := sandboxtest.Text(t, run(t, s, order(code)).Value); got != want {
			t.Errorf("%q returned %q, want %q", code, got, want)
		}
	}
}

func TestOutputIsHeardAsItIsPrinted(t *testing.T) {
	t.Parallel()
	needStandin(t)
	s := open(t, backend(t, options(t)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var heard strings.Builder
	x := order("print a\nwarn b\nsleep")
	x.Output = func(stream sandbox.Stream, text pii.Raw) {
		heard.WriteString(string(stream) + " " + sandboxtest.Text(t, text))
		if stream == sandbox.Stderr {
			cancel()
		}
	}
	r, err := s.Run(ctx, x)
	if err != nil || r.Reason != sandbox.ReasonCancelled {
		t.Errorf("it ended with %q and %v", r.Reason, err)
	}
	if heard.String() != "stdout a\nstderr b\n" {
		t.Errorf("heard %q", heard.String())
	}
}

func TestTheBridgeAnswersWhileAnExecutionRuns(t *testing.T) {
	t.Parallel()
	needStandin(t)
	s := open(t, backend(t, options(t)))
	bridge := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/panic" {
			panic("a broken bridge")
		}
		_, _ = io.WriteString(w, r.Header.Get("Authorization")+" "+r.URL.Path)
	})
	for name, tc := range map[string]struct {
		bridge     http.Handler
		path, want string
	}{
		"with the token": {bridge, "/v1/tools", "200 Bearer canary-token /v1/tools\n"},
		"a panic":        {bridge, "/panic", `500 {"error":{"code":"internal","message":"the bridge failed","hint":"try again"}}` + "\n"},
		"a rehearsal":    {bridge, rehearsalPath, `503 {"error":{"code":"unavailable","message":"this sandbox has no bridge","hint":"run the script with a bridge to call tools"}}` + "\n"},
		"without one":    {nil, "/v1/tools", `503 {"error":{"code":"unavailable","message":"this sandbox has no bridge","hint":"run the script with a bridge to call tools"}}` + "\n"},
	} {
		x := order("call " + tc.path)
		x.Bridge = tc.bridge
		if got := sandboxtest.Text(t, run(t, s, x).Stdout); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestCallsEndWithTheirExecution(t *testing.T) {
	t.Parallel()
	needStandin(t)
	s := open(t, backend(t, options(t)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan struct{})
	x := order("call /v1/never")
	x.Bridge = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
		close(ended)
	})
	if r, err := s.Run(ctx, x); err != nil || r.Reason != sandbox.ReasonCancelled {
		t.Errorf("it ended with %q and %v", r.Reason, err)
	}
	select {
	case <-ended:
	default:
		t.Error("Run returned before the call had ended")
	}
}

// plainFiles are host folders, for tests.
type plainFiles struct {
	sandbox.Files
	mounts []sandbox.Mount
}

func (f plainFiles) Mounts() []sandbox.Mount { return f.mounts }

func workspace(t testing.TB) (plainFiles, string) {
	t.Helper()
	dir := t.TempDir()
	return plainFiles{mounts: []sandbox.Mount{{Guest: "/workspace", Host: dir}}}, dir
}

func TestFoldersAreShown(t *testing.T) {
	t.Parallel()
	needStandin(t)
	o := options(t)
	o.Embedded = map[string]fs.FS{"/skills/library": fstest.MapFS{"a/main.js": {Data: []byte("shipped")}}}
	s := open(t, backend(t, o))
	files, dir := workspace(t)
	if err := os.WriteFile(filepath.Join(dir, "given"), []byte("from outside"), 0o600); err != nil {
		t.Fatal(err)
	}
	x := order("read /workspace/given\nread /skills/library/a/main.js\nwrite /workspace/made 3")
	x.Files = files
	if got := sandboxtest.Text(t, run(t, s, x).Stdout); got != "from outsideshipped" {
		t.Errorf("it read %q", got)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "made")); err != nil || len(data) != 3 {
		t.Errorf("it wrote %d bytes: %v", len(data), err)
	}
	x = order("write /skills/library/a/main.js 1")
	x.Files = files
	if r := run(t, s, x); r.Reason != sandbox.ReasonError {
		t.Errorf("writing to the library ended with %q", r.Reason)
	}
}

func TestAPreparedContainerIsUsed(t *testing.T) {
	t.Parallel()
	needStandin(t)
	o := options(t)
	b := backend(t, o)
	s := open(t, b)
	files, _ := workspace(t)
	s.Prepare(files)
	s.await(t.Context())
	b.pool.mu.Lock()
	parked := len(b.pool.parked)
	b.pool.mu.Unlock()
	if parked != 1 {
		t.Fatalf("%d containers wait for their session", parked)
	}
	x := order("print a")
	x.Files = files
	run(t, s, x)
	b.pool.mu.Lock()
	defer b.pool.mu.Unlock()
	if len(b.pool.parked) != 1 {
		t.Errorf("%d containers wait afterwards", len(b.pool.parked))
	}
}

// Interpreters start with the container, before anything runs in it.
func TestFoldersAreGivenBeforeAContainerStarts(t *testing.T) {
	t.Parallel()
	needStandin(t)
	s := open(t, backend(t, options(t)))
	files, dir := workspace(t)
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	s.Prepare(files)
	s.await(t.Context())
	info := must(os.Stat(dir))(t)
	uid, _ := user()
	if owner, ok := ownerOf(info); info.Mode().Perm() != 0o700 || ok && owner != uid {
		t.Errorf("it is %v and belongs to %d, want -rwx------ and %d", info.Mode(), owner, uid)
	}
}

func TestAFolderIsKeptToItsQuota(t *testing.T) {
	t.Parallel()
	needStandin(t)
	o := options(t)
	o.FolderBytes, o.FolderFiles = 1<<20, 20
	s := open(t, backend(t, o))
	many := ""
	for i := range 30 {
		many += "write /workspace/n" + string(rune('A'+i)) + " 1\n"
	}
	for name, tc := range map[string]struct {
		code   string
		reason sandbox.Reason
	}{
		"within":         {"write /workspace/a 100000", sandbox.ReasonOK},
		"one large file": {"write /workspace/b 2000000", sandbox.ReasonKilled},
		"several":        {"write /workspace/c 900000\nwrite /workspace/d 900000", sandbox.ReasonKilled},
		"while it runs":  {"write /workspace/e 900000\nwrite /workspace/f 900000\nsleep", sandbox.ReasonKilled},
		"many files":     {many, sandbox.ReasonKilled},
	} {
		files, dir := workspace(t)
		if err := os.WriteFile(filepath.Join(dir, "kept"), make([]byte, 500<<10), 0o600); err != nil {
			t.Fatal(err)
		}
		x := order(tc.code)
		x.Files = files
		r := run(t, s, x)
		if r.Reason != tc.reason || tc.reason != sandbox.ReasonOK && r.Error.Name != "DiskQuota" {
			t.Errorf("%s: it ended with %q, want %q (%s)", name, r.Reason, tc.reason, message(t, r))
		}
		u := usage{folder: files.mounts[0]}
		if err := u.walk(nil); err != nil || u.bytes > o.FolderBytes || u.files > o.FolderFiles {
			t.Errorf("%s: the folder holds %d bytes and %d files (%v)", name, u.bytes, u.files, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "kept")); err != nil {
			t.Errorf("%s: what was there before is gone: %v", name, err)
		}
	}
}

func TestOneExecutionAtATime(t *testing.T) {
	t.Parallel()
	needStandin(t)
	s := open(t, backend(t, options(t)))
	ctx, cancel := context.WithCancel(t.Context())
	x := order("print a\nsleep")
	begun := make(chan struct{})
	x.Output = func(sandbox.Stream, pii.Raw) { close(begun) }
	done := make(chan sandbox.Result)
	go func() {
		r, _ := s.Run(ctx, x)
		done <- r
	}()
	<-begun
	if _, err := s.Run(t.Context(), order("print b")); !errors.Is(err, sandbox.ErrBusy) {
		t.Errorf("Run: %v, want ErrBusy", err)
	}
	cancel()
	if r := <-done; r.Reason != sandbox.ReasonCancelled {
		t.Errorf("it ended with %q", r.Reason)
	}
}

func TestSessionsBeyondTheMostTakeTurns(t *testing.T) {
	t.Parallel()
	needStandin(t)
	o := options(t)
	o.MaxContainers = 2
	b := backend(t, o)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			s := open(t, b)
			for range 3 {
				if got := stdout(t, s, "print a"); got != "a\n" {
					t.Errorf("printed %q", got)
				}
			}
		})
	}
	all.Wait()
	if n := containers(t, o); n > 2 {
		t.Errorf("there are %d containers", n)
	}
}

func TestADeadSpareIsReplaced(t *testing.T) {
	t.Parallel()
	needStandin(t)
	b := backend(t, options(t))
	s := open(t, b)
	stdout(t, s, "print a")
	b.pool.mu.Lock()
	own := b.pool.parked[0].container
	b.pool.mu.Unlock()
	if err := b.engine.kill(t.Context(), own.id); err != nil {
		t.Fatal(err)
	}
	if got := stdout(t, s, "print b"); got != "b\n" {
		t.Errorf("printed %q", got)
	}
}

func TestTheNextProcessRemovesWhatWasLeft(t *testing.T) {
	t.Parallel()
	needStandin(t)
	o := options(t)
	dead := must(New(o))(t)
	stdout(t, open(t, dead), "print a")
	if containers(t, o) == 0 {
		t.Fatal("there is no container to be left")
	}
	living := backend(t, o)
	stdout(t, open(t, living), "print a")
	if got := stdout(t, open(t, dead), "print still"); got != "still\n" {
		t.Error("a living process lost its containers")
	}
	if err := dead.instance.lock.Close(); err != nil { // as the system does when a process is killed
		t.Fatal(err)
	}
	if err := living.engine.sweep(t.Context(), o.Dir, living.instance.name); err != nil {
		t.Fatal(err)
	}
	list := must(living.engine.list(t.Context(), nil))(t)
	for _, instance := range list {
		if instance != living.instance.name {
			t.Error("a container of a dead process is left")
		}
	}
	if _, err := os.Stat(dead.instance.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its folder is left: %v", err)
	}
	_ = dead.Close()
}

func TestCheckSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	needStandin(t)
	for name, tc := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"nothing":    {func(*Options) {}, ""},
		"the image":  {func(o *Options) { o.Image = "airlock-none:test" }, "run make sandbox-image"},
		"the engine": {func(o *Options) { o.Host = "unix:///nowhere/docker.sock" }, "the Docker engine does not answer"},
	} {
		o := options(t)
		o.Log = nil
		tc.change(&o)
		b := must(New(o))(t)
		err := b.Check(t.Context())
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: Check: %v, want %q", name, err, tc.want)
		}
		if _, err := open(t, b).Run(t.Context(), order("print a")); (err == nil) != (tc.want == "") {
			t.Errorf("%s: Run: %v", name, err)
		}
		if err := b.Close(); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
	}
}

func TestBadOptionsAreRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Options){
		"no image":           func(o *Options) { o.Image = "" },
		"no folder":          func(o *Options) { o.Dir = "" },
		"no installation":    func(o *Options) { o.InstallationID = "" },
		"a strange one":      func(o *Options) { o.InstallationID = "a=b" },
		"negative":           func(o *Options) { o.Pool = -1 },
		"limits half filled": func(o *Options) { o.Limits.Wall = 1 },
		"a broken address":   func(o *Options) { o.Host = "nonsense" },
	} {
		o := options(t)
		change(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s: New made a backend", name)
		}
	}
}

func TestClosedBackendsOpenNothing(t *testing.T) {
	t.Parallel()
	needStandin(t)
	b := backend(t, options(t))
	s := open(t, b)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Open(t.Context(), ident.NewSession()); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("Open: %v", err)
	}
	if _, err := s.Run(t.Context(), order("print a")); !errors.Is(err, sandbox.ErrClosed) {
		t.Errorf("Run: %v", err)
	}
}
