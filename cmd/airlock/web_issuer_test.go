package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// issuer publishes its key and gives tokens for it.
type issuer struct {
	keys, tokens string // URLs
}

// tolerated is how long after its end a token is still taken.
const tolerated = 30 * time.Second

// newIssuer serves an identity provider: each GET of its tokens gives one that is good for
// the seconds in its query.
func newIssuer(t *testing.T) issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	b64 := base64.RawURLEncoding.EncodeToString
	set := fmt.Sprintf(`{"keys":[{"kty":"EC","crv":"P-256","kid":"one","alg":"ES256","use":"sig","x":%q,"y":%q}]}`, b64(point[1:33]), b64(point[33:]))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(set)) })
	mux.HandleFunc("GET /token", func(w http.ResponseWriter, r *http.Request) {
		good, err := time.ParseDuration(r.URL.Query().Get("good"))
		if err != nil {
			t.Error(err)
		}
		token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{
			"sub": "ann@example.org", "aud": "airlock", "scope": "airlock:reveal airlock:approve", "exp": time.Now().Add(good - tolerated).Unix(),
		})
		token.Header["kid"] = "one"
		text, err := token.SignedString(key)
		if err != nil {
			t.Error(err)
		}
		_, _ = w.Write([]byte(text))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return issuer{server.URL + "/keys", server.URL + "/token"}
}

func (i issuer) trusted(c *Config) {
	c.Auth, c.AuthJWKSURL, c.AuthAudience = "jwt", i.keys, "airlock"
	c.RateLimitMax, c.RateLimitWindowMs = 1000, 60_000
}
