package wasm

import (
	"testing"

	"airlock/runtime/sandbox"
	"airlock/runtime/sandbox/sandboxtest"
)

func TestBackendPassesTheSuite(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, func(t *testing.T) sandbox.Backend {
		t.Helper()
		return backend(t, options(t))
	})
}
