package pii

import (
	"strings"
	"unicode/utf8"
)

// links follows an answer, as it is shown, and knows whether a value may stand at
// its end: not in an address that showing the answer would fetch or a click on it
// would open. An answer may be written by somebody who wants the values sent to
// him, for a renderer that we do not know. So links takes anything for an address
// that some reading of markdown, HTML or a bare line takes for one, and every
// construct lasts as long as in the reading in which it lasts longest. A nil
// *links holds nothing back.
type links struct {
	run     []byte // since the last white space, in lower case, at most maxRun of it
	long    bool   // run was longer than that
	address bool   // run was found to hold an address

	target     target  // of a markdown link or image
	definition opening // what follows the ]: of a reference definition
	defining   bool
	braces     bool // in the attributes after a link, or an argument of TeX
	tags       tags

	prev      byte
	blank     bool // nothing but blanks since the last line began
	prefix    bool // nothing but what may stand before a definition
	bracketed bool // a line of this paragraph began with a bracket
}

// maxRun bounds the words that are looked into; a value in a longer one is held.
const maxRun = 1024

func newLinks() *links { return &links{blank: true, prefix: true} }

// follow takes the next part of the text, with the values that are shown.
func (l *links) follow(s []byte) {
	if l == nil {
		return
	}
	for _, c := range s {
		l.step(c)
	}
}

func (l *links) step(c byte) {
	l.stepLine(c)
	l.stepDefinition(c)
	l.stepTarget(c)
	l.stepBraces(c)
	l.tags.step(l.prev, c)
	l.stepRun(c)
	l.prev = c
}

func (l *links) stepRun(c byte) {
	switch {
	case isSpace(c):
		l.run, l.long, l.address = l.run[:0], false, false
	case len(l.run) == maxRun:
		l.long = true
	default:
		l.run = append(l.run, lower(c))
	}
}

// stepLine ends at an empty line what no markdown goes on with.
func (l *links) stepLine(c byte) {
	switch {
	case c == '\n' && l.blank:
		l.target, l.defining, l.braces, l.bracketed = target{}, false, false, false
		l.tags.emptyLine()
		l.prefix = true
	case c == '\n':
		l.blank, l.prefix = true, true
	case c == '\r':
		l.prefix = true
	case c == ' ' || c == '\t':
	default:
		l.blank = false
		l.bracketed = l.bracketed || l.prefix && c == '['
		l.prefix = l.prefix && (c < ' ' || c >= utf8.RuneSelf || strings.IndexByte(">*+-.):0123456789", c) >= 0)
	}
}

// stepDefinition begins a definition at any ]: after a line that may begin one:
// what is a label is read in many ways.
func (l *links) stepDefinition(c byte) {
	switch {
	case l.defining:
		l.definition.add(c)
	case l.bracketed && l.prev == ']' && c == ':':
		l.defining, l.definition = true, opening{}
	}
}

func (l *links) stepTarget(c byte) {
	switch {
	case l.target.open:
		l.target.step(c)
	case c == '(' && (l.prev == ']' || l.runEnds("url")):
		l.target = target{open: true, fresh: true}
	}
}

func (l *links) stepBraces(c byte) {
	switch {
	case c == '}':
		l.braces = false
	case c == '{':
		l.braces = l.braces || l.prev == ')' || l.prev == ']' || l.prev == '{' ||
			l.runEnds(`\href`) || l.runEnds(`\url`) || l.runEnds(`\includegraphics`)
	case l.prev == '{':
		l.braces = l.braces || strings.IndexByte(":.#%", c) >= 0
	}
}

func (l *links) runEnds(s string) bool {
	return len(l.run) >= len(s) && string(l.run[len(l.run)-len(s):]) == s
}

// hold reports whether the value of a token that rest follows has to stay a token.
func (l *links) hold(rest string) bool {
	if l == nil {
		return false
	}
	if l.prev == '<' && rest == "" || l.prev == '<' && rest[0] != '>' {
		return true
	}
	if l.long || l.prev == ']' || l.inConstruct() && !l.personal() {
		return true
	}
	if _, glued, _ := hostAfter(rest); glued || l.gluedBefore() {
		return true
	}
	if l.mails() && rest != "" && strings.IndexByte(",;%&", rest[0]) >= 0 && len(rest) > 1 && !isSpace(rest[1]) {
		return true
	}
	l.address = l.address || isAddress(string(l.run))
	return l.address
}

func (l *links) inConstruct() bool {
	return l.target.open || l.defining || l.braces || l.tags.open()
}

// personal reports whether a value would be the first in an address that it
// belongs into. One that stands in two constructs does not count.
func (l *links) personal() bool {
	switch tags := l.tags.open() && (l.tags.states != tagName || !l.tags.personal()); {
	case l.braces:
		return false
	case l.target.open:
		return !l.defining && !tags && l.target.begin.personal()
	case l.defining:
		return !tags && l.definition.personal()
	}
	return l.tags.personal()
}

func (l *links) mails() bool { return l.runEnds("mailto:") || l.runEnds("tel:") || l.runEnds("tel:+") }

// undecided reports whether more text is needed to judge a token that rest follows.
func (l *links) undecided(rest string) bool {
	if l == nil {
		return false
	}
	_, _, more := hostAfter(rest)
	return more
}
