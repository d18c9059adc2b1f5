package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"airlock/ident"
	"airlock/orchestrator/auth"
	"airlock/orchestrator/state"
)

type keysCommand struct {
	Create keysCreate `cmd:"" help:"Make a key and print it, this once."`
	List   keysList   `cmd:"" help:"List the keys, without their secrets."`
	Revoke keysRevoke `cmd:"" help:"End a key."`
}

type keysCreate struct {
	User   string   `arg:"" help:"User that the key's holder acts as."`
	Rights []string `default:"run,reveal,approve" enum:"run,reveal,approve" help:"What the holder may do: run tasks, see real values (reveal), answer approvals (approve)."`
	Note   string   `help:"What the key is for."`
	JSON   bool     `help:"Print JSON."`
}

type keysList struct {
	JSON bool `help:"Print JSON."`
}

type keysRevoke struct {
	ID string `arg:"" help:"Id of the key, as list has it."`
}

// withKeys opens the API keys, which running servers read too.
func (c *Config) withKeys(ctx context.Context, do func(*auth.Keys) error) (err error) {
	k, err := c.openKeys()
	if err != nil {
		return err
	}
	store, closeStore, err := c.openKeyStore(ctx, k)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	keys, err := auth.NewKeys(store, k.callers)
	if err != nil {
		return err
	}
	return do(keys)
}

// openKeyStore opens where the API keys are, and no more than that.
func (c *Config) openKeyStore(ctx context.Context, k keys) (auth.Store, func() error, error) {
	if c.NATSURL == "" {
		return c.openCallerKeys(nil)
	}
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	store, err := state.Open(ctx, state.Options{URL: c.NATSURL, Key: k.store})
	if err != nil {
		return nil, nil, err
	}
	keys, _, err := c.openCallerKeys(store)
	return keys, store.Close, err
}

// openCallerKeys opens the API keys: in the store that several processes share, or, as
// only one process may have a store of its own open, in files beside it.
func (c *Config) openCallerKeys(store *state.Store) (auth.Store, func() error, error) {
	if c.NATSURL != "" {
		return ofInstallation{store.Kept()}, func() error { return nil }, nil
	}
	files, err := state.OpenFiles(filepath.Join(c.DataDir, "state"))
	if err != nil {
		return nil, nil, err
	}
	return files, files.Close, nil
}

// ofInstallation are values that belong to no user.
type ofInstallation struct{ kept *state.KV }

// installation is their owner. No pseudonym is as short.
const installation = "installation"

func (o ofInstallation) Put(ctx context.Context, name string, value []byte) error {
	return o.kept.Put(ctx, installation, name, value)
}

func (o ofInstallation) Get(ctx context.Context, name string) ([]byte, error) {
	return o.kept.Get(ctx, installation, name)
}

func (o ofInstallation) Delete(ctx context.Context, name string) error {
	return o.kept.Delete(ctx, installation, name)
}

func (o ofInstallation) List(ctx context.Context, folder string) ([]string, error) {
	return o.kept.List(ctx, installation, folder)
}

// maxNote bounds a key's note.
const maxNote = 200

// Run makes a key. The key alone goes to standard output.
func (k keysCreate) Run(ctx context.Context, c *Config, std streams) error {
	user, err := ident.ParseUser(k.User)
	if err != nil {
		return usageError{err}
	}
	if len(k.Note) > maxNote {
		return usageError{fmt.Errorf("the note has %d bytes; it may have %d", len(k.Note), maxNote)}
	}
	var rights auth.Rights
	for _, r := range k.Rights {
		rights.Run = rights.Run || r == "run"
		rights.Reveal = rights.Reveal || r == "reveal"
		rights.Approve = rights.Approve || r == "approve"
	}
	return c.withKeys(ctx, func(keys *auth.Keys) error {
		made, text, err := keys.Create(ctx, user, rights, k.Note)
		if err != nil {
			return err
		}
		if k.JSON {
			return printJSON(std.out, struct {
				auth.Key
				Secret string `json:"key"`
			}{made, text})
		}
		fmt.Fprintf(std.err, "key %s for %s: keep it, it cannot be shown again\n", made.ID, made.User)
		_, err = fmt.Fprintln(std.out, text)
		return err
	})
}

// Run lists the keys.
func (k keysList) Run(ctx context.Context, c *Config, std streams) error {
	return c.withKeys(ctx, func(keys *auth.Keys) error {
		all, err := keys.List(ctx)
		if err != nil {
			return err
		}
		if k.JSON {
			return printJSON(std.out, append([]auth.Key{}, all...))
		}
		w := tabwriter.NewWriter(std.out, 0, 0, 2, ' ', 0)
		for _, one := range all {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", one.ID, one.User, rightsText(one.Rights), one.Created.Format("2006-01-02"), one.Note)
		}
		return w.Flush()
	})
}

func rightsText(r auth.Rights) string {
	var all []string
	for _, right := range []struct {
		name string
		has  bool
	}{{"run", r.Run}, {"reveal", r.Reveal}, {"approve", r.Approve}} {
		if right.has {
			all = append(all, right.name)
		}
	}
	return strings.Join(all, ",")
}

// Run revokes a key.
func (k keysRevoke) Run(ctx context.Context, c *Config, std streams) error {
	return c.withKeys(ctx, func(keys *auth.Keys) error {
		err := keys.Revoke(ctx, k.ID)
		if errors.Is(err, fs.ErrNotExist) {
			return usageError{fmt.Errorf("there is no key %q; airlock keys list shows them", k.ID)}
		}
		if err == nil {
			fmt.Fprintf(std.err, "revoked %s\n", k.ID)
		}
		return err
	})
}
