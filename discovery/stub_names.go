package discovery

import (
	"slices"
	"strconv"
	"strings"
)

// pythonWords cannot name a function or a parameter: Python's keywords, and what
// the stubs themselves use.
var pythonWords = map[string]bool{
	"False": true, "None": true, "True": true, "and": true, "as": true, "assert": true, "async": true,
	"await": true, "break": true, "class": true, "continue": true, "def": true, "del": true, "elif": true,
	"else": true, "except": true, "finally": true, "for": true, "from": true, "global": true, "if": true,
	"import": true, "in": true, "is": true, "lambda": true, "nonlocal": true, "not": true, "or": true,
	"pass": true, "raise": true, "return": true, "try": true, "while": true, "with": true, "yield": true,
	"Any": true, "Literal": true, "call_mcp_tool": true, "_call": true, "_others": true, "__debug__": true,
}

// ModuleName is the file name, without its ending, of a server's stubs: one that
// Python can import. Servers whose names differ in signs only share it; UniqueNames
// tells them apart.
func ModuleName(server string) string { return pythonName(server) }

// pythonName turns any name into an identifier: "get-sum" into get_sum, "2fa" into
// _2fa, "from" into from_.
func pythonName(name string) string {
	var b strings.Builder
	for i, r := range name {
		switch {
		case r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			b.WriteRune(r)
		case '0' <= r && r <= '9':
			if i == 0 {
				b.WriteByte('_')
			}
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	switch id := b.String(); {
	case strings.Trim(id, "_") == "":
		return "tool" + id
	case strings.HasPrefix(id, "__"): // Python would mangle or reserve it
		return "tool" + id
	case pythonWords[id]:
		return id + "_"
	default:
		return id
	}
}

// UniqueNames gives each of some different names an identifier of its own. It
// depends on the set only, not on its order: a name that is an identifier already
// keeps it, and of others that collide the later ones by name get _2, _3 and so on.
func UniqueNames(all []string) map[string]string {
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	given, taken := map[string]string{}, map[string]bool{}
	for _, name := range sorted {
		if pythonName(name) == name {
			given[name], taken[name] = name, true
		}
	}
	for _, name := range sorted {
		if _, done := given[name]; done {
			continue
		}
		base := pythonName(name)
		id := base
		for n := 2; taken[id]; n++ {
			id = base + "_" + strconv.Itoa(n)
		}
		given[name], taken[id] = id, true
	}
	return given
}
