// Package state keeps what must outlive the process, on NATS JetStream: a server
// inside this process by default, or an external cluster.
//
// Start with Open. A Store offers three kinds of keeping: Log for what happened, KV for
// what is so now, the queue among it, and Blob for what is large, which the other two
// use by themselves. All that is kept belongs to an owner, a user's pseudonym, and is
// encrypted under a key of that owner before it reaches JetStream. The owners' keys are
// kept too, encrypted under the key of the Store; erasing an owner destroys the owner's
// key first, so that what may be left on a disk or in a backup of the streams cannot be
// read by anybody.
//
// A name is a slash path of letters, digits, "_" and "-". Names and owners are not
// encrypted, so neither may hold anything personal.
//
// What a method has kept when it returns survives the death of the process. What Sync
// has returned from survives the loss of power as well; other writes follow within a
// second. All methods may be called concurrently; errors wrap fs.ErrNotExist where there
// is nothing of that name.
//
// Files is apart from all this: a folder that several processes share.
package state

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"
)

// KeySize is the length of a Store's key, in bytes.
const KeySize = 32

// Options say where a Store is. Key and either Dir or URL are required.
type Options struct {
	// Dir is the folder of the server in this process.
	Dir string
	// URL is an external server or cluster, with its credentials.
	URL string
	// Key is 32 random bytes, the same each time, kept apart from the Store.
	Key []byte
	// Log hears of trouble; nil is silence.
	Log *zap.Logger
}

// Retention is how long tasks and their events are kept.
const Retention = 30 * 24 * time.Hour

// patience bounds each request to JetStream that its caller does not bound.
const patience = 10 * time.Second

// ErrInUse is returned by Open for a folder that another process has open.
var ErrInUse = errors.New("another process has this store open")

// ErrKey is returned by Open for a store that was made with another key.
var ErrKey = errors.New("the store was made with another key; set STORE_KEY, or restore the file store.key, that it was made with")

// Store is one store, open. Close it.
type Store struct {
	opts   Options
	lock   func() error
	server *server.Server // nil for an external one
	conn   *nats.Conn
	js     jetstream.JetStream
	keys   *keyring

	queue  *KV
	events *Log
	vaults *Log
	tasks  *KV
	kept   *KV
}

// Open opens a store, and makes it if there is none. It fails with ErrInUse, with
// ErrKey, or for a store of which a part is missing.
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	if len(o.Key) != KeySize {
		return nil, fmt.Errorf("open the store: its key has %d bytes, must have %d", len(o.Key), KeySize)
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	s := &Store{opts: o, keys: newKeyring()}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open the store: %w", err), s.Close())
		}
	}()
	if err := s.connect(); err != nil {
		return nil, err
	}
	if s.js, err = jetstream.New(s.conn, jetstream.WithDefaultTimeout(patience)); err != nil {
		return nil, err
	}
	if err := s.openStreams(ctx); err != nil {
		return nil, err
	}
	if err := s.keys.listen(s.conn); err != nil {
		return nil, err
	}
	return s, s.checkKey(ctx)
}

// Queue keeps the tasks that were accepted and have not ended.
func (s *Store) Queue() *KV { return s.queue }

// Events keeps what happened in tasks.
func (s *Store) Events() *Log { return s.events }

// Vaults keeps the values of sessions.
func (s *Store) Vaults() *Log { return s.vaults }

// Tasks keeps how tasks ended, as long as their events.
func (s *Store) Tasks() *KV { return s.tasks }

// Kept keeps what is kept until it is deleted.
func (s *Store) Kept() *KV { return s.kept }

// Close ends the store.
func (s *Store) Close() error {
	if s.conn != nil {
		s.conn.Close()
	}
	if s.server != nil {
		s.server.Shutdown()
		s.server.WaitForShutdown()
	}
	if s.lock != nil {
		return s.lock()
	}
	return nil
}

// Check reports whether the store answers.
func (s *Store) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := s.js.AccountInfo(ctx); err != nil {
		return fmt.Errorf("the store does not answer: %w", err)
	}
	return nil
}

// Erase destroys the key of an owner and deletes all that is kept of it.
func (s *Store) Erase(ctx context.Context, owner string) error {
	if err := checkName(owner); err != nil {
		return err
	}
	if err := s.keys.destroy(ctx, owner); err != nil {
		return fmt.Errorf("destroy an owner's key: %w", err)
	}
	var errs []error
	for _, a := range s.areas() {
		errs = append(errs, a.purge(ctx, owner+".>"), a.blobs.deleteAll(ctx, a.prefix+owner+"."))
	}
	return errors.Join(errs...)
}
