package pii

import (
	"encoding/json"
	"slices"
	"strings"
)

// placer works out how each value is written where it stands: bare numbers of
// JSON need quotes around their token, values with escapes are kept with those.
// It follows the text only as far as such values go, and keeps valid JSON valid
// whatever it is given: a custom pattern may match across strings.
type placer struct {
	text   string
	ctx    cursor
	at     int  // how far ctx has followed
	next   int  // the first piece that ctx has not followed
	likely bool // text may be JSON as a whole
	stream bool // text goes on, so that nothing can be said of the whole
	valid  tristate
}

type tristate uint8

const (
	unknown tristate = iota
	yes
	no
)

// newPlacer makes one for a whole text.
func newPlacer(text string) placer {
	begin := strings.TrimLeft(text[:min(len(text), 64)], " \t\r\n")
	return placer{likely: begin != "" && (isNumeric(begin[0]) || strings.IndexByte(`{["`, begin[0]) >= 0)}
}

// place goes through the pieces of text and returns what became of them.
func (p *placer) place(text string, pieces []piece) []piece {
	p.text, p.at, p.next = text, 0, 0
	for i := 0; i < len(pieces); i++ {
		if one := &pieces[i]; !one.token && p.isSubtle(one) {
			p.approach(pieces[:i], one.start)
			if !p.settle(one) {
				pieces = slices.Replace(pieces, i, i+1, p.divide(one)...)
				pieces = dropCovered(pieces, i)
				i-- // the parts are settled in their turn
			}
		}
	}
	if p.stream {
		p.approach(pieces, len(text))
	}
	return pieces
}

// isSubtle reports whether it matters where one stands.
func (p *placer) isSubtle(one *piece) bool {
	if one.number || one.part || isDelicate(one.text) {
		return true
	}
	if !p.likely && !p.stream {
		return false
	}
	return strings.IndexByte(p.text[max(0, one.start-5):one.start], '\\') >= 0 || p.mayBeBare(one)
}

// approach follows the text past the pieces before i, and on to the number that
// ends where a piece begins, or to the piece.
func (p *placer) approach(passed []piece, start int) {
	for ; p.next < len(passed); p.next++ {
		one := &passed[p.next]
		p.feed(one.start)
		p.ctx.atom(one.number)
		p.at = one.end
	}
	for start > p.at && start < len(p.text) && isNumeric(p.text[start]) && isNumeric(p.text[start-1]) {
		start--
	}
	p.feed(start)
}

func (p *placer) feed(end int) {
	if end > p.at {
		p.ctx.feed(p.text[p.at:end])
		p.at = end
	}
}

// settle decides how one is written; false means that it has to be divided.
func (p *placer) settle(one *piece) bool {
	if p.isNumber(one) {
		one.number, one.depth = true, p.ctx.depth()
		return true
	}
	if !p.ctx.inString() && p.mustDivide(one) {
		return false
	}
	p.feed(one.start)
	if _, ok := unescape(one.text); (!ok || p.ctx.inEscape()) && p.mustDivide(one) {
		return false
	}
	one.number, one.depth = false, p.ctx.depth()
	one.text, one.level = peel(one.text, one.depth)
	return true
}

// mustDivide reports whether one would break valid JSON.
func (p *placer) mustDivide(one *piece) bool { return !one.part && p.isJSON() }

// isNumber reports whether one is a number of JSON, whole and bare. Where the
// detector takes it for text, JSON as a whole is proof, and so is JSON within a
// string as far as it was read.
func (p *placer) isNumber(one *piece) bool {
	if p.at != one.start || !isNumber(one.text) || !p.ctx.wantsValue() || !endsNumber(p.text, one.end) {
		return false
	}
	return one.number || (p.stream || p.ctx.depth() > 0) && p.ctx.inJSON() || p.ctx.depth() == 0 && p.isJSON()
}

// isJSON reports whether the whole text is valid JSON, which of a stream cannot
// be known.
func (p *placer) isJSON() bool {
	if p.stream {
		return false
	}
	if p.valid == unknown {
		p.valid = no
		if p.likely && json.Valid(bytesOf(p.text)) {
			p.valid = yes
		}
	}
	return p.valid == yes
}

