package pii

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how many strings within strings are followed. JSON deeper than that
// is text: its strings stay valid, its numbers are not told apart.
const maxDepth = 6

// maxNesting bounds the objects and arrays within one another, as encoding/json does.
const maxNesting = 10000

// cursor follows a text and knows at every point whether that is inside a JSON
// string, and inside how many: it tells how a value has to be written there. It
// decides from what went before alone, so that a stream is read like a whole,
// and values are fed to it as atoms, so that it sees the same before and after
// they are replaced. On valid JSON it is exact. In prose it enters JSON at a
// bracket and leaves where the grammar breaks.
type cursor struct {
	layers [maxDepth]layer
}

// layer is a text: the whole one, or what a string of the layer above holds.
type layer struct {
	state  state
	begun  bool // more than white space was there
	stack  []byte
	escape uint8 // in a string: bytes of an escape still to come, escapeStart first
	code   rune  // of a \u escape so far
	empty  bool  // in a string: nothing in it yet
	key    bool  // in a string: it is an object's key
}

type state uint8

const (
	prose state = iota
	wantValue
	wantValueOrEnd
	wantKey
	wantKeyOrEnd
	wantColon
	afterValue
	inLiteral
	inString
)

const escapeStart = 255

// feed follows text.
func (c *cursor) feed(text string) {
	for i := 0; i < len(text); {
		if n := c.skip(text[i:]); n > 0 {
			i += n
			continue
		}
		c.step(0, text[i])
		i++
	}
}

// skip returns how many bytes of text change nothing: prose up to a bracket, the
// same in a string, where most of a text is, and the rest of a literal.
func (c *cursor) skip(text string) int {
	l := &c.layers[0]
	n := 0
	switch {
	case l.state == prose && l.begun:
		for n < len(text) && text[n] != '{' && text[n] != '[' {
			n++
		}
	case l.state == inLiteral:
		for n < len(text) && isLiteral(text[n]) {
			n++
		}
	case l.state == inString && l.escape == 0 && c.layers[1].state == prose:
		for n < len(text) && !tellsInString[text[n]] {
			n++
		}
		l.empty = l.empty && n == 0
	}
	return n
}

// tellsInString holds the bytes that matter in a string that holds prose.
var tellsInString = func() (t [256]bool) {
	for c := range ' ' {
		t[c] = true
	}
	for _, c := range `"\{[` {
		t[c] = true
	}
	return t
}()

// atom follows a value or a token. number says that it stands for a number.
func (c *cursor) atom(number bool) {
	d := c.depth()
	if d > 0 {
		c.layers[d-1].empty = false
	}
	l := &c.layers[d]
	l.begun = true
	switch {
	case l.state == prose:
	case number && (l.state == wantValue || l.state == wantValueOrEnd):
		l.state = l.afterValue()
	default:
		l.state = prose
	}
}

// depth is the number of strings that the text is in.
func (c *cursor) depth() int {
	d := 0
	for c.layers[d].state == inString { // never in the last layer, see below
		d++
	}
	return d
}

// wantsValue reports whether a value of JSON may begin here.
func (c *cursor) wantsValue() bool {
	d := c.depth()
	l := &c.layers[d]
	return l.state == wantValue || l.state == wantValueOrEnd || d == 0 && !l.begun
}

// inEmptyValue reports whether this is the beginning of a string that is a value.
func (c *cursor) inEmptyValue() bool {
	d := c.depth()
	if d == 0 {
		return false
	}
	l := &c.layers[d-1]
	return l.empty && !l.key && l.escape == 0
}

// inString reports whether the text is in a string.
func (c *cursor) inString() bool { return c.layers[0].state == inString }

// inJSON reports whether the innermost text is within an object or an array.
func (c *cursor) inJSON() bool { return len(c.layers[c.depth()].stack) > 0 }

// inEscape reports whether the text is within an escape.
func (c *cursor) inEscape() bool { return c.inString() && c.layers[0].escape != 0 }

// pendingEscape is the number of bytes of next that belong to an escape begun.
func (c *cursor) pendingEscape(next string) int {
	switch l := &c.layers[0]; {
	case !c.inEscape():
		return 0
	case l.escape != escapeStart:
		return int(l.escape)
	case strings.HasPrefix(next, "u"):
		return 5
	}
	return 1
}

