package bridge

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"airlock/servers"
)

func TestLimitsValidate(t *testing.T) {
	t.Parallel()
	if err := DefaultLimits().Validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Limits){
		"Calls": func(l *Limits) { l.Calls = 0 }, "Requests": func(l *Limits) { l.Requests = -1 }, "Concurrent": func(l *Limits) { l.Concurrent = 0 },
		"ArgumentBytes": func(l *Limits) { l.ArgumentBytes = 0 }, "ResultBytes": func(l *Limits) { l.ResultBytes = 0 },
		"CallTime": func(l *Limits) { l.CallTime = 0 }, "TransferTime": func(l *Limits) { l.TransferTime = 0 },
	} {
		l := DefaultLimits()
		spoil(&l)
		if err := l.Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestNewRefusesBadOptions(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*Options){
		"Secret": func(o *Options) { o.Secret = o.Secret[:31] }, "TokenTTL": func(o *Options) { o.TokenTTL = 0 },
		"Upstreams": func(o *Options) { o.Upstreams = nil }, "Audit": func(o *Options) { o.Audit = nil }, "Calls": func(o *Options) { o.Limits = Limits{} },
	} {
		good := newRig(t).bridge.options
		spoil(&good)
		if _, err := New(good); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCallsAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options, _ *Grant) { o.Limits.Calls, o.Limits.Requests = 2, 5 })
	for i, want := range []int{200, 200, 429} {
		if status, body := r.call("shop__find", `{}`); status != want {
			t.Errorf("call %d: %d %s, want %d", i, status, body, want)
		}
	}
	for i, want := range []int{200, 200, 429} {
		if status, body := r.do(http.MethodGet, "/v1/tools", ""); status != want {
			t.Errorf("listing %d: %d %s, want %d", i, status, body, want)
		}
	}
}

// A thousand calls at once are all answered, never more than eight at a time, and
// the one after them is refused.
func TestThousandCallsAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var now, most atomic.Int32
	r.up.answer = func(context.Context, string, string) (servers.Result, error) {
		n := now.Add(1)
		defer now.Add(-1)
		for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
		}
		return text("ok"), nil
	}
	var all sync.WaitGroup
	var refused atomic.Int32
	for i := range 1000 {
		all.Go(func() {
			if status, _ := r.call("shop__find", fmt.Sprintf(`{"i":%d}`, i)); status != http.StatusOK {
				refused.Add(1)
			}
		})
	}
	all.Wait()
	if refused.Load() != 0 || most.Load() > 8 {
		t.Errorf("%d refused, %d at once", refused.Load(), most.Load())
	}
	if status, _ := r.call("shop__find", `{}`); status != http.StatusTooManyRequests {
		t.Errorf("call 1,001: %d", status)
	}
	if n := len(r.records()); n != 1001 {
		t.Errorf("%d audit lines", n)
	}
}

// Calls wait in the order of their arrival.
func TestCallsWaitInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options, _ *Grant) { o.Limits.Concurrent = 1 })
		gate := make(chan struct{})
		r.up.answer = func(context.Context, string, string) (servers.Result, error) { <-gate; return text("ok"), nil }
		var all sync.WaitGroup
		for i := range 5 {
			all.Go(func() { r.call("shop__find", fmt.Sprintf(`{"i":%d}`, i)) })
			synctest.Wait() // until it waits
		}
		close(gate)
		all.Wait()
		for i, c := range r.up.called() {
			if want := fmt.Sprintf(`shop__find {"i":%d}`, i); c != want {
				t.Errorf("call %d is %s", i, c)
			}
		}
	})
}

// A flood of calls and then the end: pending calls are cancelled, waiting ones
// never reach a tool, and Revoke returns when none is left.
func TestRevokeCancelsPendingCalls(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		var running atomic.Int32
		r.up.answer = func(ctx context.Context, _, _ string) (servers.Result, error) {
			running.Add(1)
			defer running.Add(-1)
			<-ctx.Done()
			return servers.Result{}, context.Cause(ctx)
		}
		statuses := make(chan int, 500)
		for range 500 {
			go func() { status, _ := r.call("shop__find", `{}`); statuses <- status }()
		}
		synctest.Wait()
		if running.Load() != 8 {
			t.Errorf("%d run before the end", running.Load())
		}
		r.access.Revoke()
		if running.Load() != 0 {
			t.Errorf("%d run after the end", running.Load())
		}
		for range 500 {
			if status := <-statuses; status != http.StatusServiceUnavailable {
				t.Errorf("got %d", status)
			}
		}
		if n := len(r.up.called()); n != 8 {
			t.Errorf("%d calls reached the tool", n)
		}
		r.access.Revoke() // again
		if n := len(r.bridge.accesses); n != 0 {
			t.Errorf("%d accesses are kept", n)
		}
	})
}

func TestArgumentsThatGrow(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(o *Options, _ *Grant) { o.Limits.ArgumentBytes = 400 })
	long := "a-rather-long-local-part.of-an-address@example.com"
	token := r.show(long, "shop")
	list := strings.Repeat(`"`+token+`",`, 12)
	status, body := r.call("shop__find", `{"a":[`+strings.TrimSuffix(list, ",")+`]}`)
	if status != http.StatusRequestEntityTooLarge || codeOf(t, body) != "too_large" || len(r.up.called()) > 0 {
		t.Errorf("got %d %s", status, body)
	}
}
