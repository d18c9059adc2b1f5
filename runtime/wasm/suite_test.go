package wasm_test

import (
	"testing"

	"go.uber.org/zap/zaptest"

	"airlock/runtime/helpers"
	"airlock/runtime/sandbox"
	"airlock/runtime/sandbox/sandboxtest"
	"airlock/runtime/wasm"
)

func TestBackendPassesTheSuite(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, func(t *testing.T) sandbox.Backend {
		b, err := wasm.New(wasm.Options{
			Worker: []string{"/proc/self/exe", "wasm-worker"}, Prelude: helpers.JavaScript(), CacheDir: t.TempDir(), Log: zaptest.NewLogger(t),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := b.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
		return b
	})
}
