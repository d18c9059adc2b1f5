package pii

import (
	"strings"
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
