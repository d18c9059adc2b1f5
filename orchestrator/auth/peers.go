package auth

import (
	"errors"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"airlock/ident"
)

// Peers makes and checks the tokens by which processes that share users pass a request
// on: the one that knows the caller says to the other who it is. A token is for one
// process and one request. It may be used concurrently.
type Peers struct{ key []byte }

// Passed is one request that is passed on.
type Passed struct {
	// To is the process that it is for, as it is named when the request reaches it.
	To string
	// Method and URI are the request's; the URI is its path with its query.
	Method, URI string
	// Host is the name under which the caller reached the first process.
	Host string
	// Caller is who sent it.
	Caller Caller
}

const (
	// passTime is how long a token lives. A request is passed on at once; the clocks of
	// two machines may differ by leeway.
	passTime = 30 * time.Second
	// minPeersKey is the length of a key, in bytes.
	minPeersKey = 32
)

// NewPeers takes the key that all processes have, of 32 bytes or more, and which serves
// for nothing else.
func NewPeers(key []byte) (*Peers, error) {
	if len(key) < minPeersKey {
		return nil, fmt.Errorf("tokens between processes: the key has %d bytes, must have %d", len(key), minPeersKey)
	}
	return &Peers{append([]byte(nil), key...)}, nil
}

type passedClaims struct {
	jwt.RegisteredClaims
	Request string `json:"req"`
	Host    string `json:"host"`
	Rights  Rights `json:"rights"`
}

// Sign makes the token of a request.
func (p *Peers) Sign(r Passed) (string, error) {
	now := time.Now()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, passedClaims{
		RegisteredClaims: jwt.RegisteredClaims{
			Audience: jwt.ClaimStrings{r.To}, Subject: string(r.Caller.User),
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(passTime)),
		},
		Request: r.Method + " " + r.URI, Host: r.Host, Rights: r.Caller.Rights,
	})
	signed, err := token.SignedString(p.key)
	if err != nil {
		return "", fmt.Errorf("sign a token for another process: %w", err)
	}
	return signed, nil
}

// Check says who sent a request that came with a token, and under which name of the
// first process; of r it takes To, Method and URI. The error wraps ErrUnauthorized if
// the token is not good.
func (p *Peers) Check(token string, r Passed) (Passed, error) {
	var c passedClaims
	_, err := jwt.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return p.key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithAudience(r.To), jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(leeway))
	switch {
	case err != nil:
		return Passed{}, fmt.Errorf("%w: the token of another process was refused: %s", ErrUnauthorized, reason(err))
	case r.To == "" || c.Request != r.Method+" "+r.URI:
		return Passed{}, fmt.Errorf("%w: the token of another process is for another request", ErrUnauthorized)
	}
	r.Host, r.Caller = c.Host, Caller{Rights: c.Rights}
	if c.Subject != "" {
		if r.Caller.User, err = ident.ParseUser(c.Subject); err != nil {
			return Passed{}, errors.Join(ErrUnauthorized, err)
		}
	}
	return r, nil
}
