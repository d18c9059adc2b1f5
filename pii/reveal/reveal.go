// Package reveal opens what package pii keeps closed. Who imports it can read
// personal data in clear, so the list of its importers is the list of places to
// review: package bridge, which hands values to tools, and package
// orchestrator/api, which hands them to their user. A test holds the list.
package reveal

import (
	"airlock/pii"
	"airlock/pii/internal/boundary"
)

// Text returns the text of r in clear.
func Text(r pii.Raw) string { return boundary.Open(r) }
