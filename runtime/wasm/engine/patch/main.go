// Command patch makes the engine that airlock embeds: it takes the WebAssembly
// module of the npm package quickjs-wasi, checks that it is the one we know, and
// gives every loop a way to be stopped from outside.
//
// Why: the engine asks its host now and then whether to stop, but its native
// functions do not (a String.prototype.indexOf was seen to run for minutes).
// Each loop therefore begins with a look at one word of memory, which the host
// sets to end it. That costs 1 to 18 % of speed, by the kind of script; the
// other ways of stopping a module from outside make it three to six times slower.
//
// Run it from the repository's root after npm ci in runtime/wasm/engine, or run
// make engine, which does both.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

// version and checksum pin the module: quickjs-wasi 3.6.0, QuickJS-NG 0.16.2.
const (
	version  = "3.6.0"
	checksum = "b006d95d9475edf7c6648cc3eb391d3b780efdd99022fbfbb470f2359da460ff"
)

// interpreter is the body of the function that runs bytecode. It asks the host
// itself, in its own way, and is the one whose speed matters most.
const interpreter = 80

func main() {
	dir := flag.String("dir", "runtime/wasm/engine", "folder with package.json and node_modules")
	flag.Parse()
	if err := run(*dir); err != nil {
		fmt.Fprintln(os.Stderr, "patch:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	source := filepath.Join(dir, "node_modules", "quickjs-wasi", "quickjs.wasm")
	module, err := os.ReadFile(source)
	if err != nil {
		return fmt.Errorf("read the engine: %w; run npm ci in %s first", err, dir)
	}
	if err := check(module); err != nil {
		return fmt.Errorf("%s: %w", source, err)
	}
	patched, loops, err := patchLoops(module, map[int]bool{interpreter: true})
	if err != nil {
		return fmt.Errorf("patch %s: %w", source, err)
	}
	target := filepath.Join(dir, "module", "engine.wasm")
	if err := replace(target, patched); err != nil {
		return fmt.Errorf("write the engine: %w", err)
	}
	fmt.Printf("%s: quickjs-wasi %s, %d loops patched, %d bytes\n", target, version, loops, len(patched))
	return nil
}

func check(module []byte) error {
	sum := sha256.Sum256(module)
	if got := hex.EncodeToString(sum[:]); got != checksum {
		return fmt.Errorf("checksum is %s, want %s (quickjs-wasi %s); remove node_modules and run npm ci", got, checksum, version)
	}
	return nil
}

// replace writes beside the target and renames, so that a build at the same time
// sees the old file or the new one.
func replace(target string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(target), "engine-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if _, err := temp.Write(data); err != nil {
		temp.Close()
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if err := os.Chmod(temp.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(temp.Name(), target)
}
