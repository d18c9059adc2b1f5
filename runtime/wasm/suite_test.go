package wasm

import (
	"testing"

	"airlock/runtime/sandbox"
	"airlock/runtime/sandbox/sandboxtest"
)

func suiteBackend(t *testing.T) sandbox.Backend {
	t.Helper()
	return backend(t, options(t))
}

func TestBackendPassesTheSuite(t *testing.T) {
	t.Parallel()
	sandboxtest.Run(t, suiteBackend)
}

func TestFloodsLeaveMemoryFlat(t *testing.T) {
	sandboxtest.Floods(t, suiteBackend)
}
