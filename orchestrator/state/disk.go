package state

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// disk brings a stream's files onto the disk. JetStream's own way, a sync of each
// message, takes as long as the disk for every one; here all who wait share one.
type disk struct {
	dir string

	turn sync.Mutex // held while syncing
	mu   sync.Mutex // guards next
	next *round
	last time.Time // guarded by turn
}

// round is one sync that some wait for.
type round struct {
	done chan struct{}
	err  error // set before done is closed
}

// flush returns once all that was written before is on the disk.
func (d *disk) flush() error {
	if d == nil {
		return nil
	}
	d.mu.Lock()
	r := d.next
	leads := r == nil
	if leads {
		r = &round{done: make(chan struct{})}
		d.next = r
	}
	d.mu.Unlock()
	if !leads {
		<-r.done
		return r.err
	}
	d.turn.Lock()
	defer d.turn.Unlock()
	d.mu.Lock()
	d.next = nil // who comes now may have written too late for this one
	d.mu.Unlock()
	r.err = d.sync()
	close(r.done)
	return r.err
}

// sync writes out the files that changed since the last time, and the folder, in
// which there may be new ones.
func (d *disk) sync() error {
	begun := time.Now()
	blocks, err := filepath.Glob(filepath.Join(d.dir, "*.blk"))
	if err != nil || len(blocks) == 0 {
		return errors.Join(errors.New("find what to sync of the store: its folder is not as expected"), err)
	}
	var errs []error
	for _, name := range append(blocks, d.dir) {
		if info, err := os.Stat(name); err == nil && info.ModTime().Before(d.last) {
			continue
		}
		errs = append(errs, syncFile(name))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("bring the store onto the disk: %w", err)
	}
	d.last = begun.Add(-coarse)
	return nil
}

// coarse is more than the grain in which file systems note times.
const coarse = 2 * time.Second

func syncFile(name string) error {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil // its last message was deleted
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
