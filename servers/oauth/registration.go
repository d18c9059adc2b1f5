package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// registered is airlock as an authorization server knows it.
type registered struct {
	id, secret string
	inHeader   bool
}

// The ways to authenticate at the token endpoint (RFC 7591, section 2).
const (
	authNone  = "none"
	authBasic = "client_secret_basic"
	authPost  = "client_secret_post"
)

// register makes airlock known to an authorization server that takes anyone, for
// one redirect address.
func (c *Client) register(ctx context.Context, d *discovered, redirect string, scopes []string) (registered, error) {
	if d.RegistrationEndpoint == "" {
		return registered{}, fmt.Errorf("the authorization server %s registers no clients by itself; register airlock there with the redirect address %s and write its id into oauth.clientId in catalog.json",
			d.Issuer, redirect)
	}
	body, err := json.Marshal(map[string]any{
		"client_name": "airlock", "redirect_uris": []string{redirect}, "application_type": "native",
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
		"token_endpoint_auth_method": authNone, "scope": strings.Join(scopes, " "),
	})
	if err != nil {
		return registered{}, err
	}
	u, err := url.Parse(d.RegistrationEndpoint)
	if err != nil {
		return registered{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.RegistrationEndpoint, bytes.NewReader(body))
	if err != nil {
		return registered{}, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json")
	response, err := c.http.Do(r)
	if err != nil {
		return registered{}, unreachable(ctx, u)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusCreated && response.StatusCode != http.StatusOK {
		return registered{}, fmt.Errorf("%s refused to register airlock with HTTP status %d", place(u), response.StatusCode)
	}
	return parseRegistration(response)
}

func parseRegistration(response *http.Response) (registered, error) {
	var answer struct {
		ID     string `json:"client_id"`
		Secret string `json:"client_secret"`
		Method string `json:"token_endpoint_auth_method"`
	}
	if err := decode(response.Body, &answer); err != nil {
		return registered{}, fmt.Errorf("register airlock: %w", err)
	}
	if answer.ID == "" {
		return registered{}, errors.New("register airlock: the answer holds no client_id")
	}
	if answer.Method == authNone {
		answer.Secret = ""
	}
	return registered{id: answer.ID, secret: answer.Secret, inHeader: answer.Method == authBasic}, nil
}

// known is a client that somebody registered. Without a word from the metadata
// the secret goes into a header, the default of RFC 8414, section 2.
func known(d *discovered, id, secret string) registered {
	only := slices.Contains(d.AuthMethods, authPost) && !slices.Contains(d.AuthMethods, authBasic)
	return registered{id: id, secret: secret, inHeader: secret != "" && !only}
}
