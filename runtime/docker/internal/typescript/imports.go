package typescript

import (
	"regexp"
	"strings"
)

var (
	blank = regexp.MustCompile(`^(?:\s+|//[^\n]*|/\*(?s:.*?)\*/)+`)
	// declaration is an import declaration: clauses hold names, braces, commas and
	// comments, and never a quote before the module's name.
	declaration = regexp.MustCompile(`^import\b(?:\s+[\w$*{][^'"();=]*\bfrom|[ \t]*[{*][^'"();=]*\bfrom)?\s*(?:"[^"\n]*"|'[^'\n]*')(?:\s*with\s*\{[^}]*\})?[ \t]*;?`)
)

// importsEnd is where the import declarations at a script's beginning end.
func importsEnd(code string) int {
	end, at := 0, 0
	for {
		at += len(blank.FindString(code[at:]))
		if !strings.HasPrefix(code[at:], "import") {
			return end
		}
		size := len(declaration.FindString(code[at:]))
		if size == 0 {
			return end
		}
		at += size
		end = at
	}
}
