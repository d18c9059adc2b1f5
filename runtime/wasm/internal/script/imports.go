package script

import (
	"regexp"
	"strings"
)

// IsModule reports whether a source has an import or export declaration, that
// is, whether it has to be read as an ES module.
func IsModule(code string) bool {
	found := false
	if strings.Contains(code, "import") || strings.Contains(code, "export") {
		scan(code, func(s *scanner, word string) {
			found = found || word == "export" || word == "import" && !s.isCall()
		})
	}
	return found
}

// awaitImports turns import declarations into declarations of constants that
// await import(), on the same lines.
func awaitImports(code string) string {
	if !strings.Contains(code, "import") {
		return code
	}
	var out strings.Builder
	copied := 0
	scan(code, func(s *scanner, word string) {
		if word != "import" || s.isCall() {
			return
		}
		start := s.pos - len(word)
		text, size := awaitedImport(code[start:])
		if size == 0 {
			return // not the form we know: the engine will say what is wrong
		}
		out.WriteString(code[copied:start])
		out.WriteString(text)
		s.pos = start + size
		copied = s.pos
	})
	out.WriteString(code[copied:])
	return out.String()
}

const (
	identifier = `([\p{L}_$][\p{L}\p{N}_$]*)`
	specifier  = `("[^"\n]*"|'[^'\n]*')(?:\s*with\s*\{[^}]*\})?[ \t]*;?`
)

// The import declarations (ECMAScript, "Imports"): a default name, a namespace
// or names, a specifier; and those of types, which leave nothing behind.
var (
	importForm = regexp.MustCompile(`^import\s*(?:` + identifier + `?\s*,?\s*(?:\*\s*as\s+` + identifier +
		`|\{([^}]*)\})?\s*from)?\s*` + specifier)
	importTypes = regexp.MustCompile(`^import\s+type\s+(?:\{[^}]*\}|\*\s*as\s+` + identifier + `|` + identifier +
		`)\s*from\s*` + specifier)
)

// awaitedImport rewrites the declaration that code begins with and returns how
// many bytes it was; zero if it is none.
func awaitedImport(code string) (text string, size int) {
	declaration := importTypes.FindString(code)
	if declaration == "" {
		match := importForm.FindStringSubmatch(code)
		if match == nil {
			return "", 0
		}
		declaration, text = match[0], awaited(match)
	}
	return text + strings.Repeat("\n", strings.Count(declaration, "\n")), len(declaration)
}

func awaited(m []string) string {
	name, namespace, names, from := m[1], m[2], m[3], m[4]
	call := "await import(" + from + ")"
	var targets []string
	if name != "" {
		targets = append(targets, "default:"+name)
	}
	for item := range strings.SplitSeq(names, ",") {
		item = strings.Join(strings.Fields(item), " ")
		if item == "" || strings.HasPrefix(item, "type ") && item != "type as" {
			continue
		}
		targets = append(targets, strings.Replace(item, " as ", ":", 1))
	}
	object := "{" + strings.Join(targets, ",") + "}"
	switch {
	case namespace != "" && name != "":
		return "const " + namespace + "=" + call + "," + object + "=" + namespace + ";"
	case namespace != "":
		return "const " + namespace + "=" + call + ";"
	case len(targets) > 0:
		return "const " + object + "=" + call + ";"
	default:
		return call + ";"
	}
}

// scanner walks over a source, past strings, templates, comments and regular
// expressions, and counts brackets. It decides what a slash begins by what comes
// before it, which is right but for contrived code.
type scanner struct {
	code      string
	pos       int
	depth     int
	templates []int // depths at which a template's ${ was opened
	value     bool  // what came before ends a value: a slash divides
	dot       bool  // what came before is a dot: a word is a property
}

// scan calls word for each word outside all brackets that may begin a statement.
func scan(code string, word func(s *scanner, word string)) {
	s := &scanner{code: code}
	for s.pos < len(code) {
		c := code[s.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			s.pos++
		case strings.HasPrefix(code[s.pos:], "//"):
			s.skipTo("\n")
		case strings.HasPrefix(code[s.pos:], "/*"):
			s.pos += 2
			s.skipTo("*/")
		case c == '\'' || c == '"':
			s.quoted(c)
		case c == '`':
			s.pos++
			s.template()
		case c == '/' && !s.value:
			s.regexp()
		case isWord(c):
			w := s.word()
			if s.depth == 0 && !s.dot {
				word(s, w)
			}
			s.value, s.dot = !operators[w], false
		default:
			s.punctuation(c)
		}
	}
}

// operators are the words after which a slash begins a regular expression.
var operators = map[string]bool{
	"return": true, "typeof": true, "case": true, "in": true, "of": true, "delete": true, "void": true,
	"throw": true, "new": true, "else": true, "do": true, "await": true, "yield": true, "instanceof": true,
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func (s *scanner) word() string {
	start := s.pos
	for s.pos < len(s.code) && isWord(s.code[s.pos]) {
		s.pos++
	}
	return s.code[start:s.pos]
}

// isCall reports whether what follows makes import( or import.meta of an import.
func (s *scanner) isCall() bool {
	rest := strings.TrimLeft(s.code[s.pos:], " \t\r\n")
	return strings.HasPrefix(rest, "(") || strings.HasPrefix(rest, ".")
}

func (s *scanner) punctuation(c byte) {
	s.pos++
	s.value, s.dot = c == ')' || c == ']', c == '.'
	switch c {
	case '(', '[', '{':
		s.depth++
	case ')', ']':
		s.depth = max(s.depth-1, 0)
	case '}':
		s.depth = max(s.depth-1, 0)
		if n := len(s.templates); n > 0 && s.templates[n-1] == s.depth {
			s.templates = s.templates[:n-1]
			s.template()
		}
	}
}

func (s *scanner) skipTo(end string) {
	if i := strings.Index(s.code[s.pos:], end); i >= 0 {
		s.pos += i + len(end)
		return
	}
	s.pos = len(s.code)
}

func (s *scanner) quoted(quote byte) {
	for s.pos++; s.pos < len(s.code) && s.code[s.pos] != quote && s.code[s.pos] != '\n'; s.pos++ {
		if s.code[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos++
	s.value, s.dot = true, false
}

// template walks over a template's text to its end or to an expression in it.
func (s *scanner) template() {
	for ; s.pos < len(s.code); s.pos++ {
		switch {
		case s.code[s.pos] == '\\':
			s.pos++
		case s.code[s.pos] == '`':
			s.pos++
			s.value, s.dot = true, false
			return
		case strings.HasPrefix(s.code[s.pos:], "${"):
			s.pos += 2
			s.templates = append(s.templates, s.depth)
			s.depth++
			s.value, s.dot = false, false
			return
		}
	}
}

func (s *scanner) regexp() {
	class := false
	for s.pos++; s.pos < len(s.code) && s.code[s.pos] != '\n'; s.pos++ {
		switch c := s.code[s.pos]; {
		case c == '\\':
			s.pos++
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			s.pos++
			s.value, s.dot = true, false
			return
		}
	}
}
