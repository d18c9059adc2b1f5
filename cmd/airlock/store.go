package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"airlock/orchestrator"
	"airlock/orchestrator/state"
	"airlock/workspace/mirror"
)

// storeTime bounds how long it may take to open the store; after a crash it is read.
const storeTime = 2 * time.Minute

// openStore opens what outlives the process. Beside a process that has the store of the
// data folder, a command gets one of its own, which goes with it.
func (c *Config) openStore(s *system, k keys, log *zap.Logger) (*state.Store, error) {
	ctx, cancel := context.WithTimeout(context.Background(), storeTime)
	defer cancel()
	o := state.Options{Dir: filepath.Join(c.DataDir, "store"), URL: c.NATSURL, Key: k.store, Log: log}
	store, err := state.Open(ctx, o)
	if errors.Is(err, state.ErrInUse) && !c.serving {
		log.Debug("another airlock process has the store; this command keeps nothing")
		if o.Dir, err = os.MkdirTemp(c.DataDir, asidePrefix); err != nil {
			return nil, fmt.Errorf("make a store for this command: %w", err)
		}
		s.aside = true
		s.closers = append(s.closers, func() error { return os.RemoveAll(o.Dir) })
		store, err = state.Open(ctx, o)
		s.closers = append([]func() error{closerOf(store)}, s.closers...)
		return store, err
	}
	if errors.Is(err, state.ErrInUse) {
		err = fmt.Errorf("%w: another airlock serves from %s; end it, or set DATA_DIR", err, c.DataDir)
	}
	if err == nil && c.NATSURL != "" {
		url := ""
		if c.serving { // a command answers nobody
			url = c.peerURL()
		}
		if s.members, err = store.Join(ctx, url); err == nil {
			s.closers = append(s.closers, s.members.Leave)
		}
	}
	s.closers = append(s.closers, closerOf(store))
	return store, err
}

// openMirror makes what keeps folders in the store, nil where no other process uses it.
func (c *Config) openMirror(s *system, store *state.Store) (*mirror.Mirror, error) {
	if c.NATSURL == "" {
		return nil, nil
	}
	m, err := mirror.New(store.Kept(), filepath.Join(c.DataDir, "mirrored"))
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, m.Close)
	return m, nil
}

// openNotes opens what this process notes for itself of what several do together, nil
// where no other process uses the store.
func (c *Config) openNotes(s *system) (orchestrator.Notes, error) {
	if c.NATSURL == "" {
		return nil, nil
	}
	files, err := state.OpenFiles(filepath.Join(c.DataDir, "erased"))
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, files.Close)
	return files, nil
}

// asidePrefix begins the names of stores that go with their command.
const asidePrefix = "aside-"

// removeAside removes the stores of commands that could not do so.
func removeAside(dir string) error {
	left, err := filepath.Glob(filepath.Join(dir, asidePrefix+"*"))
	errs := []error{err}
	for _, path := range left {
		errs = append(errs, os.RemoveAll(path))
	}
	return errors.Join(errs...)
}

// closerOf closes a store, if it was opened.
func closerOf(store *state.Store) func() error {
	if store == nil {
		return func() error { return nil }
	}
	return store.Close
}

func stateOf(s *state.Store, members *state.Members, notes orchestrator.Notes) orchestrator.State {
	kept := orchestrator.State{Queue: s.Queue(), Events: s.Events(), Vaults: s.Vaults(), Tasks: s.Tasks(), Kept: s.Kept(), Eraser: s, Notes: notes}
	if members != nil {
		kept.Members = members
	}
	return kept
}
