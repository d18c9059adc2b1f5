package bridge

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"airlock/pii"
	"airlock/runtime/sandbox"
)

// consent is an Approver that says yes.
type consent struct{}

func (consent) Approve(context.Context, ApprovalRequest) error { return nil }

// person is an Approver that takes its time and records what it was asked.
type person struct {
	takes  time.Duration
	answer error
	asked  []ApprovalRequest
}

func (p *person) Approve(ctx context.Context, r ApprovalRequest) error {
	p.asked = append(p.asked, r)
	select {
	case <-time.After(p.takes):
		return p.answer
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func TestApproval(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer error
		status int
		code   string
	}{
		"given":     {nil, http.StatusOK, ""},
		"denied":    {ErrDenied, http.StatusConflict, "approval_denied"},
		"too late":  {errors.New("nobody answered"), http.StatusConflict, "approval_missing"},
		"cancelled": {context.Canceled, http.StatusConflict, "approval_missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &person{answer: tc.answer}
			r := newRig(t, func(o *Options, _ *Grant) { o.Approver = p })
			token := r.show("eve@example.com", "disk")
			status, body := r.call("disk__delete_all", `{"of":"`+token+`"}`)
			if status != tc.status || codeOf(t, body) != tc.code {
				t.Errorf("got %d %s", status, body)
			}
			if reached := len(r.up.called()) > 0; reached != (tc.answer == nil) {
				t.Errorf("reached the tool: %v", reached)
			}
			if len(p.asked) != 1 {
				t.Fatalf("asked %d times", len(p.asked))
			}
			q := p.asked[0]
			if q.Tool != "disk__delete_all" || q.Server != "disk" || q.Arguments.String() != `{"of":"`+token+`"}` || q.User != r.grant.User || q.Execution != r.grant.Execution {
				t.Errorf("asked %+v", q)
			}
			if !slices.Equal(q.Releases, []pii.Type{"EMAIL"}) || !slices.Equal(q.Origins, []pii.Origin{"server:disk"}) {
				t.Errorf("asked for a release of %v from %v", q.Releases, q.Origins)
			}
		})
	}
}

func TestNobodyToAsk(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if status, body := r.call("disk__delete_all", `{}`); status != http.StatusConflict || codeOf(t, body) != "approval_unavailable" {
		t.Errorf("got %d %s", status, body)
	}
	if calls := r.up.called(); len(calls) > 0 {
		t.Errorf("reached the tool: %v", calls)
	}
}

// The time that a person takes is neither the script's nor its token's.
func TestTimeStandsStillDuringApproval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := sandbox.NewClock(time.Minute)
		ctx, release := clock.Start(t.Context())
		defer release()
		r := newRig(t, func(o *Options, g *Grant) {
			o.Approver = &person{takes: 3 * time.Hour}
			o.TokenTTL = 2 * time.Minute
			g.Clock, g.Deadline = clock, time.Now().Add(time.Minute)
		})
		<-time.After(30 * time.Second) // by the clock of the bubble
		if status, body := r.call("disk__delete_all", `{}`); status != http.StatusOK {
			t.Fatalf("got %d %s", status, body)
		}
		if left := clock.Left(); left != 30*time.Second || ctx.Err() != nil {
			t.Errorf("the script has %v left, want 30s", left)
		}
		if status, body := r.call("shop__find", `{}`); status != http.StatusOK {
			t.Errorf("the token did not outlive the approval: %d %s", status, body)
		}
		<-time.After(91 * time.Second)
		if status, _ := r.call("shop__find", `{}`); status != http.StatusUnauthorized {
			t.Errorf("the token does not expire any more: %d", status)
		}
	})
}

func TestRevokeEndsApproval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, func(o *Options, _ *Grant) { o.Approver = &person{takes: time.Hour} })
		done := make(chan int, 1)
		go func() { status, _ := r.call("disk__delete_all", `{}`); done <- status }()
		synctest.Wait()
		r.access.Revoke()
		if status := <-done; status != http.StatusServiceUnavailable {
			t.Errorf("got %d", status)
		}
	})
}
