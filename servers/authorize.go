package servers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// Authorizer gives the tokens of people who signed in to remote servers. It may
// be called concurrently.
type Authorizer interface {
	// Token returns the access token for a server at an address, "" if there is
	// none. Errors hold nothing that a server said.
	Token(ctx context.Context, server, url string) (string, error)
	// Renew returns a token in place of one that the server refused.
	Renew(ctx context.Context, server, url, refused string) (string, error)
}

// authorized is a RoundTripper that adds the entry's token to what goes to the
// entry's own origin, and to nothing else.
type authorized struct {
	next http.RoundTripper
	up   *upstream
	home *url.URL
}

// authorize leaves requests alone where nobody can have signed in, or where the
// catalog brings the credentials.
func (u *upstream) authorize(next http.RoundTripper) http.RoundTripper {
	home, err := url.Parse(u.entry.launch.url)
	if err != nil || u.manager.options.Authorizer == nil {
		return next
	}
	for name := range u.entry.launch.headers {
		if strings.EqualFold(name, "Authorization") {
			return next
		}
	}
	return &authorized{next: next, up: u, home: home}
}

func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != a.home.Scheme || r.URL.Host != a.home.Host {
		return a.next.RoundTrip(r)
	}
	source := a.up.manager.options.Authorizer
	token, err := source.Token(r.Context(), a.up.entry.Name, a.up.entry.launch.url)
	if err != nil {
		return nil, a.failed(r, err)
	}
	if token == "" {
		return a.next.RoundTrip(r)
	}
	response, err := a.next.RoundTrip(with(r, token))
	if err != nil || response.StatusCode != http.StatusUnauthorized || r.Body != nil && r.GetBody == nil {
		return response, err
	}
	// The server has not taken the request, so it may be sent again.
	_ = response.Body.Close()
	if token, err = source.Renew(r.Context(), a.up.entry.Name, a.up.entry.launch.url, token); err != nil {
		return nil, a.failed(r, err)
	}
	again := with(r, token)
	if r.GetBody != nil {
		if again.Body, err = r.GetBody(); err != nil {
			return nil, fmt.Errorf("send the request again: %w", err)
		}
	}
	return a.next.RoundTrip(again)
}

func with(r *http.Request, token string) *http.Request {
	clone := r.Clone(r.Context())
	clone.Header.Set("Authorization", "Bearer "+token)
	return clone
}

// failed notes what is wrong with the token where the call will look for it.
func (a *authorized) failed(r *http.Request, err error) error {
	if r.Body != nil {
		_ = r.Body.Close() // as a RoundTripper must
	}
	if ctx := r.Context().Err(); ctx != nil {
		return ctx
	}
	x, _ := r.Context().Value(exchangeKey{}).(*exchange)
	own := a.up.fail(doCall, ErrUpstream, err.Error(), a.up.signInHint())
	if x != nil {
		x.denied.Store(own)
	}
	return own
}

func (u *upstream) signInHint() string {
	return fmt.Sprintf("run: airlock servers login %s", u.entry.Name)
}

// credentialsHint is for a server that wants to know who calls.
func (u *upstream) credentialsHint() string {
	hint := "check the credentials in headers or inputs of catalog.json"
	if u.manager.options.Authorizer != nil {
		hint += ", or sign in: airlock servers login " + u.entry.Name
	}
	return hint
}
