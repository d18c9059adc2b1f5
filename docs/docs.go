// Package docs holds those documents of the project that the program itself
// reads.
package docs

import _ "embed"

// CatalogSchema is the JSON Schema of catalog.json, which editors find by the
// file's "$schema" and airlock checks the file with.
//
//go:embed catalog.schema.json
var CatalogSchema []byte

// OpenAPI describes the HTTP API (OpenAPI 3.1).
//
//go:embed openapi.json
var OpenAPI []byte