// mayBeBare reports whether a value may stand outside of strings in JSON.
func (p *placer) mayBeBare(one *piece) bool {
	if !p.likely && !p.stream {
		return false
	}
	literal := true
	for _, c := range []byte(one.text) {
		switch {
		case isLiteral(c):
		case isSpace(c) || strings.IndexByte(",:[]{}", c) >= 0:
			literal = false
		default:
			return false
		}
	}
	return !literal || p.bounded(one.start, one.end)
}

// maxLiteral bounds how far the ends of a number are looked for, so that a long
// run of digits with many values in it is not read again for each.
const maxLiteral = 1024

// bounded reports whether a literal may be one of JSON, by what stands around it.
func (p *placer) bounded(start, end int) bool {
	for low := max(0, start-maxLiteral); start > low && isLiteral(p.text[start-1]); {
		start--
	}
	for high := min(len(p.text), end+maxLiteral); end < high && isLiteral(p.text[end]); {
		end++
	}
	if start > 0 && strings.IndexByte(":,[ \t\r\n", p.text[start-1]) < 0 || !endsNumber(p.text, end) {
		return false
	}
	switch literal := p.text[start:end]; literal {
	case "true", "false", "null":
		return true
	default:
		return isNumber(literal)
	}
}

// divide breaks up what cannot be replaced as a whole in valid JSON: into what of
// it stands in each string, and into the whole numbers that it touches.
func (p *placer) divide(one *piece) []piece {
	var parts []piece
	add := func(start, end int) {
		if start < end {
			f := found{text: p.text[start:end], typ: one.typ}
			parts = append(parts, piece{found: f, start: start, end: end, part: true, bases: one.bases})
		}
	}
	inside, i := p.ctx.inString(), p.at+p.ctx.pendingEscape(p.text[p.at:])
	for i < one.end {
		start := i
		switch {
		case inside:
			i = stringPart(p.text, i, one.end)
			add(start, min(i, one.end))
			if i < one.end && p.text[i] != '"' {
				return parts // an escape that the value divides
			}
			inside = false
			i++
		case isNumeric(p.text[i]):
			i += numeric(p.text[i:])
			if isNumber(p.text[start:i]) {
				add(start, i)
			}
		default:
			inside = p.text[i] == '"'
			i++
		}
	}
	return parts
}

// stringPart returns where text[i:end], the inside of a string, stops: at the
// quote, at an escape that goes past end, or at end.
func stringPart(text string, i, end int) int {
	for i < end && text[i] != '"' {
		n := 1
		if text[i] == '\\' {
			n = 2
			if text[i+1] == 'u' {
				n = 6
			}
		}
		if i+n > end {
			return i
		}
		i += n
	}
	return i
}

// dropCovered takes away what of the later pieces the parts of one at i cover: a
// number is replaced as a whole, though two values were found in it.
func dropCovered(pieces []piece, i int) []piece {
	last := i
	for last < len(pieces) && pieces[last].part {
		last++
	}
	if last == i {
		return pieces
	}
	end, next := pieces[last-1].end, last
	for next < len(pieces) && pieces[next].end <= end {
		next++
	}
	if next < len(pieces) && pieces[next].start < end {
		pieces[next].text = pieces[next].text[end-pieces[next].start:]
		pieces[next].start = end
	}
	return slices.Delete(pieces, last, next)
}

// isNumeric reports the bytes of numbers.
func isNumeric(b byte) bool {
	return b >= '0' && b <= '9' || b == '-' || b == '+' || b == '.' || b == 'e' || b == 'E'
}

// numeric is the number of such bytes that s begins with.
func numeric(s string) int {
	n := 0
	for n < len(s) && isNumeric(s[n]) {
		n++
	}
	return n
}

// endsNumber reports whether what follows can follow a number of JSON, at any
// depth of strings.
func endsNumber(text string, end int) bool {
	return end == len(text) || strings.IndexByte(",]} \t\r\n\\\"", text[end]) >= 0
}

// peel takes off the escapes that we would write ourselves, and says how many
// layers are left.
func peel(text string, depth int) (string, int) {
	for depth > 0 {
		plain, ok := unescape(text)
		if !ok || escape(plain) != text {
			break
		}
		text = plain
		depth--
	}
	return text, depth
}
