package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"airlock/runtime/docker"
	"airlock/runtime/helpers"
	"airlock/runtime/sandbox"
	"airlock/runtime/wasm"
	"airlock/skills"
)

// dockerCheckTime bounds how long a start waits to learn whether Docker is ready.
const dockerCheckTime = 15 * time.Second

// openSandboxes makes the backends, the preferred one first. The embedded one is
// always there, so that a script can ask for it.
func (c *Config) openSandboxes(s *system, store *skills.Store, k keys, log *zap.Logger) ([]sandbox.Backend, error) {
	embedded, err := c.openEmbedded(log)
	if err != nil {
		return nil, err
	}
	s.wasm = embedded
	s.closers = append([]func() error{embedded.Close}, s.closers...)
	if c.SandboxBackend == "wasm" {
		return []sandbox.Backend{embedded}, nil
	}
	containers, err := c.openDocker(store, k, log)
	switch {
	case err == nil:
		s.closers = append([]func() error{containers.Close}, s.closers...)
		return []sandbox.Backend{containers, embedded}, nil
	case c.SandboxBackend == "docker":
		return nil, fmt.Errorf("set up the docker sandbox: %w", err)
	default:
		log.Info("scripts run in the embedded sandbox, JavaScript only", zap.String("docker", err.Error()))
		return []sandbox.Backend{embedded}, nil
	}
}

func (c *Config) openEmbedded(log *zap.Logger) (*wasm.Backend, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program to start workers from: %w", err)
	}
	embedded, err := wasm.New(wasm.Options{
		Worker: []string{self, workerCommand}, Prelude: helpers.JavaScript(), CacheDir: filepath.Join(c.DataDir, "cache", "wasm"), Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("set up the wasm sandbox: %w", err)
	}
	return embedded, nil
}

// openDocker makes the backend and waits until it is known to work.
func (c *Config) openDocker(store *skills.Store, k keys, log *zap.Logger) (*docker.Backend, error) {
	embedded := map[string]fs.FS{}
	for name, tree := range store.ReadOnly() {
		embedded["/skills/"+name] = tree
	}
	b, err := docker.New(docker.Options{
		Image: c.SandboxImage, Dir: filepath.Join(c.DataDir, "docker"), InstallationID: k.name, Limits: c.executionLimits(),
		Runtime: c.SandboxRuntime, Embedded: embedded, Log: log,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), dockerCheckTime)
	defer cancel()
	if err := b.Check(ctx); err != nil {
		_ = b.Close()
		return nil, err
	}
	return b, nil
}
