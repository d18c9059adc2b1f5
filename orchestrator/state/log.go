package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// Log keeps records in the order they came.
type Log struct{ area *area }

// Append adds a record behind the one of number last, 0 for the first, and gives its
// own number. If another one stands last it fails with ErrConflict and adds nothing:
// somebody else writes this log.
func (l *Log) Append(ctx context.Context, owner, name string, record []byte, last uint64) (uint64, error) {
	return l.area.put(ctx, owner, name, record, jetstream.WithExpectLastSequencePerSubject(last))
}

// Sync returns when all records that were appended are on the disk.
func (l *Log) Sync() error { return l.area.disk.flush() }

// Read gives every record behind the one of number after, 0 for all, and the number of
// the last one. A log without records is no error.
func (l *Log) Read(ctx context.Context, owner, name string, after uint64) (records [][]byte, last uint64, err error) {
	subject, err := l.area.subject(owner, name)
	if err != nil {
		return nil, 0, err
	}
	for last = after; ; {
		m, err := l.area.next(ctx, subject, last+1)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			return records, last, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read a log: %w", err)
		}
		record, err := l.area.unseal(ctx, m)
		if errors.Is(err, fs.ErrNotExist) {
			return records, last, nil // erased meanwhile
		}
		if err != nil {
			return nil, 0, err
		}
		records, last = append(records, record), m.Sequence
	}
}

// Delete removes a log. Removing nothing is no error.
func (l *Log) Delete(ctx context.Context, owner, name string) error {
	subject, err := l.area.subject(owner, name)
	if err != nil {
		return err
	}
	if err := l.area.purge(ctx, strings.TrimPrefix(subject, l.area.prefix)); err != nil {
		return err
	}
	return l.area.blobs.deleteAll(ctx, subject+".")
}
