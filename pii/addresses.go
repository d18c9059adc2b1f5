package pii

import (
	"html"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isAddress reports whether run holds the beginning of an address, however it is
// written.
func isAddress(run string) bool {
	if plainAddress(run) {
		return true
	}
	plain := plainRun(run)
	return plain != run && plainAddress(plain)
}

// maxDecodings bounds how often a run is decoded.
const maxDecodings = 3

// plainRun undoes what markdown, HTML and browsers undo.
func plainRun(s string) string {
	for range maxDecodings {
		before := s
		if strings.IndexByte(s, '&') >= 0 {
			s = html.UnescapeString(s)
		}
		if strings.IndexByte(s, '%') >= 0 {
			if decoded, err := url.PathUnescape(s); err == nil {
				s = decoded
			}
		}
		if s == before {
			break
		}
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\\' && i+1 < len(s) && s[i+1] > ' ' && s[i+1] < utf8.RuneSelf && !isAlnum(s[i+1]):
		case r == '\\':
			b.WriteByte('/')
		case r == '。' || r == '．' || r == '｡':
			b.WriteByte('.')
		case r <= ' ' || unicode.Is(unicode.Cf, r):
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

// schemes are those that renderers make links of without being told, or that are
// links for sure. Any word may be a label, as in name:value.
var schemes = map[string]bool{
	"http": true, "https": true, "ftp": true, "ftps": true, "sftp": true, "ws": true, "wss": true, "file": true, "blob": true, "data": true,
	"javascript": true, "vbscript": true, "xmpp": true, "sip": true, "sips": true, "sms": true, "skype": true, "callto": true, "facetime": true,
	"whatsapp": true, "tg": true, "irc": true, "ircs": true, "ssh": true, "git": true, "magnet": true, "intent": true, "view-source": true,
}

// plainAddress looks for a scheme, //, www. or a host with a path.
func plainAddress(s string) bool {
	if strings.Contains(s, "//") || strings.Contains(s, "www.") || strings.Contains(s, `/\`) {
		return true
	}
	for i := range len(s) {
		switch s[i] {
		case ':':
			if isScheme(s[:i], s[i:]) {
				return true
			}
		case '/', '?', '#':
			if hasHost(s[:i]) {
				return true
			}
		}
	}
	return false
}

// isScheme reports whether before ends in a scheme that after, with its colon,
// makes an address of.
func isScheme(before, after string) bool {
	start := len(before)
	for start > 0 && (isAlnum(before[start-1]) || before[start-1] == '-') && len(before)-start < maxScheme {
		start--
	}
	name := before[start:]
	if name == "mailto" || name == "tel" {
		return !isPersonal(name + after)
	}
	return schemes[name]
}

// maxScheme bounds the length of a scheme that we know.
const maxScheme = 16

// hasHost reports whether s ends in a host: a name with a dot, or an address of
// four numbers; a port may follow it.
func hasHost(s string) bool {
	if colon := strings.LastIndexByte(s, ':'); colon >= 0 && digits(s[colon+1:]) == len(s)-colon-1 {
		s = s[:colon]
	}
	s = strings.TrimSuffix(s, ".")
	label := lastLabel(s)
	before := strings.TrimSuffix(s, label)
	if len(label) == 0 || len(before) < 2 || before[len(before)-1] != '.' || !isLabel(before[len(before)-2]) {
		return false
	}
	return len(label) > 1 && digits(label) < len(label) || isFourNumbers(s)
}

func lastLabel(s string) string {
	return s[len(strings.TrimRightFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || isLabel(byte(r)) })):]
}

func isLabel(c byte) bool { return isAlnum(c) || c == '-' || c >= utf8.RuneSelf }

// isFourNumbers reports whether s ends in four numbers with dots between them.
func isFourNumbers(s string) bool {
	for n := range 4 {
		cut := strings.TrimRight(s, "0123456789")
		if len(cut) == len(s) || n < 3 && !strings.HasSuffix(cut, ".") {
			return false
		}
		s = strings.TrimSuffix(cut, ".")
	}
	return true
}
