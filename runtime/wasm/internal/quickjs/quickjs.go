// Package quickjs drives the embedded JavaScript engine: QuickJS-NG compiled to
// WebAssembly with the qjs_* functions of the npm package quickjs-wasi, run by
// wazero.
//
// An Engine is the compiled module. Its VMs are independent interpreters, each
// with a memory of its own. A VM belongs to one goroutine; only Interrupt, Kill
// and Close may be called from others. A VM whose method returned anything but
// an *Exception is broken and must be closed.
//
// Values are handles into the engine. What a method returns is owned by the
// caller, who frees it once; what is passed in stays the caller's.
package quickjs

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// ErrPlatform is returned where wazero can only interpret, which is some fifty
// times slower than compiled code.
var ErrPlatform = errors.New("the wasm sandbox needs a 64-bit x86 (with SSE4.1) or ARM processor")

// maxPages keeps the size of a memory within 32 bits, as wazero reports it.
const maxPages = 1<<16 - 1

const pageSize = 1 << 16

// EngineOptions configure an Engine.
type EngineOptions struct {
	// Wasm is the module, its loops patched to look at KillAddress.
	Wasm        []byte
	KillAddress uint32
	// CacheDir, if set, keeps compiled code between processes.
	CacheDir string
}

// Engine is the compiled module. Safe for concurrent use.
type Engine struct {
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	cache    wazero.CompilationCache
	kill     uint32
}

// NewEngine compiles the module, which takes about 0.3 s without a cache.
func NewEngine(ctx context.Context, o EngineOptions) (_ *Engine, err error) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return nil, fmt.Errorf("%w; this is %s", ErrPlatform, runtime.GOARCH)
	}
	defer func() { // NewRuntimeConfigCompiler panics where there is no compiler
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", ErrPlatform, r)
		}
	}()
	e := &Engine{kill: o.KillAddress}
	config := wazero.NewRuntimeConfigCompiler().WithMemoryLimitPages(maxPages).WithDebugInfoEnabled(false)
	if o.CacheDir != "" {
		if e.cache, err = wazero.NewCompilationCacheWithDir(o.CacheDir); err != nil {
			return nil, fmt.Errorf("open the cache of compiled code: %w", err)
		}
		config = config.WithCompilationCache(e.cache)
	}
	e.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	if err := e.compile(ctx, o.Wasm); err != nil {
		return nil, errors.Join(err, e.Close(ctx))
	}
	return e, nil
}

func (e *Engine) compile(ctx context.Context, wasm []byte) error {
	if err := instantiateImports(ctx, e.runtime); err != nil {
		return fmt.Errorf("define the engine's imports: %w", err)
	}
	compiled, err := e.runtime.CompileModule(ctx, wasm)
	if err != nil {
		return fmt.Errorf("compile the engine: %w", err)
	}
	e.compiled = compiled
	for _, name := range exportNames {
		if compiled.ExportedFunctions()[name] == nil {
			return fmt.Errorf("the engine does not export %s; run make engine", name)
		}
	}
	return nil
}

// Close releases the compiled code. The engine's VMs must be closed before.
func (e *Engine) Close(ctx context.Context) error {
	err := e.runtime.Close(ctx)
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(ctx))
	}
	return err
}

// instantiate makes a module instance with a memory of its own.
func (e *Engine) instantiate(ctx context.Context, mem *memory) (_ api.Module, err error) {
	defer func() { // wazero panics where an allocator refuses a module's first memory
		if r := recover(); r != nil {
			err = errors.Join(fmt.Errorf("%w: %v", ErrMemory, r), mem.failed)
		}
	}()
	ctx = experimental.WithMemoryAllocator(ctx, mem)
	return e.runtime.InstantiateModule(ctx, e.compiled,
		wazero.NewModuleConfig().WithName("").WithStartFunctions())
}
