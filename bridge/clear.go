package bridge

import (
	"fmt"

	"airlock/pii"
	"airlock/pii/reveal"
)

// inClear opens a text of a tool or for a tool. Its uses are the whole list of what
// the bridge does with real values: hand arguments to validation and to the tool,
// compile schemas, put descriptions together for tokenizing, tell lists of tools
// apart, and, in open sessions alone, hand results and sources to scripts.
// Nothing it returns may reach an answer, an error or a log without a vault.
func inClear(r pii.Raw) string { return reveal.Text(r) }

const originScript = pii.OriginScript

// ScriptSource is a script as its sandbox is to run it. In a sealed session that is
// the code as it stands; in an open one, real values stand in place of tokens. A
// value is put in as it is, so one with a quote in it can break a string literal.
func ScriptSource(v *pii.Vault, code string) (string, error) {
	if v.Mode() != pii.Open {
		return code, nil
	}
	raw, err := v.Detokenize(v.FromModel(code))
	if err != nil {
		return "", fmt.Errorf("put values into the script: %w", err)
	}
	return inClear(raw), nil
}
