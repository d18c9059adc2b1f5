package pii

import (
	"unicode/utf8"

	"airlock/pii/internal/boundary"
)

// Cut returns the beginning of t, at most maxBytes long. It never ends within a
// token of any session, within a character or within an escape of JSON.
func Cut(t Tokenized, maxBytes int) Tokenized {
	text := t.String()
	if len(text) <= maxBytes {
		return t
	}
	end := max(maxBytes, 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return boundary.Seal(text[:cutBeforeEscape(text, cutBeforeToken(text, end))])
}

// cutBeforeEscape moves end to before an escape of JSON that it would divide.
func cutBeforeEscape(text string, end int) int {
	for i := max(0, end-5); i < end; i++ {
		if text[i] == '\\' && i+1 < len(text) && text[i+1] == 'u' && i+6 > end {
			end = i
		}
	}
	for end > 0 && text[end-1] == '\\' {
		end--
	}
	return end
}

// cutBeforeToken moves end to the beginning of the word that it would divide, if
// that word has the looks of a token, brackets included.
func cutBeforeToken(text string, end int) int {
	start, stop := end, end
	for start > 0 && inToken(text[start-1]) {
		start--
	}
	for stop < len(text) && inToken(text[stop]) {
		stop++
	}
	if start == stop || !tokenLike(text[start:stop]) {
		return end
	}
	return start
}

// inToken reports the bytes that a token may consist of as it is written by us or
// by a model, see brackets.
func inToken(c byte) bool {
	return isAlnum(c) || c == '_' || c == '[' || c == ']' || c == '\\' || c == '%'
}

// tokenLike reports whether a run holds two underscores with digits between them,
// and something on either side.
func tokenLike(run string) bool {
	for i := 1; i < len(run); i++ {
		if run[i-1] != '_' {
			continue
		}
		n := digits(run[i:])
		rest := run[i+n:]
		for rest != "" && rest[0] == '\\' {
			rest = rest[1:]
		}
		if n > 0 && len(rest) > nonceLen && rest[0] == '_' {
			return true
		}
	}
	return false
}
