package auth

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
)

func TestTokenOfAPeerIsForOneProcessAndOneRequest(t *testing.T) {
	t.Parallel()
	peers, err := NewPeers(bytes.Repeat([]byte{1}, 32))
	if err != nil {
		t.Fatal(err)
	}
	sent := Passed{To: "b", Method: "GET", URI: "/tasks?userId=ann", Host: "localhost:3000", Caller: Caller{User: "ann", Rights: Rights{Run: true, Reveal: true}}}
	token, err := peers.Sign(sent)
	if err != nil {
		t.Fatal(err)
	}
	got, err := peers.Check(token, Passed{To: "b", Method: "GET", URI: "/tasks?userId=ann"})
	if err != nil || got != sent {
		t.Errorf("it says %+v, %v; want %+v", got, err, sent)
	}
	other, err := NewPeers(bytes.Repeat([]byte{2}, 32))
	if err != nil {
		t.Fatal(err)
	}
	for name, check := range map[string]func() error{
		"another process": func() error { _, err := peers.Check(token, Passed{To: "c", Method: "GET", URI: sent.URI}); return err },
		"no process":      func() error { _, err := peers.Check(token, Passed{Method: "GET", URI: sent.URI}); return err },
		"another method":  func() error { _, err := peers.Check(token, Passed{To: "b", Method: "POST", URI: sent.URI}); return err },
		"another path":    func() error { _, err := peers.Check(token, Passed{To: "b", Method: "GET", URI: "/tasks"}); return err },
		"another key":     func() error { _, err := other.Check(token, Passed{To: "b", Method: "GET", URI: sent.URI}); return err },
		"no token":        func() error { _, err := peers.Check("", Passed{To: "b", Method: "GET", URI: sent.URI}); return err },
		"another algorithm": func() error {
			unsigned, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims{"aud": "b", "req": "GET " + sent.URI, "exp": time.Now().Add(time.Minute).Unix()}).SignedString(jwt.UnsafeAllowNoneSignatureType)
			if err != nil {
				t.Fatal(err)
			}
			_, err = peers.Check(unsigned, Passed{To: "b", Method: "GET", URI: sent.URI})
			return err
		},
		"an old one": func() error {
			old, err := jwt.NewWithClaims(jwt.SigningMethodHS256, jwt.MapClaims{"aud": "b", "req": "GET " + sent.URI, "exp": time.Now().Add(-leeway - time.Second).Unix()}).SignedString(peers.key)
			if err != nil {
				t.Fatal(err)
			}
			_, err = peers.Check(old, Passed{To: "b", Method: "GET", URI: sent.URI})
			return err
		},
	} {
		if err := check(); !errors.Is(err, ErrUnauthorized) {
			t.Errorf("%s: %v, want ErrUnauthorized", name, err)
		}
	}
	if _, err := NewPeers(make([]byte, 31)); err == nil {
		t.Error("a short key is taken")
	}
}
