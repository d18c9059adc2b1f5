package database

import (
	"errors"
	"strings"
)

// statement is SQL that has been looked at without being understood: enough to
// take exactly one statement and to say clearly what is refused.
type statement struct{ text string }

var (
	errEmpty = errors.New("the query is empty")
	errTwo   = errors.New("give one statement at a time")
)

// parseStatement checks that text is one statement that reads.
func parseStatement(text string) (statement, error) {
	if strings.IndexByte(text, 0) >= 0 {
		return statement{}, errors.New("the query holds a NUL character")
	}
	first, end, over := "", 0, false
	for i := 0; i < len(text); {
		next, blank := skip(text, i)
		switch {
		case blank:
		case text[i] == ';':
			over = true
		case over:
			return statement{}, errTwo
		default:
			if first == "" {
				first = strings.ToUpper(text[i:next])
			}
			end = next
		}
		i = next
	}
	switch first {
	case "":
		return statement{}, errEmpty
	case "SELECT", "WITH", "VALUES":
		// Without what follows: SQLite calls a column by all the text up to the end.
		return statement{text: text[:end]}, nil
	}
	return statement{}, errors.New("this server only reads: a query starts with SELECT, WITH or VALUES; " +
		"tables are described by the tools list_tables and describe_table")
}

// skip returns where the token at i ends and whether it is white space or a comment.
func skip(text string, i int) (next int, blank bool) {
	rest := text[i:]
	switch c := rest[0]; {
	case strings.HasPrefix(rest, "--"):
		return i + until(rest, "\n", 2), true
	case strings.HasPrefix(rest, "/*"):
		return i + until(rest, "*/", 2), true
	case strings.IndexByte(" \t\r\n\f", c) >= 0:
		return i + 1, true
	case c == '\'' || c == '"' || c == '`':
		return i + until(rest, string(c), 1), false
	case c == '[':
		return i + until(rest, "]", 1), false
	case !word(c):
		return i + 1, false
	}
	n := 1
	for n < len(rest) && word(rest[n]) {
		n++
	}
	return i + n, false
}

// until returns the length up to and including mark, or all of s. A doubled
// quote ends one string and begins another, which makes no difference here.
func until(s, mark string, from int) int {
	if n := strings.Index(s[from:], mark); n >= 0 {
		return from + n + len(mark)
	}
	return len(s)
}

func word(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
