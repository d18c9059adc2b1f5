package pii

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"

	"airlock/ident"
	"airlock/pii/internal/boundary"
)

// Store keeps sealed vaults and transcripts for the state layer. What it is given
// is ciphertext. Get returns an error for which errors.Is(err, fs.ErrNotExist)
// holds when there is nothing of that name.
type Store interface {
	Put(ctx context.Context, name string, sealed []byte) error
	Get(ctx context.Context, name string) ([]byte, error)
	Delete(ctx context.Context, name string) error
}

// keyLen is the length of a key: AES-256-GCM.
const keyLen = 32

// errSealed is all that is said of a text that does not open: wrong key, other
// session and tampering are the same to us.
var errSealed = errors.New("does not open: it was sealed with another key or for another session, or was changed")

// Save keeps the vault in store, sealed with key, 32 random bytes that the caller
// keeps apart from the store. It is bound to the session: it opens as no other's.
func (v *Vault) Save(ctx context.Context, store Store, session ident.Session, key []byte) error {
	plain, err := v.snapshot()
	if err != nil {
		return fmt.Errorf("save vault: %w", err)
	}
	sealed, err := seal(key, plain, vaultName(session))
	clear(plain)
	if err != nil {
		return fmt.Errorf("save vault: %w", err)
	}
	if err := store.Put(ctx, vaultName(session), sealed); err != nil {
		return fmt.Errorf("save vault: %w", err)
	}
	return nil
}

// LoadVault opens what Save kept. Nonce in the options is ignored: tokens keep the
// one they have.
func LoadVault(ctx context.Context, store Store, session ident.Session, key []byte, o VaultOptions) (*Vault, error) {
	sealed, err := store.Get(ctx, vaultName(session))
	if err != nil {
		return nil, fmt.Errorf("load vault: %w", err)
	}
	plain, err := open(key, sealed, vaultName(session))
	if err != nil {
		return nil, fmt.Errorf("load vault: %w", err)
	}
	defer clear(plain)
	v, err := restore(plain, o)
	if err != nil {
		return nil, fmt.Errorf("load vault: %w", err)
	}
	return v, nil
}

// DeleteVault erases what Save kept. Deleting what is not there is no error.
func DeleteVault(ctx context.Context, store Store, session ident.Session) error {
	if err := store.Delete(ctx, vaultName(session)); err != nil {
		return fmt.Errorf("delete vault: %w", err)
	}
	return nil
}

func vaultName(session ident.Session) string { return "vault/" + string(session) }

// Seal encrypts a tokenized text with the vault's own key, so that a transcript
// can be kept and only this vault, also after LoadVault, makes it Tokenized again.
func (v *Vault) Seal(t Tokenized) ([]byte, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.erased {
		return nil, fmt.Errorf("seal transcript: %w", ErrErased)
	}
	return seal(v.key, []byte(t.String()), transcript)
}

// Open decrypts what Seal gave.
func (v *Vault) Open(sealed []byte) (Tokenized, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.erased {
		return Tokenized{}, fmt.Errorf("open transcript: %w", ErrErased)
	}
	plain, err := open(v.key, sealed, transcript)
	if err != nil {
		return Tokenized{}, fmt.Errorf("open transcript: %w", err)
	}
	return boundary.Seal(string(plain)), nil
}

// transcript tells sealed transcripts from sealed vaults.
const transcript = "transcript"

// record is the form a vault is sealed in. Bytes are kept as they are: a value
// need not be valid UTF-8.
type record struct {
	Version  int
	Nonce    string
	Key      []byte
	Mode     Mode
	Unseen   bool
	Rankings int
	Heard    []string `json:",omitempty"`
	Entries  []entryRecord
}

type entryRecord struct {
	Type    Type
	Also    []Type `json:",omitempty"`
	Number  bool   `json:",omitempty"`
	Level   int    `json:",omitempty"`
	Text    []byte
	Origins []Origin
}

const recordVersion = 1

func (v *Vault) snapshot() ([]byte, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.erased {
		return nil, ErrErased
	}
	r := record{Version: recordVersion, Nonce: v.nonce, Key: v.key, Mode: v.mode, Unseen: v.unseen.Load(), Rankings: v.rankings, Heard: v.heard}
	for _, e := range v.all {
		top := len(e.forms) - 1
		r.Entries = append(r.Entries, entryRecord{e.typ, e.also, e.number, top, []byte(e.forms[top]), e.origins})
	}
	return json.Marshal(r)
}

// restore adds the entries in their order, which gives them their tokens again.
// Nobody else has the vault yet, so it takes no lock.
func restore(plain []byte, o VaultOptions) (*Vault, error) {
	var r record
	if err := json.Unmarshal(plain, &r); err != nil || r.Version != recordVersion {
		return nil, fmt.Errorf("its format is not version %d", recordVersion) // err would quote values
	}
	o.Nonce, o.Mode = r.Nonce, r.Mode
	v, err := NewVault(o)
	if err != nil {
		return nil, err
	}
	v.key, v.rankings = r.Key, r.Rankings
	v.unseen.Store(r.Unseen)
	v.heard = r.Heard
	for _, one := range r.Entries {
		e, err := v.add(found{text: string(one.Text), typ: one.Type, level: one.Level, number: one.Number})
		if err != nil {
			return nil, err
		}
		e.also, e.origins = one.Also, one.Origins
	}
	return v, nil
}

// seal encrypts with a random nonce in front. bound is authenticated with it.
func seal(key, plain []byte, bound string) ([]byte, error) {
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	_, _ = rand.Read(nonce) // never fails: crypto/rand ends the program instead
	return aead.Seal(nonce, nonce, plain, []byte(bound)), nil
}

func open(key, sealed []byte, bound string) ([]byte, error) {
	aead, err := newAEAD(key)
	if err != nil {
		return nil, err
	}
	if len(sealed) < aead.NonceSize() {
		return nil, errSealed
	}
	plain, err := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], []byte(bound))
	if err != nil {
		return nil, errSealed
	}
	return plain, nil
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	if len(key) != keyLen {
		return nil, fmt.Errorf("key of %d bytes: must be %d", len(key), keyLen)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}
