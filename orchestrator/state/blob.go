package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// maxMessage is what a message may hold; servers take 1 MiB with its headers.
	maxMessage = 900 << 10
	// maxReplaced is what of a message is left to a value that is put in place of
	// another: sealing adds less than that.
	maxReplaced = maxMessage - 1<<10
	// maxBlob bounds any value.
	maxBlob = 256 << 20
)

// blobHeader names the blob that holds a message's value.
const blobHeader = "Airlock-Blob"

// ErrTooLarge is wrapped for a value that is too large to be kept.
var ErrTooLarge = errors.New("too large to be kept")

// Blob keeps values that are too large for a message.
type Blob struct {
	store jetstream.ObjectStore
	of    *Store
}

func (s *Store) openBlobs(ctx context.Context, name string, age time.Duration) (*Blob, error) {
	var store jetstream.ObjectStore
	err := s.againFor(ctx, makeTime, func(ctx context.Context) (err error) {
		store, err = s.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: name, TTL: age, Storage: jetstream.FileStorage, Replicas: s.replicas(),
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("open the store of large values %s: %w", name, err)
	}
	return &Blob{store, s}, nil
}

// moveOut puts a message's data into the blob of that name if it is too large for the
// message.
func (b *Blob) moveOut(ctx context.Context, name string, m *nats.Msg) error {
	switch {
	case len(m.Data) <= maxMessage:
		return nil
	case len(m.Data) > maxBlob:
		return fmt.Errorf("a value of %d bytes: %w", len(m.Data), ErrTooLarge)
	}
	err := b.of.againFor(ctx, patience, func(ctx context.Context) error {
		_, err := b.store.PutBytes(ctx, name, m.Data)
		return err
	})
	if err != nil {
		return fmt.Errorf("keep a large value: %w", err)
	}
	m.Header.Set(blobHeader, name)
	m.Data = nil
	return nil
}

// moveIn gives the data of a message, wherever it is.
func (b *Blob) moveIn(ctx context.Context, m *jetstream.RawStreamMsg) ([]byte, error) {
	name := m.Header.Get(blobHeader)
	if name == "" {
		return m.Data, nil
	}
	var data []byte
	err := b.of.againFor(ctx, patience, func(ctx context.Context) (err error) {
		data, err = b.store.GetBytes(ctx, name)
		return err
	})
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, fmt.Errorf("a large value is gone: %w", fs.ErrNotExist)
	}
	if err != nil {
		return nil, fmt.Errorf("read a large value: %w", err)
	}
	return data, nil
}

// delete removes a blob, if there is one of this name.
func (b *Blob) delete(ctx context.Context, name string) error {
	err := b.of.againFor(ctx, patience, func(ctx context.Context) error { return b.store.Delete(ctx, name) })
	if err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return fmt.Errorf("delete a large value: %w", err)
	}
	return nil
}

// deleteAll removes every blob whose name begins so.
func (b *Blob) deleteAll(ctx context.Context, prefix string) error {
	all, err := b.store.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list large values: %w", err)
	}
	var errs []error
	for _, info := range all {
		if strings.HasPrefix(info.Name, prefix) {
			errs = append(errs, b.store.Delete(ctx, info.Name))
		}
	}
	return errors.Join(errs...)
}
