package pii

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// gluedBefore reports whether the run ends in what a value could go on as the name
// of a host or a mailbox.
func (l *links) gluedBefore() bool {
	s := string(l.run)
	return glued(s) || strings.IndexByte(s, '&') >= 0 && glued(html.UnescapeString(s))
}

func glued(s string) bool {
	for _, escape := range [...]string{`\n`, `\r`, `\t`} {
		if strings.HasSuffix(s, escape) {
			return false
		}
	}
	cut := strings.TrimRightFunc(s, func(r rune) bool { return r < utf8.RuneSelf && isJoint(byte(r)) || unicode.Is(unicode.Cf, r) })
	if cut == "" {
		return false
	}
	last := cut[len(cut)-1]
	return isAlnum(last) || last == '@' || last >= utf8.RuneSelf && strings.IndexByte(s[len(cut):], '.') >= 0
}

// isJoint reports whether c may stand within the name of a host or a mailbox, or
// is markup that does not show.
func isJoint(c byte) bool { return strings.IndexByte("-._+*~`\\", c) >= 0 }

// maxAfter bounds how far what follows a token is looked at.
const maxAfter = 256

// hostAfter tells of what follows a token whether it makes the value part of the
// name of a host or a mailbox. If s is too short to know, more is true. It stops
// at n.
func hostAfter(s string) (n int, glued, more bool) {
	foreign, dot := false, false
	for i := 0; i < len(s); {
		if i >= maxAfter {
			return i, true, false
		}
		c := s[i]
		switch {
		case isAlnum(c) && (!foreign || dot):
			return i, true, false
		case isAlnum(c):
		case c == '\\' && i+1 == len(s):
			return i, false, true
		case c == '\\' && strings.IndexByte("nrt", s[i+1]) >= 0:
			return i, false, false
		case isJoint(c):
			dot = dot || c == '.' || c == '-'
		case c >= utf8.RuneSelf:
			if !utf8.FullRuneInString(s[i:]) {
				return i, false, true
			}
			r, size := utf8.DecodeRuneInString(s[i:])
			letter := unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
			if letter && dot || !letter && !unicode.Is(unicode.Cf, r) {
				return i, letter, false
			}
			foreign = foreign || letter
			i += size
			continue
		default:
			glued, more = joins(s[i:])
			return i, glued, more
		}
		i++
	}
	return len(s), false, true
}

// harmless are the references that text is written with.
var harmless = [...]string{"&lt;", "&gt;", "&amp;", "&quot;", "&nbsp;", "&#39;"}

// joins is hostAfter for a character that ends a name, unless more follows.
func joins(s string) (glued, more bool) {
	next := func(set string) (bool, bool) {
		return len(s) > 1 && strings.IndexByte(set, lower(s[1])) >= 0, len(s) == 1
	}
	switch s[0] {
	case '@':
		return true, false
	case ':':
		return next(`/\`)
	case ',', ';':
		_, more := next("")
		return false, more
	case '%':
		return next("0123456789abcdef")
	case '&':
		for _, h := range harmless {
			if strings.HasPrefix(s, h) {
				return false, false
			}
			more = more || strings.HasPrefix(h, s)
		}
		if more {
			return false, true
		}
		return next("#0123456789abcdefghijklmnopqrstuvwxyz")
	}
	return false, false
}
