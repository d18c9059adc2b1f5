package pii

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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
	v.mu.Lock()
	plain, err := v.snapshot(func(*entry) bool { return true })
	v.mu.Unlock()
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
	v, err := restore(nil, plain, o)
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

// SealTexts is Seal for several texts at once.
func (v *Vault) SealTexts(texts []Tokenized) ([]byte, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.erased {
		return nil, fmt.Errorf("seal texts: %w", ErrErased)
	}
	return seal(v.key, joinTexts(texts, Tokenized.String), transcripts)
}

// OpenTexts decrypts what SealTexts gave.
func (v *Vault) OpenTexts(sealed []byte) ([]Tokenized, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	if v.erased {
		return nil, fmt.Errorf("open texts: %w", ErrErased)
	}
	plain, err := open(v.key, sealed, transcripts)
	if err != nil {
		return nil, fmt.Errorf("open texts: %w", err)
	}
	return splitTexts(plain, boundary.Seal)
}

// SealRaw encrypts texts from outside, so that they can be kept until somebody
// tokenizes them. key is 32 random bytes; bound says what the texts are, and has to be
// said again to open them.
func SealRaw(key []byte, bound string, texts []Raw) ([]byte, error) {
	plain := joinTexts(texts, boundary.Open)
	defer clear(plain)
	return seal(key, plain, "raw/"+bound)
}

// OpenRaw decrypts what SealRaw gave.
func OpenRaw(key []byte, bound string, sealed []byte) ([]Raw, error) {
	plain, err := open(key, sealed, "raw/"+bound)
	if err != nil {
		return nil, fmt.Errorf("open texts: %w", err)
	}
	return splitTexts(plain, NewRaw)
}

// joinTexts writes each text behind its length: a text need not be valid UTF-8.
func joinTexts[T any](texts []T, text func(T) string) (all []byte) {
	for _, t := range texts {
		all = binary.AppendUvarint(all, uint64(len(text(t))))
		all = append(all, text(t)...)
	}
	return all
}

func splitTexts[T any](all []byte, make func(string) T) (texts []T, err error) {
	for len(all) > 0 {
		length, n := binary.Uvarint(all)
		if n <= 0 || length > uint64(len(all)-n) {
			return nil, errSealed
		}
		texts = append(texts, make(string(all[n:n+int(length)])))
		all = all[n+int(length):]
	}
	return texts, nil
}

// The two tell sealed transcripts from sealed vaults, and from each other.
const (
	transcript  = "transcript"
	transcripts = "transcripts"
)

// header is what a sealed vault holds beside its values.
type header struct {
	Version  int
	Nonce    string
	Mode     Mode
	Unseen   bool
	Rankings int
	Heard    int // how many servers
}

// record is the form a vault, or a part of it, is sealed in. Bytes are kept as they
// are: a value need not be valid UTF-8.
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
	At      int `json:",omitempty"` // place among all, from 0
	Type    Type
	Also    []Type `json:",omitempty"`
	Number  bool   `json:",omitempty"`
	Level   int    `json:",omitempty"`
	Text    []byte
	Origins []Origin
}

const recordVersion = 2

// header tells how the vault is now. The caller holds v.mu.
func (v *Vault) header() header {
	return header{recordVersion, v.nonce, v.mode, v.unseen.Load(), v.rankings, len(v.heard)}
}

// snapshot encodes the entries that are wanted. The caller holds v.mu.
func (v *Vault) snapshot(wanted func(*entry) bool) ([]byte, error) {
	if v.erased {
		return nil, ErrErased
	}
	r := record{Version: recordVersion, Nonce: v.nonce, Key: v.key, Mode: v.mode, Unseen: v.unseen.Load(), Rankings: v.rankings, Heard: v.heard}
	for at, e := range v.all {
		if wanted(e) {
			top := len(e.forms) - 1
			r.Entries = append(r.Entries, entryRecord{at, e.typ, e.also, e.number, top, []byte(e.forms[top]), e.origins})
		}
	}
	return json.Marshal(r)
}

// SealChanges seals what the vault has learned since it was called last, for
// OpenVault; nil if there is nothing new. It tells each change once: what it returns
// must be kept, in order. key and session are as for Save.
func (v *Vault) SealChanges(session ident.Session, key []byte) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.header()
	if now == v.saved && !slices.ContainsFunc(v.all, func(e *entry) bool { return e.changed }) {
		return nil, nil
	}
	plain, err := v.snapshot(func(e *entry) bool { return e.changed })
	if err != nil {
		return nil, fmt.Errorf("seal a vault's changes: %w", err)
	}
	defer clear(plain)
	sealed, err := seal(key, plain, vaultName(session))
	if err != nil {
		return nil, fmt.Errorf("seal a vault's changes: %w", err)
	}
	v.saved = now
	for _, e := range v.all {
		e.changed = false
	}
	return sealed, nil
}

// OpenVault opens a vault from all that SealChanges gave for it, in order. Nonce in
// the options is ignored.
func OpenVault(changes [][]byte, session ident.Session, key []byte, o VaultOptions) (*Vault, error) {
	var v *Vault
	for _, sealed := range changes {
		plain, err := open(key, sealed, vaultName(session))
		if err == nil {
			v, err = restore(v, plain, o)
		}
		clear(plain)
		if err != nil {
			return nil, fmt.Errorf("open vault: %w", err)
		}
	}
	if v == nil {
		return nil, errors.New("open vault: nothing of it is kept")
	}
	return v, nil
}

// restore adds the entries in their order, which gives them their tokens again, to v,
// or to a new vault if that is nil. Nobody else has the vault yet, so it takes no lock.
func restore(v *Vault, plain []byte, o VaultOptions) (*Vault, error) {
	var r record
	if err := json.Unmarshal(plain, &r); err != nil || r.Version != recordVersion {
		return nil, fmt.Errorf("its format is not version %d", recordVersion) // err would quote values
	}
	if v == nil {
		o.Nonce, o.Mode = r.Nonce, r.Mode
		var err error
		if v, err = NewVault(o); err != nil {
			return nil, err
		}
	}
	v.key, v.rankings = r.Key, r.Rankings
	v.unseen.Store(r.Unseen)
	v.heard = r.Heard
	for _, one := range r.Entries {
		if err := v.restoreEntry(one); err != nil {
			return nil, err
		}
	}
	v.saved = v.header()
	return v, nil
}

func (v *Vault) restoreEntry(one entryRecord) error {
	switch {
	case one.At > len(v.all):
		return errors.New("a part of it is missing")
	case one.At == len(v.all):
		if _, err := v.add(found{text: string(one.Text), typ: one.Type, level: one.Level, number: one.Number}); err != nil {
			return err
		}
	}
	e := v.all[one.At]
	e.also, e.origins, e.changed = one.Also, one.Origins, false
	return nil
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
