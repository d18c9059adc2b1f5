package api

import (
	"context"
	"io"
	"net"
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
	s, err := New(Options{Service: f, Port: "3000", Rights: all})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET /tasks/task_1/events HTTP/1.1\r\nHost: localhost:3000\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
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
