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
	_, err := k.Replace(ctx, owner, name, value, 0)
	return err
}

// Replace keeps value in place of the one of number last, 0 for none, and gives its own
// number. Where another one is kept by now its error wraps ErrConflict and fs.ErrExist,
// and nothing is changed. The value must fit into a message: large ones are kept before
// it is known who was first.
func (k *KV) Replace(ctx context.Context, owner, name string, value []byte, last uint64) (uint64, error) {
	if len(value) > maxReplaced {
		return 0, fmt.Errorf("a value of %d bytes, put in place of another: %w", len(value), ErrTooLarge)
	}
	number, err := k.area.put(ctx, owner, name, value, jetstream.WithExpectLastSequencePerSubject(last))
	if errors.Is(err, ErrConflict) {
		return 0, fmt.Errorf("%w: %w", err, fs.ErrExist)
	}
	return number, err
}

// Load returns the value under name and its number, for Replace.
func (k *KV) Load(ctx context.Context, owner, name string) ([]byte, uint64, error) {
	return k.area.load(ctx, owner, name)
}

// Get returns the value under name.
func (k *KV) Get(ctx context.Context, owner, name string) ([]byte, error) {
	value, _, err := k.area.load(ctx, owner, name)
	return value, err
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

// Each tells of all places right below a folder of every owner.
func (k *KV) Each(ctx context.Context, folder string, do func(owner, name string)) error {
	places, err := k.All(ctx, folder)
	for _, p := range places {
		do(p.Owner, p.Name)
	}
	return err
}
