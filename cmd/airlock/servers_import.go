package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"airlock/servers"
	"airlock/servers/importer"
)

type serversImport struct {
	File  string   `arg:"" type:"existingfile" help:"mcpServers of Claude and others, mcp.json of VS Code, server.json of a registry, or server.yaml of Docker's."`
	Only  []string `help:"Take only these servers of the file."`
	Write bool     `help:"Add them to the catalog in place of printing them."`
}

// Run prints the entries as a catalog, or adds them to the one there is. What
// could not be taken over goes to standard error.
func (i serversImport) Run(_ context.Context, c *Config, std streams) error {
	f, err := os.Open(i.File)
	if err != nil {
		return fmt.Errorf("open the file: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, importer.MaxBytes+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", i.File, err)
	}
	found, err := importer.Read(i.File, data)
	if err != nil {
		return usageError{err}
	}
	if len(i.Only) > 0 {
		if err := found.Only(i.Only...); err != nil {
			return usageError{err}
		}
	}
	for _, w := range found.Warnings {
		fmt.Fprintf(std.err, "airlock: %s\n", w)
	}
	return c.enter(found, i.Write, std)
}

// enter prints what was found or writes it into the catalog.
func (c *Config) enter(found *importer.Result, write bool, std streams) error {
	if !write {
		text, err := found.JSON()
		if err != nil {
			return err
		}
		_, err = std.out.Write(text)
		return err
	}
	if err := c.mergeIntoCatalog(found); err != nil {
		return err
	}
	names := make([]string, len(found.Servers))
	for i, s := range found.Servers {
		names[i] = s.Name
	}
	fmt.Fprintf(std.out, "added to %s: %s\n", c.Catalog, strings.Join(names, ", "))
	return nil
}

// mergeIntoCatalog replaces the catalog by one that has more, if that is valid.
func (c *Config) mergeIntoCatalog(found *importer.Result) error {
	path := c.Catalog
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	before, err := os.ReadFile(path)
	mode := os.FileMode(0o644)
	switch info, statErr := os.Stat(path); {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("read the catalog: %w", err)
	case statErr == nil:
		mode = info.Mode().Perm()
	}
	after, err := found.Merge(before)
	if err != nil {
		return usageError{err}
	}
	return replaceCatalog(path, before, after, mode)
}

// replaceCatalog writes beside the file and renames, so that the catalog is never
// half written, and only if what is written can be read again.
func replaceCatalog(path string, before, after []byte, mode os.FileMode) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".catalog-*.json")
	if err != nil {
		return fmt.Errorf("write the catalog: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(after)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write the catalog: %w", err)
	}
	if _, err := servers.LoadCatalog(f.Name(), os.LookupEnv); err != nil {
		return usageError{fmt.Errorf("nothing was written, as the catalog would have mistakes: %w", err)}
	}
	if now, err := os.ReadFile(path); err == nil && !bytes.Equal(now, before) {
		return fmt.Errorf("nothing was written, as %s was changed meanwhile; try again", path)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("replace the catalog: %w", err)
	}
	return nil
}

type serversAdd struct {
	Name        string   `arg:"" help:"What to call the server; one of --npm, --pypi, --url and --command says what it is."`
	NPM         string   `name:"npm" xor:"how" required:"" help:"Package of npm, as NAME@VERSION."`
	PyPI        string   `name:"pypi" xor:"how" required:"" help:"Package of PyPI, as NAME@VERSION."`
	URL         string   `name:"url" xor:"how" required:"" help:"Address of a remote server."`
	Command     string   `xor:"how" required:"" help:"Program that is the server."`
	Args        []string `sep:"none" help:"An argument of the server; give it once for each."`
	Env         []string `sep:"none" help:"A variable of the server, as NAME=VALUE; NAME alone takes its value from airlock's environment."`
	Header      []string `sep:"none" help:"A header for a remote server, as NAME: VALUE."`
	SSE         bool     `name:"sse" help:"The remote server speaks the older SSE transport."`
	Description string   `help:"What the server is for."`
	Print       bool     `help:"Print the entry in place of adding it."`
}

// Run adds an entry, whose secrets become inputs as those of imports do.
func (a serversAdd) Run(_ context.Context, c *Config, std streams) error {
	found, err := importer.New(importer.Spec{
		Name: a.Name, NPM: a.NPM, PyPI: a.PyPI, URL: a.URL, Command: a.Command, Args: a.Args, Env: a.Env, Headers: a.Header,
		SSE: a.SSE, Description: a.Description,
	})
	if err != nil {
		return usageError{err}
	}
	for _, w := range found.Warnings {
		fmt.Fprintf(std.err, "airlock: %s\n", w)
	}
	return c.enter(found, !a.Print, std)
}
