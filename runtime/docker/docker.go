// Package docker is the hardened sandbox: scripts in JavaScript, TypeScript,
// Python and bash run in containers without network, capabilities or a writable
// root, under a system-call filter of our own.
//
// Backend keeps containers ready; a Sandbox takes one for its session and keeps
// it, so that no container ever serves two sessions. In the container a
// supervisor (folder image) runs each execution in a fresh interpreter and talks
// to this process over the container's standard input and output, which scripts
// never hold. The one way out is a unix socket in a folder of the container's own,
// behind which Execution.Bridge answers while an execution runs.
//
// A session's folders are mounts, which a container gets when it is made. Run
// makes one when it must; who knows the folders earlier calls Prepare of the
// sandbox (see Preparer), and the container is made meanwhile.
//
// Nothing is served before a script in a container has looked for the holes that
// must not be there. What this process leaves when it is killed, the next one of
// the same installation removes. The supervisor is not trusted: what it says is
// bounded, and a container that does not end an execution is killed.
//
// What it does not protect from: holes in the kernel (use Runtime "runsc"), and
// more than FolderBytes on the host's disk for a moment, until a writer is
// stopped.
package docker

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"airlock/ident"
	"airlock/runtime/docker/internal/typescript"
	"airlock/runtime/sandbox"
)

// Options configure a Backend.
type Options struct {
	// Image is the sandbox's image, made by "make sandbox-image".
	Image string
	// Host is the engine's address; its usual socket if empty.
	Host string
	// Dir is a folder of the host for sockets and for Embedded.
	Dir string
	// InstallationID marks containers as belonging to one installation. Several
	// processes may share it.
	InstallationID string
	// Pool is how many containers are kept ready for executions without files; one
	// with files needs a container of its own, since mounts come with its making.
	Pool int
	// MaxContainers bounds the containers; 32 if zero. A session that needs another
	// one takes the place of the session idle for longest, or waits.
	MaxContainers int
	// Limits are what containers are made for; DefaultLimits if zero. An execution
	// with others changes its container's first.
	Limits sandbox.Limits
	// Runtime is the engine's runtime: "" for its default, "runsc" for gVisor.
	Runtime string
	// Embedded are folders that are part of the program: "/skills/library".
	Embedded map[string]fs.FS
	// FolderBytes and FolderFiles bound each folder that scripts may write; 64 MiB
	// and 10,000 if zero. FolderBytes is also the size of the largest file.
	FolderBytes int64
	FolderFiles int
	Log         *zap.Logger

	// untested leaves the isolation's test out: a stand-in image has no Python.
	untested bool
}

// Preparer is what a Sandbox of this package offers beyond its contract.
type Preparer interface {
	// Prepare begins to make the container for executions with these files, and
	// returns at once. Errors show when an execution runs.
	Prepare(files sandbox.Files)
}

var _ Preparer = (*session)(nil)

// Backend runs scripts in containers. Safe for concurrent use.
type Backend struct {
	o        Options
	engine   *engine
	instance *instance
	pool     *pool
	log      *zap.Logger

	typescript typescript.Stripper

	verifying chan struct{} // holds one while the self-test runs
	verified  atomic.Bool
	worked    atomic.Bool  // it was verified once
	image     atomic.Value // the id of the image that was tested: what it is called may change

	tasks  sync.WaitGroup     // the keeper, readers of containers, and containers being ended
	cancel context.CancelFunc // ends the keeper
}

// New makes a backend and begins, without waiting, to clean up, to test the
// isolation and to make the first containers.
func New(o Options) (*Backend, error) {
	o, err := o.complete()
	if err != nil {
		return nil, fmt.Errorf("docker sandbox: %w", err)
	}
	api, err := newEngine(o)
	if err != nil {
		return nil, fmt.Errorf("docker sandbox: %w", err)
	}
	embedded, err := unpack(o.Dir, o.Embedded)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("docker sandbox: %w", err), api.close())
	}
	live, err := newInstance(o.Dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("docker sandbox: %w", err), api.close())
	}
	b := &Backend{o: o, engine: api, instance: live, log: o.Log, verifying: make(chan struct{}, 1)}
	b.pool = newPool(b, embedded)
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	b.tasks.Go(func() { b.keep(ctx) })
	return b, nil
}

var labelForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// complete fills in what is zero and refuses what cannot work.
func (o Options) complete() (Options, error) {
	if o.Image == "" {
		return o, errors.New("no image; set Options.Image")
	}
	if !labelForm.MatchString(o.InstallationID) {
		return o, fmt.Errorf("installation id %q: use 1 to 64 letters, digits, '.', '_' and '-'", o.InstallationID)
	}
	if o.Dir == "" {
		return o, errors.New("no folder for sockets; set Options.Dir")
	}
	if o.Pool < 0 || o.MaxContainers < 0 || o.FolderBytes < 0 || o.FolderFiles < 0 {
		return o, errors.New("a number is negative; leave it out for its default")
	}
	if o.Limits == (sandbox.Limits{}) {
		o.Limits = sandbox.DefaultLimits()
	}
	if err := o.Limits.Validate(); err != nil {
		return o, err
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return o, fmt.Errorf("find the folder for sockets: %w", err)
	}
	o.Dir = dir
	o.MaxContainers = orDefault(o.MaxContainers, 32)
	o.Pool = min(o.Pool, o.MaxContainers-1)
	o.FolderBytes, o.FolderFiles = orDefault(o.FolderBytes, 64<<20), orDefault(o.FolderFiles, 10_000)
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	return o, nil
}

func orDefault[T int | int64](n, otherwise T) T {
	if n == 0 {
		return otherwise
	}
	return n
}

// Name is "docker".
func (*Backend) Name() string { return "docker" }

// Languages lists JavaScript, TypeScript, Python and bash.
func (*Backend) Languages() []sandbox.Language {
	return []sandbox.Language{sandbox.JavaScript, sandbox.TypeScript, sandbox.Python, sandbox.Bash}
}

// Open makes a sandbox for a session. Its container is one that is ready, or made
// when Prepare or Run ask for one.
func (b *Backend) Open(ctx context.Context, id ident.Session) (sandbox.Sandbox, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open a docker sandbox: %w", err)
	}
	s := &session{backend: b, log: b.log.WithLazy(zap.String("session", string(id)))}
	if !b.pool.open(s) {
		return nil, sandbox.ErrClosed
	}
	return s, nil
}

// Check reports whether the engine answers, has the image and isolates scripts.
// Once the isolation was found good it is not tested again.
func (b *Backend) Check(ctx context.Context) error {
	if _, err := b.engine.find(ctx); err != nil {
		return fmt.Errorf("check the docker sandbox: %w", err)
	}
	if err := b.verify(ctx); err != nil {
		return fmt.Errorf("check the docker sandbox: %w", err)
	}
	return nil
}

// Close ends all sandboxes, removes their containers and waits for that.
func (b *Backend) Close() error {
	if !b.pool.close() {
		return nil
	}
	b.cancel()
	b.tasks.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	err := b.engine.removeAll(ctx, b.instance.name)
	return errors.Join(err, b.instance.close(), b.engine.close())
}
