package servers

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"airlock/docs"
	"airlock/servers/internal/document"
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
	root, err := document.Parse(data)
	if err != nil {
		return documentError(path, err)
	}
	schema, err := catalogSchema()
	if err != nil {
		return err
	}
	instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(bytes.TrimPrefix(data, document.ByteOrderMark)))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var invalid *jsonschema.ValidationError
	if err := schema.Validate(instance); !errors.As(err, &invalid) {
		return err
	}
	r := document.Reader{File: path}
	report(&r, root, invalid)
	return fmt.Errorf("catalog %s does not fit its schema:\n%w", path, errors.Join(r.Problems...))
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
func report(r *document.Reader, root *document.Node, e *jsonschema.ValidationError) {
	if len(e.Causes) > 0 {
		for _, cause := range e.Causes {
			report(r, root, cause)
		}
		return
	}
	// The keyword alone: the library's text would show the value, which may be a secret.
	r.Wrong(root.At(e.InstanceLocation), "breaks the schema's %q", strings.Join(e.ErrorKind.KeywordPath(), "/"))
}
