package docker

import (
	"testing"

	"airlock/runtime/sandbox"
	"airlock/runtime/sandbox/sandboxtest"
)

// real are options for the real image, with the isolation tested.
func real(t testing.TB) Options {
	o := options(t)
	o.Image, o.untested = realImage, false
	return o
}

func TestBackendPassesTheSuite(t *testing.T) {
	t.Parallel()
	needImage(t)
	sandboxtest.Run(t, func(t *testing.T) sandbox.Backend { return backend(t, real(t)) })
}

func TestFloodsLeaveMemoryFlat(t *testing.T) {
	needImage(t)
	sandboxtest.Floods(t, func(t *testing.T) sandbox.Backend { return backend(t, real(t)) })
}
