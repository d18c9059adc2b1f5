package oauth

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// record is what is kept for a server: the token, and what renewing it takes.
type record struct {
	Version int
	// URL is the server's address that was signed in to.
	URL string
	// Resource is the identifier that tokens are asked for (RFC 8707).
	Resource string
	Issuer   string
	TokenURL string
	Scopes   []string

	ClientID     string
	ClientSecret string
	InHeader     bool // the secret goes into a header (client_secret_basic)

	AccessToken  string
	RefreshToken string
	// Expiry is zero where the server did not say.
	Expiry time.Time
}

const recordVersion = 1

// sealedStore encrypts records with AES-256-GCM, bound to their names.
type sealedStore struct {
	store Store
	aead  cipher.AEAD
}

// keyBytes is the length of an AES-256 key.
const keyBytes = 32

func newSealedStore(store Store, key []byte) (sealedStore, error) {
	if len(key) != keyBytes {
		return sealedStore{}, fmt.Errorf("oauth: Options.Key has %d bytes, must have %d", len(key), keyBytes)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealedStore{}, fmt.Errorf("oauth: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return sealedStore{}, fmt.Errorf("oauth: %w", err)
	}
	return sealedStore{store, aead}, nil
}

func recordName(server string) string { return "oauth/" + server }

func (s sealedStore) save(ctx context.Context, server string, r record) error {
	r.Version = recordVersion
	plain, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep the token for server %q: %w", server, err)
	}
	name := recordName(server)
	if err := s.store.Put(ctx, name, s.aead.Seal(nil, nil, plain, []byte(name))); err != nil {
		return fmt.Errorf("keep the token for server %q: %w", server, err)
	}
	return nil
}

var errDamaged = errors.New("it was sealed with another key, or was changed")

// load returns nil if there is nothing.
func (s sealedStore) load(ctx context.Context, server string) (*record, error) {
	name := recordName(server)
	sealed, err := s.store.Get(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the token for server %q: %w", server, err)
	}
	plain, err := s.aead.Open(nil, nil, sealed, []byte(name))
	var r record
	if err != nil || json.Unmarshal(plain, &r) != nil || r.Version != recordVersion {
		return nil, fmt.Errorf("read the token for server %q: %w: %w", server, errDamaged, ErrSignIn)
	}
	return &r, nil
}

func (s sealedStore) delete(ctx context.Context, server string) error {
	if err := s.store.Delete(ctx, recordName(server)); err != nil {
		return fmt.Errorf("forget the token for server %q: %w", server, err)
	}
	return nil
}
