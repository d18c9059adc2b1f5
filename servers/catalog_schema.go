package servers

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"airlock/docs"
)

// ValidateCatalog checks a catalog against the published schema, which editors
// use. It and LoadCatalog agree, but for what a schema cannot say: references to
// inputs, and what is given twice. The error lists mistakes by file, line and
// path.
func ValidateCatalog(path string) error {
	data, err := readCatalog(path)
	if err != nil {
		return err
	}
	root, err := parseDocument(data)
	if err != nil {
		return documentError(path, err)
	}
	schema, err := catalogSchema()
	if err != nil {
		return err
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(bytes.TrimPrefix(data, byteOrderMark)))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var invalid *jsonschema.ValidationError
	if err := schema.Validate(instance); !errors.As(err, &invalid) {
		return err
	}
	r := reader{file: path}
	report(&r, root, invalid)
	return fmt.Errorf("catalog %s does not fit its schema:\n%w", path, errors.Join(r.problems...))
}

func catalogSchema() (*jsonschema.Schema, error) {
	const address = "catalog.schema.json"
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(docs.CatalogSchema))
	if err != nil {
		return nil, fmt.Errorf("decode the schema of catalogs: %w", err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(address, doc); err != nil {
		return nil, fmt.Errorf("load the schema of catalogs: %w", err)
	}
	schema, err := c.Compile(address)
	if err != nil {
		return nil, fmt.Errorf("compile the schema of catalogs: %w", err)
	}
	return schema, nil
}

// report names the leaves of a validation error: what contains them says only
// that something inside is wrong.
func report(r *reader, root *node, e *jsonschema.ValidationError) {
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			report(r, root, cause)
		}
		return
	}
	// The keyword alone: the library's text would show the value, which may be a secret.
	r.wrong(root.at(e.InstanceLocation), "breaks the schema's %q", strings.Join(e.ErrorKind.KeywordPath(), "/"))
}

// at finds the node that a list of keys and indexes leads to, or the nearest
// one above it.
func (n *node) at(location []string) *node {
	for _, step := range location {
		next := n.step(step)
		if next == nil {
			break
		}
		n = next
	}
	return n
}

func (n *node) step(step string) *node {
	if i, err := strconv.Atoi(step); err == nil && n.kind == array && i < len(n.items) {
		return n.items[i]
	}
	for _, m := range n.members {
		if m.key == step {
			return m.value
		}
	}
	return nil
}
