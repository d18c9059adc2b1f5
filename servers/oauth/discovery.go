package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// resource is what a server says about who may use it.
type resource struct {
	Resource             string   `json:"resource"`
	AuthorizationServers []string `json:"authorization_servers"`
	ScopesSupported      []string `json:"scopes_supported"`
}

// authority is the metadata of an authorization server.
type authority struct {
	Issuer                string   `json:"issuer"`
	AuthorizationEndpoint string   `json:"authorization_endpoint"`
	TokenEndpoint         string   `json:"token_endpoint"`
	RegistrationEndpoint  string   `json:"registration_endpoint"`
	ChallengeMethods      []string `json:"code_challenge_methods_supported"`
	AuthMethods           []string `json:"token_endpoint_auth_methods_supported"`
	NamesIssuer           bool     `json:"authorization_response_iss_parameter_supported"`
}

// discovered is all that signing in to a server takes.
type discovered struct {
	resource string
	scopes   []string
	authority
	local bool // the MCP server is on this machine
}

// discover asks a server who guards it, and that one how.
func (c *Client) discover(ctx context.Context, server *url.URL) (*discovered, error) {
	d := &discovered{resource: canonical(server), local: isLoopback(server.Hostname())}
	challenge, err := c.challenge(ctx, server)
	if err != nil {
		return nil, err
	}
	metadata, err := c.resourceMetadata(ctx, server, challenge)
	if err != nil {
		return nil, err
	}
	issuer := server.Scheme + "://" + server.Host // servers from before RFC 9728 guard themselves
	if metadata != nil {
		if len(metadata.AuthorizationServers) == 0 {
			return nil, errors.New("its metadata names no authorization server")
		}
		d.resource, d.scopes, issuer = metadata.Resource, metadata.ScopesSupported, metadata.AuthorizationServers[0]
	}
	if challenge.scope != "" {
		d.scopes = strings.Fields(challenge.scope)
	}
	a, err := c.authorityMetadata(ctx, issuer, d.local)
	if err != nil {
		return nil, err
	}
	d.authority = *a
	return d, nil
}

// challenge asks the server without a token, which it should refuse with a hint
// where its metadata is.
func (c *Client) challenge(ctx context.Context, server *url.URL) (bearerChallenge, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.String(), bytes.NewReader([]byte(
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"airlock","version":"1"}}}`)))
	if err != nil {
		return bearerChallenge{}, errors.New("its url is not an address")
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	response, err := c.http.Do(r)
	if err != nil {
		return bearerChallenge{}, unreachable(ctx, server)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		return bearerChallenge{}, nil
	}
	return parseChallenge(response.Header.Values("WWW-Authenticate")), nil
}

func unreachable(ctx context.Context, u *url.URL) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s could not be reached", place(u))
}

// resourceMetadata is nil if the server has none. A hint to another origin is
// not followed.
func (c *Client) resourceMetadata(ctx context.Context, server *url.URL, hint bearerChallenge) (*resource, error) {
	addresses := []string{wellKnown(server, "oauth-protected-resource"), wellKnown(&url.URL{Scheme: server.Scheme, Host: server.Host}, "oauth-protected-resource")}
	if hint.metadata != "" {
		u, err := url.Parse(hint.metadata)
		if err != nil || u.Host == "" || origin(u) != origin(server) {
			return nil, errors.New("it says that its metadata is on another origin; do not sign in to it")
		}
		addresses = []string{hint.metadata}
	}
	for _, address := range addresses {
		var r resource
		found, err := c.fetch(ctx, address, isLoopback(server.Hostname()), &r)
		if err != nil {
			return nil, fmt.Errorf("read its protected resource metadata: %w", err)
		}
		if found {
			return &r, binds(r.Resource, server)
		}
	}
	if hint.metadata != "" {
		return nil, errors.New("its protected resource metadata is not where it says")
	}
	return nil, nil
}

var errIssuer = errors.New("the authorization server's metadata names another issuer; do not sign in to it")

// authorityMetadata tries the three places that MCP names.
func (c *Client) authorityMetadata(ctx context.Context, issuer string, local bool) (*authority, error) {
	u, err := checked("the authorization server's issuer", issuer, local)
	if err != nil {
		return nil, err
	}
	addresses := []string{wellKnown(u, "oauth-authorization-server"), wellKnown(u, "openid-configuration")}
	if path := strings.TrimSuffix(u.Path, "/"); path != "" {
		behind := url.URL{Scheme: u.Scheme, Host: u.Host, Path: path + "/.well-known/openid-configuration"}
		addresses = append(addresses, behind.String())
	}
	for _, address := range addresses {
		var a authority
		found, err := c.fetch(ctx, address, local, &a)
		if err != nil {
			return nil, fmt.Errorf("read the authorization server's metadata: %w", err)
		}
		if found {
			return &a, a.check(issuer, local)
		}
	}
	return nil, fmt.Errorf("the authorization server %s publishes no metadata", place(u))
}

// check compares the issuer as RFC 8414, section 3.3 asks, letter by letter but
// for the slash that some write after a bare host.
func (a *authority) check(issuer string, local bool) error {
	if strings.TrimSuffix(a.Issuer, "/") != strings.TrimSuffix(issuer, "/") {
		return errIssuer
	}
	for what, address := range map[string]string{"authorization_endpoint": a.AuthorizationEndpoint, "token_endpoint": a.TokenEndpoint} {
		if _, err := checked("the authorization server's "+what, address, local); err != nil {
			return err
		}
	}
	if a.RegistrationEndpoint != "" {
		if _, err := checked("the authorization server's registration_endpoint", a.RegistrationEndpoint, local); err != nil {
			return err
		}
	}
	if !slices.Contains(a.ChallengeMethods, "S256") {
		return errors.New("the authorization server does not say that it supports PKCE with S256, without which codes can be stolen")
	}
	return nil
}

// fetch reads a JSON document. One that is not there is no error: metadata is
// looked for in several places.
func (c *Client) fetch(ctx context.Context, address string, local bool, into any) (bool, error) {
	u, err := checked("the address", address, local)
	if err != nil {
		return false, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, errors.New("the address is not valid")
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	response, err := c.http.Do(r)
	if err != nil {
		return false, unreachable(ctx, u)
	}
	defer response.Body.Close()
	if response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests {
		return false, fmt.Errorf("%s answered with HTTP status %d; try again later", place(u), response.StatusCode)
	}
	if response.StatusCode != http.StatusOK {
		return false, nil
	}
	if err := decode(response.Body, into); err != nil {
		return false, fmt.Errorf("%s: %w", place(u), err)
	}
	return true, nil
}

var errDocument = errors.New("what it answered is no JSON document of at most 1 MiB")

func decode(body io.Reader, into any) error {
	text, err := io.ReadAll(io.LimitReader(body, fetchBytes+1))
	if err != nil || len(text) > fetchBytes || json.Unmarshal(text, into) != nil {
		return errDocument
	}
	return nil
}
