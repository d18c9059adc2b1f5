package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"airlock/runtime/wasm/engine"
)

// module makes a module with one function of type 0 whose body is given.
func module(body ...byte) []byte {
	code := append([]byte{1, byte(len(body) + 1), 0}, body...) // one body, no locals
	m := []byte("\x00asm\x01\x00\x00\x00\x01\x04\x01\x60\x00\x00\x03\x02\x01\x00")
	return append(append(m, sectionCode, byte(len(code))), code...)
}

func TestLoopsBeginWithTheCheck(t *testing.T) {
	t.Parallel()
	const void = 0x40
	loop := []byte{opLoop, void}
	for name, tc := range map[string]struct {
		body  []byte
		loops int
	}{
		"no loop":               {[]byte{0x01, opEnd}, 0},
		"one":                   {[]byte{opLoop, void, opBr, 0, opEnd, opEnd}, 1},
		"nested":                {[]byte{opLoop, void, opLoop, void, opEnd, opEnd, opEnd}, 2},
		"its byte in a number":  {[]byte{opI32Const, opLoop, 0x1a, opEnd}, 0},
		"its byte in a float":   {[]byte{opF64Const, 3, 3, 3, 3, 3, 3, 3, 3, 0x1a, opEnd}, 0},
		"its byte in a table":   {[]byte{opI32Const, 0, opBrTable, 2, 3, 3, 3, opEnd}, 0},
		"its byte in an offset": {[]byte{opI32Const, 0, opI32Load, 3, 3, 0x1a, opEnd}, 0},
		"after a bulk copy":     {[]byte{prefixMisc, 10, 0, 0, opLoop, void, opEnd, opEnd}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, n, err := patchLoops(module(tc.body...), nil)
			if err != nil || n != tc.loops {
				t.Fatalf("%d loops, %v; want %d", n, err, tc.loops)
			}
			if got := bytes.Count(out, append(loop, killCheck...)); got != tc.loops {
				t.Errorf("%d loops begin with the check", got)
			}
		})
	}
}

func TestSkippedBodiesStay(t *testing.T) {
	t.Parallel()
	in := module(opLoop, 0x40, opEnd, opEnd)
	out, n, err := patchLoops(in, map[int]bool{0: true})
	if err != nil || n != 0 || !bytes.Equal(in, out) {
		t.Errorf("%d loops, %v, same: %v", n, err, bytes.Equal(in, out))
	}
}

func TestBrokenModulesAreErrors(t *testing.T) {
	t.Parallel()
	for name, in := range map[string][]byte{
		"empty":               nil,
		"no module":           []byte("MZ......"),
		"a section too long":  append(module(opEnd)[:8], sectionCode, 200, 1),
		"an unknown opcode":   module(0xfd, opEnd),
		"an unfinished block": module(opLoop),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, _, err := patchLoops(in, nil); !errors.Is(err, errFormat) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTheEngineIsWhatItShouldBe(t *testing.T) {
	t.Parallel()
	if killAddress != engine.KillAddress {
		t.Errorf("loops look at %d, the driver writes to %d", killAddress, engine.KillAddress)
	}
	wasm, err := engine.Wasm()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(wasm, killCheck); n != 1248 {
		t.Errorf("the engine has %d patched loops, want 1248; run make engine", n)
	}
}

func TestAnotherModuleIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := run(dir); err == nil || !strings.Contains(err.Error(), "npm ci") {
		t.Errorf("without the package: %v", err)
	}
	source := filepath.Join(dir, "node_modules", "quickjs-wasi")
	if err := os.MkdirAll(source, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(source, "quickjs.wasm"), module(opEnd), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(dir); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("with another module: %v", err)
	}
}

func FuzzPatchLoops(f *testing.F) {
	f.Add(module(opLoop, 0x40, opEnd, opEnd))
	f.Fuzz(func(t *testing.T, data []byte) {
		out, n, err := patchLoops(data, nil)
		if err == nil && n == 0 && len(out) > len(data)+16 {
			t.Error("an unchanged module grew")
		}
	})
}
