package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	mcpserver "github.com/mark3labs/mcp-go/server"

	"airlock/ident"
)

func TestOpenCircuitLetsOneTryThroughAfterAWhile(t *testing.T) {
	t.Parallel()
	catalog := catalogOf(t, `"echo":{"transport":"builtin","lifecycle":{"restart":{"max":2,"backoffMs":100}}}`)
	synctest.Test(t, func(t *testing.T) {
		starts, works := 0, false
		m, err := New(Options{Catalog: catalog, Builtins: map[string]Builtin{"echo": func(ctx context.Context) (*mcpserver.MCPServer, error) {
			starts++
			if !works {
				return nil, errors.New("not today")
			}
			return echoServer(ctx)
		}}})
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		call := func() error {
			_, err := m.Call(t.Context(), anyone, "echo__echo", nil)
			return err
		}
		for n := range 3 {
			if err := call(); !errors.Is(err, ErrUpstream) || !strings.Contains(err.Error(), "not today") || starts != n+1 {
				t.Errorf("call %d: %v after %d starts", n+1, err, starts)
			}
		}
		works = true
		if err := call(); err == nil || !strings.Contains(err.Error(), "failed 3 times in a row") || !strings.Contains(err.Error(), "try again in 1m0s") || starts != 3 {
			t.Errorf("with the circuit open: %v after %d starts", err, starts)
		}
		time.Sleep(coolDown) // of the bubble's clock
		if err := call(); err != nil || starts != 4 {
			t.Errorf("after the cool-down: %v after %d starts", err, starts)
		}
		if s := m.Status(); s[0].Failing != 0 || s[0].Running != 1 || s[0].Tools != 4 {
			t.Errorf("Status: %+v", s)
		}
	})
}

func TestCallersShareOneStart(t *testing.T) {
	t.Parallel()
	var starts atomic.Int32
	m := managerOf(t, `"echo":{"transport":"builtin"}`, map[string]Builtin{"echo": func(ctx context.Context) (*mcpserver.MCPServer, error) {
		starts.Add(1)
		return echoServer(ctx)
	}})
	done := make(chan error)
	for range 32 {
		go func() {
			_, err := m.Call(t.Context(), anyone, "echo__echo", nil)
			done <- err
		}()
	}
	for range 32 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n := starts.Load(); n != 1 {
		t.Errorf("started %d times", n)
	}
}

func TestFirstCallerMayGiveUpWithoutSpoilingTheStart(t *testing.T) {
	t.Parallel()
	begun, goOn := make(chan struct{}), make(chan struct{})
	m := managerOf(t, `"echo":{"transport":"builtin"}`, map[string]Builtin{"echo": func(ctx context.Context) (*mcpserver.MCPServer, error) {
		close(begun)
		<-goOn
		return echoServer(ctx)
	}})
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error, 1)
	go func() {
		_, err := m.Call(ctx, anyone, "echo__echo", nil)
		first <- err
	}()
	<-begun
	cancel()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("first caller: %v", err)
	}
	close(goOn)
	if _, err := m.Call(t.Context(), anyone, "echo__echo", nil); err != nil {
		t.Errorf("second caller: %v", err)
	}
}

func TestManyUsersEvictTheIdlest(t *testing.T) {
	t.Parallel()
	m := managerOf(t, `"echo":{"transport":"builtin","instance":"user"}`, map[string]Builtin{"echo": echoServer})
	for n := range maxInstances + 10 {
		c := Caller{User: ident.User(fmt.Sprintf("user%d", n))}
		if _, err := m.Call(t.Context(), c, "echo__echo", nil); err != nil {
			t.Fatalf("user %d: %v", n, err)
		}
	}
	if s := m.Status(); s[0].Running != maxInstances {
		t.Errorf("%d instances run, want %d", s[0].Running, maxInstances)
	}
}

func TestBusyInstancesAreNotEvicted(t *testing.T) {
	t.Parallel()
	m := managerOf(t, `"echo":{"transport":"builtin","instance":"user"}`, map[string]Builtin{"echo": echoServer})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	for n := range maxInstances {
		c := Caller{User: ident.User(fmt.Sprintf("user%d", n))}
		if _, err := m.Call(ctx, c, "echo__echo", nil); err != nil { // it runs
			t.Fatal(err)
		}
		u := m.byName["echo"]
		_, i, err := u.acquire(ctx, c) // and is held
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			<-ctx.Done()
			i.release()
			done <- nil
		}()
	}
	_, err := m.Call(t.Context(), Caller{User: "late"}, "echo__echo", json.RawMessage(`{}`))
	if !errors.Is(err, ErrUpstream) || !strings.Contains(err.Error(), "all 64 processes that it may have are busy") {
		t.Errorf("one too many: %v", err)
	}
	cancel()
	for range maxInstances {
		if err := <-done; err != nil {
			t.Errorf("release: %v", err)
		}
	}
	if _, err := m.Call(t.Context(), Caller{User: "late"}, "echo__echo", nil); err != nil {
		t.Errorf("when one is idle: %v", err)
	}
}
