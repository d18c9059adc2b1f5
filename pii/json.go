package pii

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// isLiteral reports the bytes of numbers and of true, false and null.
func isLiteral(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b == '-' || b == '+' || b == '.' || b == 'E'
}

// The escapes of JSON (RFC 8259, 7) and what they stand for.
const (
	escapeNames = `"\/bfnrt`
	escapeBytes = "\"\\/\b\f\n\r\t"
)

const hexDigits = "0123456789abcdef"

func hexDigit(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b >= 'a' && b <= 'f':
		return int(b-'a') + 10
	case b >= 'A' && b <= 'F':
		return int(b-'A') + 10
	}
	return -1
}

// isDelicate reports whether a string of JSON has to escape something of s.
func isDelicate(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] == '"' || s[i] == '\\' {
			return true
		}
	}
	return false
}

// escape writes s as it has to be in a JSON string, and changes nothing else, so
// that bytes which are no UTF-8 survive.
func escape(s string) string {
	if !isDelicate(s) {
		return s
	}
	out := make([]byte, 0, len(s)+8)
	for i := range len(s) {
		switch at := strings.IndexByte(escapeBytes, s[i]); {
		case at >= 0 && s[i] != '/':
			out = append(out, '\\', escapeNames[at])
		case s[i] < ' ':
			out = append(out, '\\', 'u', '0', '0', hexDigits[s[i]>>4], hexDigits[s[i]&15])
		default:
			out = append(out, s[i])
		}
	}
	return string(out)
}

// unescape reads the inside of a JSON string; false means that it is none.
func unescape(s string) (string, bool) {
	if !isDelicate(s) {
		return s, true
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			if s[i] == '"' || s[i] < ' ' {
				return "", false
			}
			out = append(out, s[i])
			i++
			continue
		}
		r, n := unescapeOne(s[i:])
		if n == 0 {
			return "", false
		}
		out = utf8.AppendRune(out, r)
		i += n
	}
	return string(out), true
}

// unescapeOne reads the escape that s begins with, and its length; 0 means that
// it is none.
func unescapeOne(s string) (rune, int) {
	if len(s) < 2 {
		return 0, 0
	}
	if at := strings.IndexByte(escapeNames, s[1]); at >= 0 {
		return rune(escapeBytes[at]), 2
	}
	r, ok := unicodeEscape(s)
	if !ok {
		return 0, 0
	}
	if low, ok := unicodeEscape(s[6:]); ok && utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

func unicodeEscape(s string) (rune, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(s[2:6]) {
		digit := hexDigit(c)
		if digit < 0 {
			return 0, false
		}
		r = r<<4 | rune(digit)
	}
	return r, true
}

// isNumber reports whether s is a number of JSON (RFC 8259, 6).
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		n := digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		n := digits(s)
		return n > 0 && n == len(s)
	}
	return s == ""
}

// digits is the number of digits that s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// quotes are one quote as it is written at each depth of strings.
var quotes = func() (q [maxDepth]string) {
	q[0] = `"`
	for i := 1; i < maxDepth; i++ {
		q[i] = escape(q[i-1])
	}
	return q
}()
