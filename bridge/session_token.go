package bridge

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"airlock/ident"
)

const (
	minSecret     = 32 // bytes: the size of the HMAC's hash, RFC 7518 section 3.2
	tokenIssuer   = "airlock"
	tokenAudience = "bridge"
	// tokenGrace is how long a token outlives its execution's deadline, so that the
	// last call of a script does not lose a race. It dies with the execution anyway.
	tokenGrace = 60 * time.Second
	// maxToken bounds what is parsed at all: a scope of maxScope in base64, and the rest.
	maxToken = 8 << 10
)

// claims are what a session token says. The subject is the user's pseudonym, not
// the user id: a script can read its own token, and the id may be an e-mail address.
type claims struct {
	jwt.RegisteredClaims
	Session   ident.Session   `json:"sid"`
	Execution ident.Execution `json:"eid"`
	Scope     Scope           `json:"scope"`
}

// The ways a token can be wrong. They go into the audit log only: the answer is
// the same for all.
var (
	errNoToken        = errors.New("missing")
	errTokenForm      = errors.New("malformed")
	errTokenSignature = errors.New("signature")
	errTokenExpired   = errors.New("expired")
	errTokenClaims    = errors.New("claims")
	errTokenRevoked   = errors.New("revoked")
	errTokenForeign   = errors.New("other session")
)

// tokenAuthority signs and reads session tokens.
type tokenAuthority struct {
	secret []byte
	ttl    time.Duration
	parser *jwt.Parser
}

func newTokenAuthority(secret []byte, ttl time.Duration) tokenAuthority {
	return tokenAuthority{
		secret: bytes.Clone(secret), ttl: ttl,
		// Claims are checked by check, against the clock of the execution.
		parser: jwt.NewParser(jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(), jwt.WithoutClaimsValidation()),
	}
}

func (a tokenAuthority) sign(c claims) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(a.secret)
}

// expiry is when a token made now for an execution with this deadline ends.
func (a tokenAuthority) expiry(now, deadline time.Time) time.Time {
	latest := now.Add(a.ttl)
	if end := deadline.Add(tokenGrace); !deadline.IsZero() && end.Before(latest) {
		return end
	}
	return latest
}

// read returns the claims of a token that we signed, whether still valid or not.
func (a tokenAuthority) read(text string) (claims, error) {
	if len(text) > maxToken {
		return claims{}, errTokenForm
	}
	var c claims
	_, err := a.parser.ParseWithClaims(text, &c, func(*jwt.Token) (any, error) { return a.secret, nil })
	switch {
	case err == nil:
		return c, nil
	case errors.Is(err, jwt.ErrTokenMalformed):
		return claims{}, errTokenForm
	}
	return claims{}, errTokenSignature
}

// check compares claims with the time on the execution's clock.
func (a tokenAuthority) check(c claims, now time.Time) error {
	err := jwt.NewValidator(
		jwt.WithTimeFunc(func() time.Time { return now }), jwt.WithIssuedAt(), jwt.WithExpirationRequired(),
		jwt.WithIssuer(tokenIssuer), jwt.WithAudience(tokenAudience),
	).Validate(c)
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return errTokenExpired
	case err != nil:
		return errTokenClaims
	}
	return nil
}

// digest is what is kept of a token to recognise it.
func digest(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// sameSecret compares in a time that does not tell where two strings differ.
func sameSecret(a, b string) bool {
	x, y := digest(a), digest(b)
	return hmac.Equal(x[:], y[:])
}
