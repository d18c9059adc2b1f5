// Package oauth signs in to remote MCP servers and keeps the tokens, as the MCP
// specification of 2025-11-25 describes for clients: protected resource metadata
// (RFC 9728), authorization server metadata (RFC 8414), dynamic registration
// (RFC 7591), authorization code with PKCE (RFC 7636) over a loopback redirect
// (RFC 8252), resource indicators (RFC 8707) and the issuer in the answer
// (RFC 9207).
//
// Client.Login is for a person at a browser. Client.Token and Client.Renew are
// for the calls afterwards. A token belongs to the address that was signed in
// to: for another one there is none. Everything that is kept is sealed with the
// key of the options. Methods may be called concurrently, also by several
// processes over one store; they return soon after their context ends.
//
// What servers say is foreign. No error holds any of it but error codes that the
// RFCs define, and addresses without their queries.
package oauth

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

// Store keeps sealed records by name. Get returns an error for which
// errors.Is(err, fs.ErrNotExist) holds when there is none of that name.
type Store interface {
	Put(ctx context.Context, name string, sealed []byte) error
	Get(ctx context.Context, name string) ([]byte, error)
	Delete(ctx context.Context, name string) error
}

// Options are what a Client is made of.
type Options struct {
	Store Store
	// Key seals what is kept: 32 random bytes, held apart from the store.
	Key []byte
	// Transport carries requests to authorization servers; http.DefaultTransport
	// if nil.
	Transport http.RoundTripper
	// Now tells the time; time.Now if nil.
	Now func() time.Time
}

// Client signs in and keeps tokens.
type Client struct {
	store sealedStore
	http  *http.Client
	now   func() time.Time

	work sync.WaitGroup // renewals under way

	mu       sync.Mutex             // guards what follows
	renewing map[[3]string]*renewal // by server, address and spent token
}

// The limits of everything that is fetched.
const (
	fetchTime  = 30 * time.Second
	fetchBytes = 1 << 20
)

// New checks the options.
func New(o Options) (*Client, error) {
	if o.Store == nil {
		return nil, errors.New("oauth: Options.Store is missing")
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	sealed, err := newSealedStore(o.Store, o.Key)
	if err != nil {
		return nil, err
	}
	return &Client{
		store: sealed, now: o.Now, renewing: map[[3]string]*renewal{},
		// A redirect would carry codes and secrets to where nobody checked.
		http: &http.Client{
			Transport: o.Transport, Timeout: fetchTime,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// ErrSignIn is wrapped when only a person can help, by signing in.
var ErrSignIn = errors.New("sign in again")

// Logout forgets the token for a server. Forgetting none is no error.
func (c *Client) Logout(ctx context.Context, server string) error {
	return c.store.delete(ctx, server)
}

// Close waits for renewals that are under way, at most half a minute. The store
// may be closed after it.
func (c *Client) Close() error {
	c.work.Wait()
	return nil
}
