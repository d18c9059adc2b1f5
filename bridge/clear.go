package bridge

import (
	"airlock/pii"
	"airlock/pii/reveal"
)

// inClear opens a text of a tool or for a tool. Its uses are the whole list of what
// the bridge does with real values: hand arguments to validation and to the tool,
// compile schemas, put descriptions together for tokenizing, and tell lists of
// tools apart.
// Nothing it returns may reach an answer, an error or a log without a vault.
func inClear(r pii.Raw) string { return reveal.Text(r) }

const originScript = pii.OriginScript
