// Package wasm is the embedded sandbox: scripts in JavaScript and TypeScript run
// in QuickJS, compiled to WebAssembly, in a worker process of our own program.
//
// Backend keeps worker processes ready; a Sandbox takes one for its session when
// it first runs something, and no worker ever serves two sessions. Each execution
// gets a fresh interpreter, made ahead of time. The worker has neither network
// nor files nor secrets: the script's calls of the bridge and of files come to
// this process, which adds the session token, calls Execution.Bridge and
// Execution.Files, and sends back what they answer.
//
// What holds a script: the interpreter's own limits, then WebAssembly's memory,
// then the process with its resource limits, Landlock and seccomp where the
// system has them, and behind all that SIGKILL. Backend.Locks reports which.
//
// An interpreter computes on one core and starts nothing, which is how it keeps to
// Limits.Processes; of Limits.CPUQuota it cannot do less than one whole core.
//
// The program that uses this package must dispatch Options.Worker to WorkerMain.
package wasm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"airlock/ident"
	"airlock/runtime/sandbox"
	"airlock/runtime/wasm/engine"
	"airlock/runtime/wasm/internal/worker"
)

// Options configure a Backend.
type Options struct {
	// Worker is the command, with arguments, that ends up in WorkerMain. It runs in
	// the root folder, so its path is absolute or looked up in PATH.
	Worker []string
	// Prelude is the JavaScript that is evaluated in every interpreter before a
	// script: helpers.JavaScript().
	Prelude string
	// CacheDir keeps compiled code, so that a worker starts in a tenth of the
	// time. It must not be writable for others. Empty means no cache.
	CacheDir string
	// Spares is how many idle workers are kept ready; 2 if zero.
	Spares int
	// MaxWorkers bounds the worker processes; 16 if zero. A session that needs
	// another one waits, or takes the place of the session idle for longest.
	MaxWorkers int
	// TimeZone is the scripts' time zone; UTC if nil.
	TimeZone *time.Location
	Log      *zap.Logger
}

// Backend runs scripts in worker processes. Safe for concurrent use.
type Backend struct {
	pool *pool
	log  *zap.Logger
}

// New makes a backend and starts its first workers, without waiting for them.
func New(o Options) (*Backend, error) {
	if len(o.Worker) == 0 || o.Worker[0] == "" {
		return nil, errors.New("wasm sandbox: no command for workers; set Options.Worker")
	}
	if o.Prelude == "" {
		return nil, errors.New("wasm sandbox: no helpers; set Options.Prelude")
	}
	if o.Spares < 0 || o.MaxWorkers < 0 {
		return nil, fmt.Errorf("wasm sandbox: spares is %d and max workers is %d; neither may be negative", o.Spares, o.MaxWorkers)
	}
	if _, err := engine.Wasm(); err != nil {
		return nil, fmt.Errorf("wasm sandbox: %w", err)
	}
	dir, err := cacheDir(o.CacheDir)
	if err != nil {
		return nil, err
	}
	o.CacheDir = dir
	o.Spares, o.MaxWorkers = orDefault(o.Spares, 2), orDefault(o.MaxWorkers, 16)
	o.Spares = min(o.Spares, o.MaxWorkers)
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	return &Backend{pool: newPool(o), log: o.Log}, nil
}

// cacheDir makes the folder, for nobody else to write, since what is in it is run.
func cacheDir(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("wasm sandbox: make the folder of the cache: %w", err)
	}
	return dir, nil
}

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// Name is "wasm".
func (*Backend) Name() string { return "wasm" }

// Languages lists JavaScript and TypeScript.
func (*Backend) Languages() []sandbox.Language {
	return []sandbox.Language{sandbox.JavaScript, sandbox.TypeScript}
}

// Open makes a sandbox for a session. It costs nothing until it runs something.
func (b *Backend) Open(ctx context.Context, id ident.Session) (sandbox.Sandbox, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open a wasm sandbox: %w", err)
	}
	s := &session{pool: b.pool, log: b.log.WithLazy(zap.String("session", string(id)))}
	if !b.pool.open(s) {
		return nil, sandbox.ErrClosed
	}
	return s, nil
}

// Check runs a script in a fresh worker.
func (b *Backend) Check(ctx context.Context) error {
	s, err := b.Open(ctx, ident.NewSession())
	if err != nil {
		return err
	}
	defer s.Close()
	limits := sandbox.DefaultLimits()
	limits.Wall = 10 * time.Second
	r, err := s.Run(ctx, sandbox.Execution{Language: sandbox.JavaScript, Code: "return 1+1", Limits: limits})
	if err != nil {
		return fmt.Errorf("check the wasm sandbox: %w", err)
	}
	if r.Reason != sandbox.ReasonOK {
		return fmt.Errorf("check the wasm sandbox: a trivial script ended with %q", r.Reason)
	}
	return nil
}

// Locks starts a worker if need be and returns which of the system's protections
// hold it: their names, and "active" or why not.
func (b *Backend) Locks(ctx context.Context) (map[string]string, error) {
	p, err := b.pool.fresh(ctx)
	if err != nil {
		return nil, err
	}
	defer b.pool.drop(p)
	return p.locks, nil
}

// Close ends all workers and waits for them.
func (b *Backend) Close() error {
	b.pool.close()
	return nil
}

// WorkerMain is the worker's side: it serves the parent at the other end of in
// and out, its standard input and output, until in ends. It locks the whole
// process down, so the process must do nothing else.
func WorkerMain(ctx context.Context, in io.Reader, out io.Writer) error {
	return worker.Main(ctx, in, out)
}
