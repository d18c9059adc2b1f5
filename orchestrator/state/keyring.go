package state

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// keyring holds the key of each owner, which the key of the store encrypts.
type keyring struct {
	area   *area
	master cipher.AEAD

	mu        sync.Mutex // guards all below
	opened    map[string]cipher.AEAD
	forgotten uint64 // how often keys were forgotten
}

// maxOpened bounds the keys that are held ready.
const maxOpened = 10_000

// keyWait is how long the key that another process makes is waited for before it is
// looked for again.
const keyWait = 20 * time.Millisecond

// keyName is where the key of an owner is kept.
const keyName = "key"

func newKeyring() *keyring { return &keyring{opened: map[string]cipher.AEAD{}} }

func (k *keyring) open(a *area, key []byte) (err error) {
	k.area = a
	k.master, err = newAEAD(key)
	return err
}

// destroyedSubject is where processes that share a store tell each other whose key they
// have destroyed. No stream keeps it.
const destroyedSubject = "airlock.destroyed."

// listen forgets the keys that other processes destroy: what was written with one could
// never be read.
func (k *keyring) listen(conn *nats.Conn) error {
	_, err := conn.Subscribe(destroyedSubject+"*", func(m *nats.Msg) { k.forget(strings.TrimPrefix(m.Subject, destroyedSubject)) })
	if err != nil {
		return fmt.Errorf("listen for keys that are destroyed: %w", err)
	}
	return nil
}

// forget lets the key of an owner be read again, or those of all for an empty one.
func (k *keyring) forget(owner string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forgotten++
	if owner == "" {
		clear(k.opened)
	}
	delete(k.opened, owner)
}

func newAEAD(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use a key: %w", err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// of gives the owner's key, which it makes for a new owner.
func (k *keyring) of(ctx context.Context, owner string) (aead cipher.AEAD, err error) {
	for {
		aead, err = k.known(ctx, owner)
		if !errors.Is(err, fs.ErrNotExist) {
			return aead, err
		}
		if err := k.make(ctx, owner); err != nil {
			return nil, err
		}
	}
}

// make keeps a key for an owner who has none, or returns some time after another process
// did so: in a cluster that one's can be read a moment later.
func (k *keyring) make(ctx context.Context, owner string) error {
	fresh := make([]byte, KeySize)
	_, _ = rand.Read(fresh) // never fails: crypto/rand ends the program instead
	subject := k.subject(owner)
	message := nats.NewMsg(subject)
	message.Data = k.master.Seal(nil, nil, fresh, []byte(subject))
	_, err := k.area.publish(ctx, message, jetstream.WithExpectLastSequencePerSubject(0))
	if isConflict(err) {
		return pause(ctx, keyWait)
	}
	if err != nil {
		return fmt.Errorf("keep an owner's key: %w", err)
	}
	return nil
}

// known gives the key of an owner for whom there is one.
func (k *keyring) known(ctx context.Context, owner string) (cipher.AEAD, error) {
	k.mu.Lock()
	aead, forgotten := k.opened[owner], k.forgotten
	k.mu.Unlock()
	if aead != nil {
		return aead, nil
	}
	subject := k.subject(owner)
	m, err := k.area.last(ctx, subject)
	if err != nil {
		return nil, notFound(err)
	}
	key, err := k.master.Open(nil, nil, m.Data, []byte(subject))
	if err != nil {
		return nil, ErrKey
	}
	if aead, err = newAEAD(key); err != nil {
		return nil, err
	}
	k.remember(owner, aead, forgotten)
	return aead, nil
}

// remember holds a key ready that was read when so many had been forgotten. If more were
// since, it may be a destroyed one.
func (k *keyring) remember(owner string, aead cipher.AEAD, forgotten uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.forgotten != forgotten {
		return
	}
	if len(k.opened) >= maxOpened {
		clear(k.opened)
	}
	k.opened[owner] = aead
}

// destroy overwrites the owner's key on the disk.
func (k *keyring) destroy(ctx context.Context, owner string) error {
	k.forget(owner)
	m, err := k.area.last(ctx, k.subject(owner))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	err = k.area.store.again(ctx, func(ctx context.Context) error { return k.area.stream.SecureDeleteMsg(ctx, m.Sequence) })
	if err != nil {
		return err
	}
	k.forget(owner) // it may have been read meanwhile
	if err := k.area.store.conn.Publish(destroyedSubject+owner, nil); err != nil {
		return err
	}
	return k.area.disk.flush()
}

func (k *keyring) subject(owner string) string { return k.area.prefix + owner + "." + keyName }

// checkOwner is nobody: under it stands what tells whether the store's key is right.
const (
	checkOwner = "_"
	checkValue = "airlock store 1"
)

// checkKey makes sure that the store was made with this key.
func (s *Store) checkKey(ctx context.Context) error {
	known, err := s.kept.Get(ctx, checkOwner, "made")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s.kept.Put(ctx, checkOwner, "made", []byte(checkValue))
	case err != nil:
		return err
	case string(known) != checkValue:
		return fmt.Errorf("it is of another version of airlock (%q); use that one", known)
	}
	return nil
}
