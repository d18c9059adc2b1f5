package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"airlock/discovery"
	"airlock/servers"
)

type serversDiff struct {
	Names   []string `arg:"" optional:"" help:"Servers to look at; the enabled ones by default."`
	Approve bool     `help:"Remember what the servers say now as approved."`
	User    string   `default:"local" help:"User to look as."`
	JSON    bool     `help:"Print JSON."`
}

// toolChange is one difference between what was approved and what is said now.
type toolChange struct {
	Tool   string `json:"tool"`
	Change string `json:"change"` // new, gone or changed
	// Parts are what changed, as it was and as it is.
	Parts []partChange `json:"parts,omitempty"`
}

type partChange struct {
	Part   string `json:"part"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Run compares what each server says of its tools with what was approved. It
// fails if there is a difference, so that scripts notice, or a server that could
// not be asked; what was approved of that one stays.
func (d serversDiff) Run(ctx context.Context, c *Config, std streams) error {
	names, err := d.names(c)
	if err != nil {
		return err
	}
	approved, err := c.approvedTools()
	if err != nil {
		return err
	}
	changes, failed := []toolChange{}, 0
	for _, name := range names {
		now, err := d.now(ctx, c, std, name)
		if err != nil {
			fmt.Fprintf(std.err, "airlock: %v\n", err)
			failed++
			continue
		}
		changes = append(changes, compare(approved[name], now)...)
		approved[name] = now
	}
	if err := d.print(std.out, changes, failed == 0); err != nil {
		return err
	}
	if d.Approve {
		if err := c.keepApproved(approved); err != nil {
			return err
		}
	}
	if failed > 0 || len(changes) > 0 && !d.Approve {
		return errReported
	}
	return nil
}

func (d serversDiff) names(c *Config) ([]string, error) {
	catalog, err := servers.LoadCatalog(c.Catalog, os.LookupEnv)
	if err != nil {
		return nil, usageError{err}
	}
	if _, err := catalog.Only(d.Names...); err != nil {
		return nil, usageError{err}
	}
	names := d.Names
	for _, e := range catalog.Entries() {
		if len(d.Names) == 0 && e.Enabled {
			names = append(names, e.Name)
		}
	}
	return names, nil
}

func (d serversDiff) now(ctx context.Context, c *Config, std streams, name string) ([]toolDefinition, error) {
	single := *c
	single.only = []string{name}
	cl, err := single.light().connect(std)
	if err != nil {
		return nil, err
	}
	defer cl.close()
	done := progress(std, "asking "+name)
	defer done()
	return cl.started(ctx, name, d.User)
}

func (d serversDiff) print(out io.Writer, changes []toolChange, all bool) error {
	if d.JSON {
		return printJSON(out, changes)
	}
	for _, change := range changes {
		fmt.Fprintf(out, "%-8s %s\n", change.Change, change.Tool)
		for _, p := range change.Parts {
			fmt.Fprintf(out, "  %s\n    - %s\n    + %s\n", p.Part, firstLine(p.Before, 400), firstLine(p.After, 400))
		}
	}
	if len(changes) == 0 && all {
		fmt.Fprintln(out, "nothing changed")
	}
	return nil
}

// compare tells tools apart by their fingerprints.
func compare(before, now []toolDefinition) []toolChange {
	var changes []toolChange
	for _, t := range now {
		i := slices.IndexFunc(before, func(b toolDefinition) bool { return b.Name == t.Name })
		switch {
		case i < 0:
			changes = append(changes, toolChange{Tool: t.Name, Change: "new"})
		case before[i].fingerprint() != t.fingerprint():
			changes = append(changes, toolChange{Tool: t.Name, Change: "changed", Parts: before[i].parts(t)})
		}
	}
	for _, b := range before {
		if !slices.ContainsFunc(now, func(t toolDefinition) bool { return t.Name == b.Name }) {
			changes = append(changes, toolChange{Tool: b.Name, Change: "gone"})
		}
	}
	return changes
}

func (t toolDefinition) fingerprint() string {
	return discovery.Fingerprint(discovery.Definition{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
	})
}

func (t toolDefinition) parts(now toolDefinition) []partChange {
	var list []partChange
	for _, p := range []partChange{
		{"title", t.Title, now.Title}, {"description", t.Description, now.Description},
		{"input schema", packed(t.InputSchema), packed(now.InputSchema)}, {"output schema", packed(t.OutputSchema), packed(now.OutputSchema)},
	} {
		if p.Before != p.After {
			list = append(list, p)
		}
	}
	return list
}

func packed(schema json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil {
		return string(schema)
	}
	return b.String()
}

// approvedFile keeps what servers said of their tools when that was approved.
const approvedFile = "approved-tools.json"

func (c *Config) approvedTools() (map[string][]toolDefinition, error) {
	approved := map[string][]toolDefinition{}
	data, err := os.ReadFile(filepath.Join(c.DataDir, approvedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return approved, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &approved)
	}
	if err != nil {
		return nil, fmt.Errorf("read the approved tools: %w; remove %s to begin anew", err, filepath.Join(c.DataDir, approvedFile))
	}
	return approved, nil
}

func (c *Config) keepApproved(approved map[string][]toolDefinition) error {
	text, err := json.MarshalIndent(approved, "", " ")
	if err != nil {
		return fmt.Errorf("encode the approved tools: %w", err)
	}
	path := filepath.Join(c.DataDir, approvedFile)
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return fmt.Errorf("keep the approved tools: %w", err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return fmt.Errorf("keep the approved tools: %w", err)
	}
	return nil
}
