package servers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"airlock/servers/internal/document"
)

// Catalog is the list of servers that may be used, read from catalog.json.
type Catalog struct {
	entries  []*Entry // in the order of the file
	warnings []string
	dir      string // absolute; what the file names is relative to it
}

// maxCatalogBytes is many times what a hand-written catalog needs.
const maxCatalogBytes = 1 << 20

// LoadCatalog reads and checks a catalog. lookup answers for environment
// variables that inputs name. The error lists every mistake with file, line and
// path; what is only unwise is in Warnings.
func LoadCatalog(path string, lookup func(string) (string, bool)) (*Catalog, error) {
	data, err := readCatalog(path)
	if err != nil {
		return nil, err
	}
	root, err := document.Parse(data)
	if err != nil {
		return nil, documentError(path, err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", path, err)
	}
	p := catalogParser{Reader: document.Reader{File: path}, dir: dir, lookup: lookup}
	c := p.catalog(root)
	c.dir = dir
	if len(p.Problems) > 0 {
		return nil, fmt.Errorf("catalog %s has mistakes:\n%w", path, errors.Join(p.Problems...))
	}
	c.warnings = p.Warnings
	return c, nil
}

func readCatalog(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("catalog %s does not exist; create it or name another with CATALOG: %w", path, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	if info.Size() > maxCatalogBytes {
		return nil, fmt.Errorf("catalog %s has %d bytes, more than the %d a catalog may have", path, info.Size(), maxCatalogBytes)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read catalog: %w", err)
	}
	return data, nil
}

func documentError(path string, err error) error {
	var placed *document.PlaceError
	if errors.As(err, &placed) {
		return fmt.Errorf("%s:%d: %w", path, placed.Line, err)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Warnings lists what is allowed but unwise, such as a secret written into the
// file, each with its place and the fix.
func (c *Catalog) Warnings() []string { return slices.Clone(c.warnings) }

// Entries lists the servers, also those that are not enabled, in the order of
// the file.
func (c *Catalog) Entries() []Entry {
	entries := make([]Entry, len(c.entries))
	for i, e := range c.entries {
		entries[i] = *e
	}
	return entries
}

type catalogParser struct {
	document.Reader
	dir    string
	lookup func(string) (string, bool)
	inputs map[string]*input
}

func (p *catalogParser) catalog(root *document.Node) *Catalog {
	c := &Catalog{}
	version, schema := 0, ""
	var inputs, list *document.Node
	p.Object(root, document.Fields{
		"$schema":       p.Text(&schema),
		"schemaVersion": p.Number(&version, 1, 1),
		"inputs":        func(n *document.Node) { inputs = n },
		"servers":       func(n *document.Node) { list = n },
	})
	if version == 0 && len(p.Problems) == 0 {
		p.Problem(root.Line, "schemaVersion", `is missing; write "schemaVersion": 1`)
	}
	p.readInputs(inputs)
	if list == nil {
		return c
	}
	p.Each(list, func(name string, n *document.Node) {
		if e := p.entry(name, n); e != nil {
			c.entries = append(c.entries, e)
		}
	})
	return c
}

// serverForm keeps server names fit for a tool's full name, whose parts are
// split at the first "__", for a file name and for a log.
var serverForm = regexp.MustCompile(`^[a-z0-9]+([-_]?[a-z0-9]+)*$`)
