package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// KV keeps the latest value of each name.
type KV struct{ area *area }

// Put keeps value under name, in place of what was there.
func (k *KV) Put(ctx context.Context, owner, name string, value []byte) error {
	_, err := k.area.put(ctx, owner, name, value)
	return err
}

// Sync returns when all that was put is on the disk.
func (k *KV) Sync() error { return k.area.disk.flush() }

// Create keeps value if there is none under name; else its error wraps fs.ErrExist.
func (k *KV) Create(ctx context.Context, owner, name string, value []byte) error {
	_, err := k.area.put(ctx, owner, name, value, jetstream.WithExpectLastSequencePerSubject(0))
	if errors.Is(err, ErrConflict) {
		return fmt.Errorf("a value is kept under this name: %w", fs.ErrExist)
	}
	return err
}

// Get returns the value under name.
func (k *KV) Get(ctx context.Context, owner, name string) ([]byte, error) {
	return k.area.get(ctx, owner, name)
}

// Delete removes what is under name. Removing nothing is no error.
func (k *KV) Delete(ctx context.Context, owner, name string) error {
	subject, err := k.area.subject(owner, name)
	if err != nil {
		return err
	}
	if err := k.area.purge(ctx, strings.TrimPrefix(subject, k.area.prefix)); err != nil {
		return err
	}
	return k.area.blobs.delete(ctx, subject)
}

// List gives the names right below a folder of an owner, in order.
func (k *KV) List(ctx context.Context, owner, folder string) ([]string, error) {
	if err := checkName(owner, folder); err != nil {
		return nil, err
	}
	subjects, err := k.area.subjects(ctx, owner+"."+strings.ReplaceAll(folder, "/", ".")+".*")
	var names []string
	for _, s := range subjects {
		names = append(names, s[strings.LastIndexByte(s, '.')+1:])
	}
	slices.Sort(names)
	return names, err
}

// Place is where a value is kept.
type Place struct{ Owner, Name string }

// All gives the places right below a folder of every owner.
func (k *KV) All(ctx context.Context, folder string) ([]Place, error) {
	if err := checkName(folder); err != nil {
		return nil, err
	}
	subjects, err := k.area.subjects(ctx, "*."+strings.ReplaceAll(folder, "/", ".")+".*")
	var places []Place
	for _, s := range subjects {
		owner, name := k.area.placeOf(s)
		places = append(places, Place{owner, name[strings.LastIndexByte(name, '/')+1:]})
	}
	return places, err
}

// Queue keeps what was promised until it is done.
type Queue struct{ KV }

// Put keeps value under name. When it returns, the value also survives the loss of
// power.
func (q *Queue) Put(ctx context.Context, owner, name string, value []byte) error {
	if err := q.KV.Put(ctx, owner, name, value); err != nil {
		return err
	}
	return q.area.disk.flush()
}
