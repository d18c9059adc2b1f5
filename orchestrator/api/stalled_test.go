package api

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"airlock/orchestrator"
)

// TestShutdownEndsAStreamThatNobodyReads leaves more unread than a connection holds.
func TestShutdownEndsAStreamThatNobodyReads(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	var events []orchestrator.Event
	for range 32 {
		events = append(events, orchestrator.Event{Type: orchestrator.EventExecutionOutput, Data: orchestrator.EventData{Text: v.FromModel(strings.Repeat("x ", 1<<19))}})
	}
	f := &fakeService{vault: v, events: told(events...), more: make(chan struct{})}
	f.task = orchestrator.Task{ID: "task_1", Vault: v}
	s, served, conn := askForEvents(t, f)
	defer conn.Close()
	if _, err := io.ReadFull(conn, make([]byte, 1<<20)); err != nil { // the stream has begun
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Errorf("the stream keeps the server from ending: %v", err)
	}
	_ = conn.Close()
	if err := <-served; err != nil {
		t.Error(err)
	}
}
