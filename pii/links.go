package pii

import "strings"

// links follows an answer and knows whether a token stands in an address that
// showing the answer would fetch, or a click on it would open. It would rather
// hold a value back too often: an answer may be written by somebody who wants
// the values sent to him. A nil *links holds nothing back.
type links struct {
	run    []byte // since the last white space, in lower case, at most maxRun of it
	long   bool   // run was longer than that
	target bool   // in the target of a markdown link or image
	tag    bool   // in an HTML tag
	last   byte
}

const maxRun = 1024

func newLinks() *links { return &links{} }

// follow takes the next part of the text.
func (l *links) follow(s string) {
	if l == nil {
		return
	}
	for i := range len(s) {
		l.step(s[i])
	}
}

func (l *links) step(c byte) {
	switch {
	case l.last == ']' && c == '(':
		l.target = true
		l.restart()
	case c == ')' && l.target:
		l.target = false
		l.restart()
	case isSpace(c) || c == '<' || c == '>':
		l.restart()
	case len(l.run) == maxRun:
		l.long = true
	default:
		l.run = append(l.run, lower(c))
	}
	l.stepTag(c)
	l.last = c
}

// stepTag follows HTML: a tag begins with < and a letter, / or !, and ends at
// the next > or, since answers are markdown, at an empty line.
func (l *links) stepTag(c byte) {
	switch {
	case l.last == '<' && (isAlnum(c) || c == '/' || c == '!'):
		l.tag = true
	case c == '>' || c == '\n' && l.last == '\n':
		l.tag = false
	}
	if c == '\n' && l.last == '\n' {
		l.target = false
	}
}

func (l *links) restart() { l.run, l.long = l.run[:0], false }

// hold reports whether a token has to stay a token, and takes it in as part of
// the text.
func (l *links) hold() bool {
	if l == nil {
		return false
	}
	held := l.held()
	l.step('x')
	return held
}

func (l *links) held() bool {
	if l.long {
		return true
	}
	run := string(l.run)
	if l.personal(run) {
		return false
	}
	return l.target || l.tag || isAddress(run)
}

// personal reports whether run is the beginning of a mailto: or tel: address and
// has not come to its parameters.
func (l *links) personal(run string) bool {
	for _, scheme := range [...]string{"mailto:", "tel:"} {
		if at := strings.LastIndex(run, scheme); at >= 0 && !strings.ContainsAny(run[at:], "?&#/") && !isAddress(run[:at]) {
			return true
		}
	}
	return false
}

// isAddress reports whether run holds the beginning of an address: a scheme, //,
// www. or a host with a path.
func isAddress(run string) bool {
	if strings.Contains(run, "//") || strings.Contains(run, "www.") || strings.Contains(run, `\/\/`) {
		return true
	}
	at := strings.IndexAny(run, "/?#")
	return at > 0 && hasHost(run[:at])
}

// hasHost reports whether s ends in a host name with a dot, or a port after one.
func hasHost(s string) bool {
	if colon := strings.LastIndexByte(s, ':'); colon >= 0 && digits(s[colon+1:]) == len(s)-colon-1 {
		s = s[:colon]
	}
	dot := strings.LastIndexByte(s, '.')
	return dot > 0 && len(s)-dot > 2 && isAlnum(s[dot-1])
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
