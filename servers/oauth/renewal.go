package oauth

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/oauth2"
)

// early is how long before its end a token is renewed: longer than a request
// takes to arrive, and than two clocks differ.
const early = time.Minute

// Token returns the access token for the server at an address, renewed if it is
// about to end, and "" if nobody signed in at that address. An error that wraps
// ErrSignIn means that only signing in again helps.
func (c *Client) Token(ctx context.Context, server, address string) (string, error) {
	r, err := c.find(ctx, server, address)
	if r == nil || err != nil {
		return "", err
	}
	left := r.Expiry.Sub(c.now())
	if r.Expiry.IsZero() || left > early {
		return r.AccessToken, nil
	}
	token, err := c.renew(ctx, server, address, r.AccessToken)
	if err != nil && left > 0 && !errors.Is(err, ErrSignIn) {
		return r.AccessToken, nil // it is still good, and next time it may work
	}
	return token, err
}

// Renew returns a token in place of one that the server refused. An error that
// wraps ErrSignIn means that only signing in again helps.
func (c *Client) Renew(ctx context.Context, server, address, refused string) (string, error) {
	return c.renew(ctx, server, address, refused)
}

func (c *Client) find(ctx context.Context, server, address string) (*record, error) {
	r, err := c.store.load(ctx, server)
	if err != nil || r == nil || r.URL != address {
		return nil, err // a token for another address is not for this one
	}
	return r, nil
}

// renewal is one that is under way. Its result is set before done is closed.
type renewal struct {
	done  chan struct{}
	token string
	err   error
}

// renew lets those who were refused with the same token share one renewal: a
// refresh token may be good for a single use. What was begun goes on when its
// callers give up, as the old refresh token may be spent by then and the new one
// would be lost.
func (c *Client) renew(ctx context.Context, server, address, spent string) (string, error) {
	key := [3]string{server, address, spent}
	c.mu.Lock()
	r := c.renewing[key]
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		c.renewing[key] = r
		c.work.Go(func() {
			own, cancel := context.WithTimeout(context.WithoutCancel(ctx), fetchTime)
			defer cancel()
			r.token, r.err = c.renewOnce(own, server, address, spent)
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.renewing, key)
			close(r.done)
		})
	}
	c.mu.Unlock()
	select {
	case <-r.done:
		return r.token, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// renewOnce looks first whether somebody else has renewed it meanwhile.
func (c *Client) renewOnce(ctx context.Context, server, address, spent string) (string, error) {
	r, err := c.find(ctx, server, address)
	if err != nil {
		return "", err
	}
	if r == nil {
		return "", signIn("nobody is signed in")
	}
	if r.AccessToken != spent {
		return r.AccessToken, nil
	}
	if r.RefreshToken == "" {
		return "", signIn("the sign-in has ended")
	}
	token, err := c.refresh(ctx, r)
	if err == nil {
		return token.AccessToken, c.keepRenewed(ctx, server, *r, token)
	}
	var no *refusal
	if !errors.As(err, &no) || no.code != "invalid_grant" && no.code != "invalid_client" && no.code != "unauthorized_client" {
		return "", fmt.Errorf("renew the token for server %q: %w; try again later", server, err)
	}
	if again, err := c.find(ctx, server, address); err == nil && again != nil && again.RefreshToken != r.RefreshToken {
		return again.AccessToken, nil // another process was quicker
	}
	return "", signIn("the sign-in has ended: " + no.code)
}

func signIn(reason string) error { return fmt.Errorf("%s: %w", reason, ErrSignIn) }

// refresh sends the request that package oauth2 makes for a code with the other
// grant: its own way of refreshing takes no resource (RFC 8707), which MCP
// demands. A parameter without a value counts as left out (RFC 6749, section 3.2).
func (c *Client) refresh(ctx context.Context, r *record) (*oauth2.Token, error) {
	config := oauth2.Config{
		ClientID: r.ClientID, ClientSecret: r.ClientSecret,
		Endpoint: oauth2.Endpoint{TokenURL: r.TokenURL, AuthStyle: style(r.InHeader)},
	}
	token, err := config.Exchange(c.bound(ctx), "", oauth2.SetAuthURLParam("grant_type", "refresh_token"),
		oauth2.SetAuthURLParam("refresh_token", r.RefreshToken), oauth2.SetAuthURLParam("resource", r.Resource))
	if err != nil {
		return nil, refused(ctx, "renew the token", err)
	}
	return token, usable(token)
}

func (c *Client) keepRenewed(ctx context.Context, server string, r record, token *oauth2.Token) error {
	r.AccessToken, r.RefreshToken, r.Expiry = token.AccessToken, token.RefreshToken, c.expiry(token)
	return c.store.save(ctx, server, r)
}

// expiry is by our clock, where package oauth2 takes the system's.
func (c *Client) expiry(token *oauth2.Token) time.Time {
	if token.ExpiresIn > 0 {
		return c.now().Add(time.Duration(token.ExpiresIn) * time.Second)
	}
	return token.Expiry
}
