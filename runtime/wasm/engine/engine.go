// Package engine carries the JavaScript engine of the wasm sandbox: QuickJS-NG
// as a WebAssembly module, from the npm package quickjs-wasi at the version that
// package-lock.json pins. It is made by `make engine` (npm ci, then the program
// in folder patch) and embedded; a build without it works until the engine is
// asked for.
package engine

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
)

// Version names the engine, for reports.
const Version = "quickjs-wasi 3.6.0 (QuickJS-NG 0.16.2)"

// KillAddress is where the embedded module looks, in its own memory, at the head
// of every loop: a word that is not zero makes it trap.
const KillAddress = 16

//go:embed module
var module embed.FS

// ErrMissing is returned when the program was built without its engine.
var ErrMissing = errors.New("this build has no JavaScript engine in it; run make engine, then build again")

// Wasm returns the embedded module.
func Wasm() ([]byte, error) {
	wasm, err := module.ReadFile("module/engine.wasm")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, fmt.Errorf("read the embedded engine: %w", err)
	}
	return wasm, nil
}
