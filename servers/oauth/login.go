package oauth

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/oauth2"
)

// Login says what to sign in to.
type Login struct {
	// Server is the name that the token is kept under.
	Server string
	// URL is the server's address. It may hold a secret; errors do not show its
	// query.
	URL string
	// ClientID and ClientSecret are for authorization servers that take only
	// clients they know; without an id airlock registers itself.
	ClientID, ClientSecret string
	// Scopes are asked for in place of those that the server names.
	Scopes []string
	// Port is the loopback port for the answer, 0 for any that is free.
	Port int
	// Show is given the address at which the user signs in, and where it leads.
	Show func(address, authority string) error
}

// Login takes a user through signing in and keeps the token. It waits for the
// user until ctx ends.
func (c *Client) Login(ctx context.Context, l Login) error {
	if err := c.login(ctx, l); err != nil {
		return fmt.Errorf("sign in to server %q: %w", l.Server, err)
	}
	return nil
}

func (c *Client) login(ctx context.Context, l Login) error {
	server, err := url.Parse(l.URL)
	if err != nil {
		return errors.New("its url is not an address") // err would show it
	}
	if _, err := checked("its url", l.URL, isLoopback(server.Hostname())); err != nil {
		return err
	}
	d, err := c.discover(ctx, server)
	if err != nil {
		return err
	}
	scopes := l.Scopes
	if len(scopes) == 0 {
		scopes = d.scopes
	}
	answers, err := listen(ctx, l.Port, d.authority)
	if err != nil {
		return err
	}
	defer answers.close()
	client := known(d, l.ClientID, l.ClientSecret)
	if l.ClientID == "" {
		if client, err = c.register(ctx, d, answers.address(), scopes); err != nil {
			return err
		}
	}
	flow := newFlow(d, client, answers, scopes)
	if err := l.Show(flow.address(), d.Issuer); err != nil {
		return err
	}
	code, err := answers.wait(ctx)
	if err != nil {
		return err
	}
	token, err := flow.exchange(c.bound(ctx), code)
	if err != nil {
		return refused(ctx, "give a token for the code", err)
	}
	return c.keep(ctx, l, d, client, scopes, token)
}

func (c *Client) keep(ctx context.Context, l Login, d *discovered, client registered, scopes []string, token *oauth2.Token) error {
	if err := usable(token); err != nil {
		return err
	}
	return c.store.save(ctx, l.Server, record{
		URL: l.URL, Resource: d.resource, Issuer: d.Issuer, TokenURL: d.TokenEndpoint, Scopes: scopes,
		ClientID: client.id, ClientSecret: client.secret, InHeader: client.inHeader,
		AccessToken: token.AccessToken, RefreshToken: token.RefreshToken, Expiry: c.expiry(token),
	})
}

// bound makes package oauth2 use our client.
func (c *Client) bound(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient, c.http)
}

// tokenForm is what RFC 6750, section 2.1 allows: nothing that could end a header.
var tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

func usable(token *oauth2.Token) error {
	if !strings.EqualFold(token.Type(), "bearer") || !tokenForm.MatchString(token.AccessToken) {
		return errors.New("the authorization server gave a token that is no bearer token")
	}
	return nil
}

// flow is one attempt to sign in.
type flow struct {
	config   oauth2.Config
	resource string
	state    string
	verifier string
}

func newFlow(d *discovered, client registered, answers *answers, scopes []string) *flow {
	f := &flow{
		config: oauth2.Config{
			ClientID: client.id, ClientSecret: client.secret, RedirectURL: answers.address(), Scopes: scopes,
			Endpoint: oauth2.Endpoint{AuthURL: d.AuthorizationEndpoint, TokenURL: d.TokenEndpoint, AuthStyle: style(client.inHeader)},
		},
		resource: d.resource, state: rand.Text(), verifier: oauth2.GenerateVerifier(),
	}
	answers.expect(f.state)
	return f
}

func style(inHeader bool) oauth2.AuthStyle {
	if inHeader {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}

func (f *flow) address() string {
	return f.config.AuthCodeURL(f.state, oauth2.S256ChallengeOption(f.verifier), oauth2.SetAuthURLParam("resource", f.resource))
}

func (f *flow) exchange(ctx context.Context, code string) (*oauth2.Token, error) {
	return f.config.Exchange(ctx, code, oauth2.VerifierOption(f.verifier), oauth2.SetAuthURLParam("resource", f.resource))
}

// refusal is an authorization server's no, by the code that an RFC gives it.
type refusal struct {
	doing, code string
	status      int
}

func (r *refusal) Error() string {
	if r.code != "" {
		return fmt.Sprintf("the authorization server did not %s: %s", r.doing, r.code)
	}
	return fmt.Sprintf("the authorization server did not %s: HTTP status %d", r.doing, r.status)
}

// codes are those of RFC 6749 (4.1.2.1, 5.2), RFC 8707 and RFC 6750. Others
// could hold anything.
var codes = map[string]bool{
	"invalid_request": true, "invalid_client": true, "invalid_grant": true, "unauthorized_client": true, "unsupported_grant_type": true,
	"invalid_scope": true, "access_denied": true, "unsupported_response_type": true, "server_error": true, "temporarily_unavailable": true,
	"invalid_target": true, "invalid_token": true, "insufficient_scope": true,
}

// refused leaves out what the server wrote.
func refused(ctx context.Context, doing string, err error) error {
	var answer *oauth2.RetrieveError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &answer):
		r := &refusal{doing: doing, status: answer.Response.StatusCode}
		if codes[answer.ErrorCode] {
			r.code = answer.ErrorCode
		}
		return r
	}
	var network *url.Error
	var timeout net.Error
	if errors.As(err, &network) || errors.As(err, &timeout) {
		return fmt.Errorf("the authorization server could not be reached to %s", doing)
	}
	return fmt.Errorf("the authorization server did not %s: its answer is not in the form of OAuth", doing)
}
