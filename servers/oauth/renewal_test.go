package oauth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// signedIn is a world in which somebody has signed in.
func signedIn(t *testing.T) (*world, *Client, *memory, *clock) {
	t.Helper()
	w, store, clock := newWorld(t), &memory{kept: map[string][]byte{}}, &clock{}
	c := newClient(t, store, clock.now)
	if err := w.signIn(c, nil); err != nil {
		t.Fatal(err)
	}
	return w, c, store, clock
}

func TestExpiredTokenIsRenewedOnce(t *testing.T) {
	t.Parallel()
	w, c, _, clock := signedIn(t)
	first := w.access
	clock.advance(time.Hour)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if got, err := c.Token(t.Context(), "files", w.url()); err != nil || got == first {
				t.Errorf("token %q, %v", got, err)
			}
		})
	}
	all.Wait()
	if w.renewals != 1 {
		t.Errorf("renewed %d times; a refresh token is good once", w.renewals)
	}
}

func TestRefusedTokenIsRenewed(t *testing.T) {
	t.Parallel()
	w, c, _, _ := signedIn(t)
	first := w.access
	second, err := c.Renew(t.Context(), "files", w.url(), first)
	if err != nil || second != w.access || second == first {
		t.Errorf("token %q, %v", second, err)
	}
	if again, err := c.Renew(t.Context(), "files", w.url(), first); err != nil || again != second || w.renewals != 1 {
		t.Errorf("a caller who comes late: %q, %v after %d renewals", again, err, w.renewals)
	}
}

func TestFailedRenewalSaysWhetherSigningInHelps(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil  func(*world, *Client)
		signIn bool
		want   string
	}{
		"revoked": {func(w *world, _ *Client) { w.refresh = "" }, true, "the sign-in has ended: invalid_grant"},
		"server down": {func(w *world, _ *Client) {
			w.token = func(out http.ResponseWriter, _ *http.Request) { http.Error(out, "canary", 500) }
		}, false, "HTTP status 500; try again later"},
		"unreachable":    {func(w *world, _ *Client) { w.auth.Close() }, false, "could not be reached to renew the token; try again later"},
		"useless answer": {func(w *world, _ *Client) { w.token = token("a b", "bearer") }, false, "no bearer token"},
		"signed out":     {func(w *world, c *Client) { _ = c.Logout(context.Background(), "files") }, true, "nobody is signed in"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, client, _, clock := signedIn(t)
			first := w.access
			c.spoil(w, client)
			clock.advance(time.Hour)
			_, err := client.Renew(t.Context(), "files", w.url(), first)
			if err == nil || errors.Is(err, ErrSignIn) != c.signIn || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

func TestTokenIsUsedToItsEndWhileRenewingFails(t *testing.T) {
	t.Parallel()
	w, c, _, clock := signedIn(t)
	first := w.access
	w.token = func(out http.ResponseWriter, _ *http.Request) { http.Error(out, "", http.StatusBadGateway) }
	clock.advance(time.Hour - early/2)
	if got, err := c.Token(t.Context(), "files", w.url()); err != nil || got != first {
		t.Errorf("token %q, %v", got, err)
	}
	clock.advance(early)
	if got, err := c.Token(t.Context(), "files", w.url()); err == nil {
		t.Errorf("an expired token was given: %q", got)
	}
}

func TestAnotherProcessMayRenewFirst(t *testing.T) {
	t.Parallel()
	w, c, store, clock := signedIn(t)
	stale := store.kept["oauth/files"]
	clock.advance(time.Hour)
	other := newClient(t, store, clock.now)
	second, err := other.Token(t.Context(), "files", w.url())
	if err != nil {
		t.Fatal(err)
	}
	// c reads what was there before, and the refresh token in it is spent.
	racing := &racingStore{memory: store, first: stale}
	c.store.store = racing
	if got, err := c.Token(t.Context(), "files", w.url()); err != nil || got != second {
		t.Errorf("token %q, %v; want the other process's %q", got, err, second)
	}
}

// racingStore gives what was there before to the first two readers.
type racingStore struct {
	*memory
	first []byte
	reads int
}

func (s *racingStore) Get(ctx context.Context, name string) ([]byte, error) {
	if s.reads++; s.reads <= 2 {
		return s.first, nil
	}
	return s.memory.Get(ctx, name)
}

func TestGivingUpEndsTheWaitAndKeepsTheNewToken(t *testing.T) {
	t.Parallel()
	w, c, _, _ := signedIn(t)
	first := w.access
	ctx, cancel := context.WithCancel(t.Context())
	goOn := make(chan struct{})
	w.token = func(out http.ResponseWriter, r *http.Request) {
		cancel()
		<-goOn
		w.serveToken(out, r)
	}
	if _, err := c.Renew(ctx, "files", w.url(), first); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who gave up: %v", err)
	}
	close(goOn)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if got, err := c.Token(t.Context(), "files", w.url()); err != nil || got != w.access || got == first {
		t.Errorf("token %q, %v; want %q", got, err, w.access)
	}
}

func TestDamagedRecordMeansSigningIn(t *testing.T) {
	t.Parallel()
	w, c, store, _ := signedIn(t)
	whole := store.kept["oauth/files"]
	flipped := append([]byte{}, whole...)
	flipped[len(flipped)/2] ^= 1
	for name, sealed := range map[string][]byte{"changed": flipped, "cut": whole[:10], "empty": {}} {
		store.kept["oauth/files"] = sealed
		if _, err := c.Token(t.Context(), "files", w.url()); !errors.Is(err, ErrSignIn) {
			t.Errorf("%s: %v", name, err)
		}
	}
	store.kept["oauth/other"] = whole // moved under another name
	if got, err := c.Token(t.Context(), "other", w.url()); got != "" || !errors.Is(err, ErrSignIn) {
		t.Errorf("a record of another server opened: %q, %v", got, err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{}, {Store: &memory{}}, {Store: &memory{}, Key: []byte("short")}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}
