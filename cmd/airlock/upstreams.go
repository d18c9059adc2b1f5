package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"go.uber.org/zap"

	"airlock/orchestrator/state"
	"airlock/servers"
	"airlock/servers/database"
	"airlock/servers/keeper"
	"airlock/servers/oauth"
)

func (c *Config) openServers(s *system, k keys, log *zap.Logger) error {
	catalog, err := servers.LoadCatalog(c.Catalog, os.LookupEnv)
	if err != nil {
		return usageError{err}
	}
	for _, warning := range catalog.Warnings() {
		log.Warn(warning)
	}
	if c.only != nil {
		if catalog, err = catalog.Only(c.only...); err != nil {
			return usageError{err}
		}
	}
	databases := filepath.Join(c.DataDir, "databases")
	if err := os.MkdirAll(databases, 0o700); err != nil {
		return fmt.Errorf("make the folder of databases: %w", err)
	}
	database, err := database.New(database.Options{Dir: databases, Seed: shopSeed})
	if err != nil {
		return fmt.Errorf("set up the built-in database server: %w", err)
	}
	keeping, err := keeperLine()
	if err != nil {
		return err
	}
	tokens, closeTokens, err := c.openTokens(k)
	if err != nil {
		return err
	}
	s.closers = append([]func() error{closeTokens}, s.closers...)
	s.manager, err = servers.New(servers.Options{
		Catalog: catalog, Builtins: map[string]servers.Builtin{"database": database}, Log: log, Environ: os.LookupEnv,
		CacheDir: filepath.Join(c.DataDir, "cache"), DataDir: filepath.Join(c.DataDir, "servers"), Pseudonym: k.pseudonym, Keeper: keeping,
		Authorizer: tokens, Hidden: []string{c.DataDir, ".env"},
	})
	if err != nil {
		return usageError{fmt.Errorf("set up the upstream servers: %w", err)}
	}
	s.closers = append([]func() error{s.manager.Close}, s.closers...)
	return nil
}

// keeperLine starts this program as the keeper of a server, where it can be one.
func keeperLine() ([]string, error) {
	if !keeper.Supported {
		return nil, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program to keep servers with: %w", err)
	}
	return []string{self, keeperCommand}, nil
}

// openTokens opens what people signed in to. The second result closes it.
func (c *Config) openTokens(k keys) (*oauth.Client, func() error, error) {
	store, err := state.OpenFiles(filepath.Join(c.DataDir, "tokens"))
	if err != nil {
		return nil, nil, err
	}
	tokens, err := oauth.New(oauth.Options{Store: store, Key: k.upstream})
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return tokens, func() error { return errors.Join(tokens.Close(), store.Close()) }, nil
}
