package bridge

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func (r *rig) claims() claims {
	c, err := r.bridge.tokens.read(r.access.Token())
	if err != nil {
		r.tb.Fatal(err)
	}
	return c
}

func signed(tb testing.TB, method jwt.SigningMethod, key any, c jwt.Claims) string {
	tb.Helper()
	s, err := jwt.NewWithClaims(method, c).SignedString(key)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// with changes one thing in the claims of a valid token.
func (r *rig) with(change func(*claims)) string {
	c := r.claims()
	change(&c)
	return signed(r.tb, jwt.SigningMethodHS256, testSecret, c)
}

func TestSessionTokenClaims(t *testing.T) {
	t.Parallel()
	deadline := time.Now().Add(10 * time.Minute)
	r := newRig(t, func(_ *Options, g *Grant) { g.Scope, g.Deadline = "shop__*", deadline })
	c := r.claims()
	want := claims{Session: "ses_one", Execution: "exe_one", Scope: "shop__*"}
	if c.Session != want.Session || c.Execution != want.Execution || c.Scope != want.Scope {
		t.Errorf("claims are %+v", c)
	}
	if c.Issuer != "airlock" || len(c.Audience) != 1 || c.Audience[0] != "bridge" || c.ID == "" || c.IssuedAt == nil {
		t.Errorf("registered claims are %+v", c.RegisteredClaims)
	}
	if c.Subject == "" || strings.Contains(c.Subject, "ada") {
		t.Errorf("subject is %q, want a pseudonym", c.Subject)
	}
	if got := c.ExpiresAt.Sub(deadline.Add(tokenGrace)); got > time.Second || got < -time.Second {
		t.Errorf("expires %v off the deadline and its grace", got)
	}
}

// Every bad token gets the same answer, reaches no tool, and is written down with
// its reason.
func TestBadTokens(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		header func(*rig) string // the Authorization header
		reason error
	}{
		"none":              {func(*rig) string { return "" }, errNoToken},
		"another scheme":    {func(r *rig) string { return "Basic " + r.access.Token() }, errNoToken},
		"no token":          {func(*rig) string { return "Bearer " }, errNoToken},
		"garbage":           {func(*rig) string { return "Bearer a.b.c" }, errTokenForm},
		"truncated":         {func(r *rig) string { return "Bearer " + r.access.Token()[:len(r.access.Token())-3] }, errTokenSignature},
		"without signature": {func(r *rig) string { return "Bearer " + r.access.Token()[:strings.LastIndex(r.access.Token(), ".")+1] }, errTokenSignature},
		"very long":         {func(r *rig) string { return "Bearer " + strings.Repeat("a", 1<<20) }, errTokenForm},
		"alg none": {func(r *rig) string {
			return "Bearer " + signed(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, r.claims())
		}, errTokenSignature},
		"another algorithm, our key": {func(r *rig) string { return "Bearer " + signed(t, jwt.SigningMethodHS512, testSecret, r.claims()) }, errTokenSignature},
		"another key": {func(r *rig) string {
			return "Bearer " + signed(t, jwt.SigningMethodHS256, []byte(strings.Repeat("x", 32)), r.claims())
		}, errTokenSignature},
		"our key, a widened scope": {func(r *rig) string { return "Bearer " + r.with(func(c *claims) { c.Scope = "*  " }) }, errTokenClaims},
		"our key, a later expiry": {func(r *rig) string {
			return "Bearer " + r.with(func(c *claims) { c.ExpiresAt.Time = c.ExpiresAt.Add(time.Hour) })
		}, errTokenClaims},
		"our key, another audience": {func(r *rig) string {
			return "Bearer " + r.with(func(c *claims) { c.Audience = jwt.ClaimStrings{"api"} })
		}, errTokenClaims},
		"our key, an unknown token id": {func(r *rig) string { return "Bearer " + r.with(func(c *claims) { c.ID = "made up" }) }, errTokenRevoked},
		"our key, the session forged":  {func(r *rig) string { return "Bearer " + r.with(func(c *claims) { c.Session = "ses_two" }) }, errTokenForeign},
		"replayed after its execution": {func(r *rig) string { r.access.Revoke(); return "Bearer " + r.access.Token() }, errTokenRevoked},
		"of another session": {func(r *rig) string {
			g := r.grant
			g.Session, g.Execution = "ses_two", "exe_two"
			other, err := r.bridge.Grant(g)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(other.Revoke)
			return "Bearer " + other.Token()
		}, errTokenForeign},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			for _, target := range []string{"/v1/tools/shop__find/call", "/v1/tools/no__such/call", "/nowhere"} {
				req := r.request(http.MethodPost, target, `{}`)
				req.Header.Set("Authorization", tc.header(r))
				w := r.send(req)
				if w.Code != http.StatusUnauthorized || w.Body.String() != errUnauthorized().body() {
					t.Errorf("%s answers %d %s", target, w.Code, w.Body)
				}
			}
			if calls := r.up.called(); len(calls) > 0 {
				t.Errorf("reached a tool: %v", calls)
			}
			records := r.records()
			if len(records) != 3 || records[0]["event"] != eventTokenRefused || records[0]["outcome"] != tc.reason.Error() || records[0]["session"] != "ses_one" {
				t.Errorf("audit is %v, want 3 refusals for %q", records, tc.reason)
			}
		})
	}
}

func TestTokenExpires(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ttl, deadline, wait time.Duration
		status              int
	}{
		"before":                               {time.Hour, time.Minute, 119 * time.Second, http.StatusOK},
		"a minute after the deadline":          {time.Hour, time.Minute, 121 * time.Second, http.StatusUnauthorized},
		"after the bridge's own bound":         {30 * time.Second, time.Hour, 31 * time.Second, http.StatusUnauthorized},
		"without a deadline, within the bound": {time.Hour, 0, 59 * time.Minute, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, func(o *Options, g *Grant) {
					o.TokenTTL = tc.ttl
					if tc.deadline > 0 {
						g.Deadline = time.Now().Add(tc.deadline)
					}
				})
				<-time.After(tc.wait) // by the clock of the bubble
				if status, body := r.call("shop__find", `{}`); status != tc.status {
					t.Errorf("got %d %s, want %d", status, body, tc.status)
				}
			})
		})
	}
}

func FuzzToken(f *testing.F) {
	r := newRig(f)
	f.Add("Bearer " + r.access.Token()[:40])
	f.Add("Bearer eyJhbGciOiJub25lIn0.e30.")
	f.Add("bearer ..")
	f.Fuzz(func(t *testing.T, header string) {
		if a, err := r.bridge.authenticate(http.Header{"Authorization": {header}}, "ses_one"); err == nil && a != r.access {
			t.Errorf("%q is taken", header)
		} else if err == nil && !strings.HasSuffix(header, r.access.Token()) {
			t.Errorf("%q is taken for the token", header)
		}
	})
}
