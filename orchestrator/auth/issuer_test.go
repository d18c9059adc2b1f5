package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// newProvider publishes one key and gives its private half and the URL.
func newProvider(t *testing.T) (*ecdsa.PrivateKey, string) {
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
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(set)) }))
	t.Cleanup(server.Close)
	return key, server.URL
}

func TestIssuer(t *testing.T) {
	t.Parallel()
	key, url := newProvider(t)
	other, _ := newProvider(t)
	issuer, err := NewIssuer(t.Context(), IssuerOptions{JWKSURL: url, Audience: "airlock", Issuer: "https://id.example"})
	if err != nil {
		t.Fatal(err)
	}
	good := func(change map[string]any) jwt.MapClaims {
		c := jwt.MapClaims{"sub": "ann@example.org", "aud": "airlock", "iss": "https://id.example", "exp": time.Now().Add(time.Minute).Unix(), "scope": "openid airlock:reveal"}
		for name, value := range change {
			if c[name] = value; value == nil {
				delete(c, name)
			}
		}
		return c
	}
	sign := func(method jwt.SigningMethod, with any, claims jwt.MapClaims) string {
		token := jwt.NewWithClaims(method, claims)
		token.Header["kid"] = "one"
		text, err := token.SignedString(with)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	caller, err := issuer.Authenticate(t.Context(), sign(jwt.SigningMethodES256, key, good(nil)))
	if want := (Caller{User: "ann@example.org", Rights: Rights{Run: true, Reveal: true}}); err != nil || caller != want {
		t.Errorf("the token stands for %+v, %v", caller, err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ token, says string }{
		"expired":                            {sign(jwt.SigningMethodES256, key, good(map[string]any{"exp": time.Now().Add(-time.Hour).Unix()})), "expired"},
		"without an end":                     {sign(jwt.SigningMethodES256, key, good(map[string]any{"exp": nil})), "missing"},
		"for somebody else":                  {sign(jwt.SigningMethodES256, key, good(map[string]any{"aud": "bank"})), "audience"},
		"for nobody":                         {sign(jwt.SigningMethodES256, key, good(map[string]any{"aud": nil})), ""},
		"of another issuer":                  {sign(jwt.SigningMethodES256, key, good(map[string]any{"iss": "https://evil.example"})), "issuer"},
		"by another key":                     {sign(jwt.SigningMethodES256, other, good(nil)), "signature"},
		"unsigned":                           {sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, good(nil)), ""},
		"signed with the public key (HS256)": {sign(jwt.SigningMethodHS256, point, good(nil)), ""},
		"not before tomorrow":                {sign(jwt.SigningMethodES256, key, good(map[string]any{"nbf": time.Now().Add(time.Hour).Unix()})), "not valid yet"},
		"of a user of no form":               {sign(jwt.SigningMethodES256, key, good(map[string]any{"sub": "../ann"})), "user id"},
		"of nobody":                          {sign(jwt.SigningMethodES256, key, good(map[string]any{"sub": nil})), "user id"},
		"no token":                           {"alk_abc", "no JSON Web Token"},
	} {
		caller, err := issuer.Authenticate(t.Context(), tc.token)
		if !errors.Is(err, ErrUnauthorized) || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %+v, %v", name, caller, err)
		}
	}
}

func TestIssuerWithoutItsKeysAcceptsNobody(t *testing.T) {
	t.Parallel()
	key, _ := newProvider(t)
	down := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(down.Close)
	told := make(chan error, 10)
	issuer, err := NewIssuer(t.Context(), IssuerOptions{JWKSURL: down.URL, Audience: "airlock", Failed: func(err error) { told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-told; err == nil {
		t.Error("no failure was told")
	}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, jwt.MapClaims{"sub": "ann", "aud": "airlock", "exp": time.Now().Add(time.Minute).Unix()})
	token.Header["kid"] = "one"
	text, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	if caller, err := issuer.Authenticate(t.Context(), text); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("accepted as %+v, %v", caller, err)
	}
}