func (c *cursor) step(d int, b byte) {
	l := &c.layers[d]
	if l.state == inString {
		c.stepString(d, b)
		return
	}
	if l.state == inLiteral {
		if isLiteral(b) {
			return
		}
		l.state = l.afterValue()
	}
	if isSpace(b) {
		return
	}
	first := d == 0 && !l.begun
	l.begun = true
	if l.state != prose && l.accept(c, d, b) {
		return
	}
	l.stack = l.stack[:0]
	l.state = prose
	switch {
	case b == '{' || b == '[':
		l.push(b)
	case b == '"' && first:
		c.openString(d, false)
	}
}

// accept takes one byte of JSON outside strings; false means that it is not JSON.
func (l *layer) accept(c *cursor, d int, b byte) bool {
	switch {
	case (b == '}' || b == ']') && l.mayClose(b):
		l.stack = l.stack[:len(l.stack)-1]
		l.state = l.afterValue()
	case l.state == wantColon && b == ':':
		l.state = wantValue
	case l.state == afterValue && b == ',':
		l.state = wantValue
		if l.stack[len(l.stack)-1] == '{' {
			l.state = wantKey
		}
	case l.state == wantKey || l.state == wantKeyOrEnd:
		if b != '"' {
			return false
		}
		c.openString(d, true)
	case l.state == wantValue || l.state == wantValueOrEnd:
		return l.value(c, d, b)
	default:
		return false
	}
	return true
}

// value takes the first byte of a value.
func (l *layer) value(c *cursor, d int, b byte) bool {
	switch {
	case b == '"':
		c.openString(d, false)
	case b == '{' || b == '[':
		return l.push(b)
	case isLiteral(b) && b != '+' && b != '.':
		l.state = inLiteral
	default:
		return false
	}
	return true
}

func (l *layer) push(b byte) bool {
	if len(l.stack) >= maxNesting {
		return false
	}
	l.stack = append(l.stack, b)
	l.state = wantValueOrEnd
	if b == '{' {
		l.state = wantKeyOrEnd
	}
	return true
}

func (l *layer) mayClose(b byte) bool {
	if l.state != afterValue && l.state != wantKeyOrEnd && l.state != wantValueOrEnd {
		return false
	}
	return l.stack[len(l.stack)-1] == b-2 // '{' and '[' are two before their partners
}

// afterValue is the state after a value, which ends JSON at its outermost.
func (l *layer) afterValue() state {
	if len(l.stack) == 0 {
		return prose
	}
	return afterValue
}

func (c *cursor) openString(d int, key bool) {
	l := &c.layers[d]
	l.state, l.escape, l.empty, l.key = inString, 0, true, key
	below := &c.layers[d+1]
	below.state, below.stack = prose, below.stack[:0]
}

func (c *cursor) stepString(d int, b byte) {
	l := &c.layers[d]
	switch {
	case l.escape != 0:
		c.stepEscape(d, b)
		return
	case b == '\\':
		l.escape = escapeStart
	case b == '"':
		c.shutString(l)
	case b < ' ':
		l.state, l.stack = prose, l.stack[:0]
	default:
		c.below(d, b)
	}
	l.empty = false
}

func (c *cursor) shutString(l *layer) {
	l.state = l.afterValue()
	if l.key {
		l.state = wantColon
	}
}

// below hands a byte of a string on to the text in it. The last layer is prose.
func (c *cursor) below(d int, b byte) {
	if d+1 < maxDepth-1 {
		c.step(d+1, b)
	}
}

func (c *cursor) stepEscape(d int, b byte) {
	l := &c.layers[d]
	if l.escape == escapeStart {
		if b == 'u' {
			l.escape, l.code = 4, 0
			return
		}
		l.escape = 0
		if at := strings.IndexByte(escapeNames, b); at >= 0 {
			c.below(d, escapeBytes[at])
			return
		}
		l.state, l.stack = prose, l.stack[:0]
		return
	}
	digit := hexDigit(b)
	if digit < 0 {
		l.state, l.stack, l.escape = prose, l.stack[:0], 0
		return
	}
	l.code = l.code<<4 | rune(digit)
	if l.escape--; l.escape == 0 {
		if l.code >= utf8.RuneSelf {
			l.code = 'x' // any letter: only ASCII has a meaning in JSON
		}
		c.below(d, byte(l.code))
	}
}

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
