package pii

import (
	"html"
	"net/url"
	"strings"
	"unicode"
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

// target is what stands in the parentheses of a link. They may be nested. Escaped
// ones open but do not close, since not all who read markdown know escapes.
type target struct {
	open   bool
	begin  opening
	depth  int
	angle  bool // in <>
	quote  byte // in a title
	escape bool
	fresh  bool // a title may begin
}

func (t *target) step(c byte) {
	start := t.begin.n == 0
	t.begin.add(c)
	fresh := t.fresh
	t.fresh = isSpace(c)
	switch {
	case t.escape:
		t.escape = false
		if c == '(' && t.quote == 0 && !t.angle {
			t.depth++
		}
	case c == '\\':
		t.escape = true
	case t.angle:
		t.angle = c != '>'
	case t.quote != 0:
		if c == t.quote {
			t.quote = 0
		}
	case c == '<' && start:
		t.angle = true
	case fresh && (c == '"' || c == '\''):
		t.quote = c
	case c == '(':
		t.depth++
	case c == ')' && t.depth > 0:
		t.depth--
	case c == ')':
		*t = target{}
	}
}

// opening is how an address begins, as far as it matters for mailto: and tel:.
type opening struct {
	text [len("mailto:") + 1]byte
	n    int
}

func (o *opening) add(c byte) {
	if o.n == len(o.text) || o.n == 0 && (isSpace(c) || c == '<') {
		return
	}
	o.text[o.n] = lower(c)
	o.n++
}

func (o *opening) personal() bool { return isPersonal(string(o.text[:o.n])) }

// isPersonal reports whether s is an address up to where a value belongs.
func isPersonal(s string) bool { return s == "mailto:" || s == "tel:" || s == "tel:+" }

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

// undecided reports whether more text is needed to judge a token that rest follows.
func (l *links) undecided(rest string) bool {
	if l == nil {
		return false
	}
	_, _, more := hostAfter(rest)
	return more
}

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

// tags follows HTML as the tokenizer of browsers does, from each < at once that
// may begin a tag: whether one is in a comment, in code or in another's attribute
// depends on who reads it. https://html.spec.whatwg.org/multipage/parsing.html
type tags struct {
	states  tagState // all that are possible
	name    [len("datalist") + 1]byte
	nameLen int
	attr    [len("href") + 1]byte
	attrLen int
	value   opening
	lost    bool // nothing more can be known
}

type tagState uint8

const (
	tagName tagState = 1 << iota
	beforeAttr
	attrName
	afterAttr
	beforeAttrValue
	doubleQuoted
	singleQuoted
	unquoted
)

func (t *tags) open() bool { return t.states != 0 || t.lost }

// personal reports whether the answer stands where the value of href, or an
// address in <>, has just said mailto: or tel:.
func (t *tags) personal() bool {
	switch {
	case t.lost:
		return false
	case t.states == doubleQuoted || t.states == singleQuoted:
		return string(t.attr[:t.attrLen]) == "href" && t.value.personal()
	}
	return t.states == tagName && isPersonal(string(t.name[:t.nameLen]))
}

func (t *tags) step(prev, c byte) {
	var next tagState
	for s := tagName; s != 0; s <<= 1 {
		if t.states&s != 0 {
			next |= t.after(s, c)
		}
	}
	t.states = next
	if letter := isAlnum(c) && c > '9'; prev == '<' && (letter || c == '/' || c == '!' || c == '?') {
		t.states |= tagName
		t.nameLen = 0
		t.addName(c)
	}
}

// after is the state that c leads to.
func (t *tags) after(s tagState, c byte) tagState {
	quoted := s == doubleQuoted || s == singleQuoted
	switch {
	case s == doubleQuoted && c == '"' || s == singleQuoted && c == '\'':
		return beforeAttr
	case quoted || s == unquoted && c != '>' && !isBlank(c):
		t.value.add(c)
		return s
	case c == '>':
		t.named(s)
		return 0
	case s == beforeAttrValue:
		return t.beginValue(c)
	case isBlank(c):
		t.named(s)
		if s == attrName || s == afterAttr {
			return afterAttr
		}
		return beforeAttr
	case c == '/':
		t.named(s)
		return beforeAttr
	case s == tagName:
		t.addName(c)
		return tagName
	case c == '=' && s != beforeAttr:
		return beforeAttrValue
	case s != attrName:
		t.attrLen = 0
	}
	if t.attrLen < len(t.attr) {
		t.attr[t.attrLen] = lower(c)
		t.attrLen++
	}
	return attrName
}

func (t *tags) beginValue(c byte) tagState {
	if isBlank(c) {
		return beforeAttrValue
	}
	t.value = opening{}
	switch c {
	case '"':
		return doubleQuoted
	case '\'':
		return singleQuoted
	}
	t.value.add(c)
	return unquoted
}

func (t *tags) addName(c byte) {
	if t.nameLen < len(t.name) {
		t.name[t.nameLen] = lower(c)
		t.nameLen++
	}
}

// named looks at the name of a tag when it ends. What stands in some elements is
// code, or goes out with a form: from there on all is held, since where one of
// them ends depends on who reads it.
func (t *tags) named(s tagState) {
	if s != tagName {
		return
	}
	switch string(t.name[:t.nameLen]) {
	case "script", "style", "textarea", "select", "option", "datalist":
		t.lost = true
	}
}

// emptyLine does not end a tag, since HTML knows none. In a quoted attribute it
// depends on who reads it how the quotes after it are written, so all is held.
func (t *tags) emptyLine() {
	t.lost = t.lost || t.states&(doubleQuoted|singleQuoted) != 0
}

// isBlank reports white space of HTML.
func isBlank(c byte) bool { return isSpace(c) || c == '\f' }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
