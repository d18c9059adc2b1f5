package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"

	"airlock/ident"
)

// IssuerOptions configure an Issuer. JWKSURL and Audience are required.
type IssuerOptions struct {
	// JWKSURL is where the provider publishes its keys (RFC 7517).
	JWKSURL string
	// Audience must be among those that a token is for (claim aud), so that a token
	// for another service is no good here.
	Audience string
	// Issuer must be the token's claim iss; empty accepts any that the keys sign for.
	Issuer string
	// Failed, if set, is told when the keys cannot be fetched. Until they can, tokens
	// signed with new ones are refused.
	Failed func(error)
}

// Issuer accepts JSON Web Tokens of one identity provider (RFC 7519, RFC 9068). The
// claim sub is the user; the claim scope grants airlock:reveal and airlock:approve
// beside the right to run. It may be used concurrently.
type Issuer struct {
	keys   keyfunc.Keyfunc
	parser *jwt.Parser
}

// algorithms are those with public keys: a secret that is shared with the provider
// would make every holder a provider.
var algorithms = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// leeway is how far the provider's clock may be off.
const leeway = 30 * time.Second

// fetchTime bounds one fetch of the provider's keys.
const fetchTime = 10 * time.Second

// NewIssuer fetches the provider's keys, and again from time to time until ctx ends.
func NewIssuer(ctx context.Context, o IssuerOptions) (*Issuer, error) {
	if o.JWKSURL == "" || o.Audience == "" {
		return nil, errors.New("tokens of a provider: AUTH_JWKS_URL and AUTH_AUDIENCE are required")
	}
	failed := func(string) func(context.Context, error) {
		return func(_ context.Context, err error) {
			if o.Failed != nil {
				o.Failed(err)
			}
		}
	}
	keys, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{o.JWKSURL}, keyfunc.Override{HTTPTimeout: fetchTime, RefreshErrorHandlerFunc: failed})
	if err != nil {
		return nil, fmt.Errorf("fetch the provider's keys from %s: %w", o.JWKSURL, err)
	}
	options := []jwt.ParserOption{jwt.WithValidMethods(algorithms), jwt.WithAudience(o.Audience), jwt.WithExpirationRequired(), jwt.WithLeeway(leeway)}
	if o.Issuer != "" {
		options = append(options, jwt.WithIssuer(o.Issuer))
	}
	return &Issuer{keys: keys, parser: jwt.NewParser(options...)}, nil
}

type claims struct {
	jwt.RegisteredClaims
	Scope string `json:"scope"`
}

// Authenticate accepts a token. The error wraps ErrUnauthorized if it is not good.
func (i *Issuer) Authenticate(ctx context.Context, credential string) (Caller, error) {
	var c claims
	if _, err := i.parser.ParseWithClaims(credential, &c, i.keys.KeyfuncCtx(ctx)); err != nil {
		return Caller{}, fmt.Errorf("%w: the token was refused: %s", ErrUnauthorized, reason(err))
	}
	user, err := ident.ParseUser(c.Subject)
	if err != nil {
		return Caller{}, fmt.Errorf("%w: the token's subject cannot be a user id: %w", ErrUnauthorized, err)
	}
	caller := Caller{User: user, Rights: Rights{Run: true}}
	for scope := range strings.FieldsSeq(c.Scope) {
		switch scope {
		case "airlock:reveal":
			caller.Rights.Reveal = true
		case "airlock:approve":
			caller.Rights.Approve = true
		}
	}
	return caller, nil
}

// reason puts a refusal into our own words: the parser's may quote the token.
func reason(err error) string {
	for _, known := range []struct {
		err  error
		text string
	}{
		{jwt.ErrTokenExpired, "it has expired"},
		{jwt.ErrTokenNotValidYet, "it is not valid yet"},
		{jwt.ErrTokenInvalidAudience, "it is for another audience"},
		{jwt.ErrTokenInvalidIssuer, "it is of another issuer"},
		{jwt.ErrTokenRequiredClaimMissing, "a claim is missing: exp and aud are needed"},
		{jwt.ErrTokenMalformed, "it is no JSON Web Token"},
		{jwt.ErrTokenSignatureInvalid, "its signature is wrong"},
		{jwt.ErrTokenUnverifiable, "no key of the provider fits it"},
	} {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	return "it is not valid"
}
