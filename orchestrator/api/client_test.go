package api

import (
	"context"
	"testing"
	"time"
)

// TestShutdownEndsAServerThatHasHardlyBegun ends servers at once after their clients
// were made.
func TestShutdownEndsAServerThatHasHardlyBegun(t *testing.T) {
	t.Parallel()
	for range 50 {
		s, err := New(Options{Service: &fakeService{}, Port: "3000", Rights: all})
		if err != nil {
			t.Fatal(err)
		}
		s.Client()
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := s.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		cancel()
	}
}
