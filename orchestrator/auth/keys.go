package auth

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"airlock/ident"
)

// Store keeps values under names. Get's error wraps fs.ErrNotExist for a name that
// holds none; a write is seen whole or not at all, by other processes too.
type Store interface {
	Put(ctx context.Context, name string, value []byte) error
	Get(ctx context.Context, name string) ([]byte, error)
	Delete(ctx context.Context, name string) error
	// List gives the names right below a folder.
	List(ctx context.Context, folder string) ([]string, error)
}

// Key is what is known of an API key. The key itself is told once, by Create.
type Key struct {
	ID      string     `json:"id"`
	User    ident.User `json:"userId"`
	Rights  Rights     `json:"rights"`
	Note    string     `json:"note,omitempty"`
	Created time.Time  `json:"created"`
}

// record is a key as it is kept, sealed, as a user's id may be personal.
type record struct {
	Key
	Hash []byte // SHA-256 of the secret, which is as random as the hash is long
}

// Keys are the API keys of an installation. They are read from the store each time,
// so that a key counts, and counts no more, at once and in every process. Its methods
// may be called concurrently.
type Keys struct {
	store Store
	aead  cipher.AEAD
}

// NewKeys keeps keys in store, sealed with 32 bytes that are not kept there.
func NewKeys(store Store, key []byte) (*Keys, error) {
	if len(key) != sha256.Size {
		return nil, fmt.Errorf("api keys: the sealing key has %d bytes, must have %d", len(key), sha256.Size)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("api keys: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("api keys: %w", err)
	}
	return &Keys{store: store, aead: aead}, nil
}

// An API key is the prefix, its id and its secret, so that it can be found without a
// search and recognised where it does not belong.
const (
	keyPrefix = "alk_"
	idLength  = 12
	folder    = "keys"
)

// Create makes a key and returns it as its holder sends it.
func (k *Keys) Create(ctx context.Context, user ident.User, rights Rights, note string) (Key, string, error) {
	id, secret := strings.ToLower(rand.Text()[:idLength]), rand.Text()
	hash := sha256.Sum256([]byte(secret))
	r := record{Key: Key{ID: id, User: user, Rights: rights, Note: note, Created: time.Now().UTC().Truncate(time.Second)}, Hash: hash[:]}
	plain, err := json.Marshal(r)
	if err != nil {
		return Key{}, "", fmt.Errorf("keep an API key: %w", err)
	}
	name := folder + "/" + id
	if err := k.store.Put(ctx, name, k.aead.Seal(nil, nil, plain, []byte(name))); err != nil {
		return Key{}, "", fmt.Errorf("keep an API key: %w", err)
	}
	return r.Key, keyPrefix + id + "_" + secret, nil
}

// List gives all keys, the oldest first.
func (k *Keys) List(ctx context.Context) ([]Key, error) {
	names, err := k.store.List(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("list API keys: %w", err)
	}
	var all []Key
	for _, id := range names {
		r, err := k.load(ctx, id)
		if errors.Is(err, fs.ErrNotExist) {
			continue // revoked meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, r.Key)
	}
	slices.SortFunc(all, func(a, b Key) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return all, nil
}

// Revoke ends a key. The error wraps fs.ErrNotExist if there is none of that id.
func (k *Keys) Revoke(ctx context.Context, id string) error {
	if !isID(id) {
		return fmt.Errorf("revoke API key: %w", fs.ErrNotExist)
	}
	if _, err := k.store.Get(ctx, folder+"/"+id); err != nil {
		return fmt.Errorf("revoke API key %s: %w", id, err)
	}
	if err := k.store.Delete(ctx, folder+"/"+id); err != nil {
		return fmt.Errorf("revoke API key %s: %w", id, err)
	}
	return nil
}

func isID(s string) bool {
	return len(s) == idLength && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// Authenticate accepts an API key. The error wraps ErrUnauthorized if it is none; any
// other error means that it could not be told.
func (k *Keys) Authenticate(ctx context.Context, credential string) (Caller, error) {
	id, secret, ok := strings.Cut(strings.TrimPrefix(credential, keyPrefix), "_")
	if !ok || !strings.HasPrefix(credential, keyPrefix) || !isID(id) {
		return Caller{}, fmt.Errorf("%w: the credential is no API key", ErrUnauthorized)
	}
	r, err := k.load(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		err, r.Hash = nil, make([]byte, sha256.Size) // compared all the same
	}
	if err != nil {
		return Caller{}, err
	}
	hash := sha256.Sum256([]byte(secret))
	if subtle.ConstantTimeCompare(hash[:], r.Hash) != 1 {
		return Caller{}, fmt.Errorf("%w: there is no such API key, or it was revoked", ErrUnauthorized)
	}
	return Caller{User: r.User, Rights: r.Rights}, nil
}

func (k *Keys) load(ctx context.Context, id string) (r record, err error) {
	name := folder + "/" + id
	sealed, err := k.store.Get(ctx, name)
	if err != nil {
		return r, fmt.Errorf("read API key %s: %w", id, err)
	}
	plain, err := k.aead.Open(nil, nil, sealed, []byte(name))
	if err != nil || json.Unmarshal(plain, &r) != nil {
		return r, fmt.Errorf("read API key %s: it was sealed with another key, or was changed; revoke it and make a new one", id)
	}
	return r, nil
}
