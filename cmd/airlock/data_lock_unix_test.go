//go:build unix

package main

import (
	"path/filepath"
	"testing"
)

func TestDataIsCleanedOnlyByOneWhoIsAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	cleaned := 0
	clean := func() error { cleaned++; return nil }
	take := func() func() error {
		release, err := lockData(path, clean)
		if err != nil {
			t.Fatal(err)
		}
		return release
	}
	first := take()
	second := take()
	if cleaned != 1 {
		t.Errorf("cleaned %d times with two processes, want once", cleaned)
	}
	for _, release := range []func() error{first, second} {
		if err := release(); err != nil {
			t.Fatal(err)
		}
	}
	if err := take()(); err != nil || cleaned != 2 {
		t.Errorf("cleaned %d times (%v), want again when all had left", cleaned, err)
	}
}
