package detect

import "bytes"

// placer decides how spans stand in the text: within JSON, whole number tokens are
// marked, so that what replaces them gets quotes, and nothing reaches over the end
// of a string.
type placer struct {
	b      []byte
	isJSON bool // the text starts as JSON does
	pos    int  // up to here strings are followed
	in     bool // pos is in a string
}

func newPlacer(b []byte) placer {
	i := skipSpace(b, 0)
	return placer{b: b, isJSON: i < len(b) && (b[i] == '{' || b[i] == '[' || b[i] == '"')}
}

// inString reports whether position i is within a JSON string. Calls must not go
// back. A raw line end is in no string, so that each line starts afresh.
func (p *placer) inString(i int) bool {
	if n := bytes.LastIndexByte(p.b[p.pos:i], '\n'); n >= 0 {
		p.pos, p.in = p.pos+n+1, false
	}
	for {
		q := bytes.IndexByte(p.b[p.pos:i], '"')
		if q < 0 {
			p.pos = i // so that no byte is looked at twice
			return p.in
		}
		at := p.pos + q
		if !p.in || !escaped(p.b, at) {
			p.in = !p.in
		}
		p.pos = at + 1
	}
}

// escaped reports whether an odd number of backslashes stands before i.
func escaped(b []byte, i int) bool {
	n := i
	for n > 0 && b[n-1] == '\\' {
		n--
	}
	return (i-n)%2 == 1
}

// place finishes a span; false means that it cannot be replaced.
func (p *placer) place(s *Span, custom bool) bool {
	if custom && p.isJSON {
		return p.clip(s)
	}
	if !bareNumber(p.b[s.Start:s.End]) {
		return true
	}
	start, end, before, ok := p.numberToken(s.Start, s.End)
	if !ok {
		return true
	}
	switch in := p.inString(s.Start); {
	case !in:
		if before != ':' && !p.isJSON && before != 0 {
			return true
		}
		s.Start, s.End, s.Kind = start, end, JSONNumber
	default:
		if n := p.nested(start); n > 0 {
			s.Start, s.End, s.Kind, s.Escape = start, end, NestedNumber, n
		}
	}
	return true
}

// bareNumber reports what can be part of a JSON number.
func bareNumber(b []byte) bool {
	for _, c := range b {
		if !isNumberByte(c) {
			return false
		}
	}
	return true
}

func isNumberByte(c byte) bool { return numberBytes[c] }

var numberBytes = [256]bool{
	'0': true, '1': true, '2': true, '3': true, '4': true, '5': true, '6': true, '7': true, '8': true, '9': true,
	'-': true, '+': true, '.': true, 'e': true, 'E': true,
}

// maxNumber bounds the bytes of a number beside the value in it.
const maxNumber = 64

// numberToken widens start:end to a whole number token between JSON punctuation,
// and gives the punctuation before it, 0 at the start of the text.
func (p *placer) numberToken(start, end int) (from, to int, before byte, ok bool) {
	b, least, most := p.b, max(0, start-maxNumber), min(len(p.b), end+maxNumber)
	for start > least && isNumberByte(b[start-1]) {
		start--
	}
	for end < most && isNumberByte(b[end]) {
		end++
	}
	i := start
	for i > 0 && isSpace(b[i-1]) {
		i--
	}
	j := skipSpace(b, end)
	if i > 0 {
		before = b[i-1]
	}
	switch {
	case i == 0 && j == len(b):
	case before != ':' && before != ',' && before != '[':
		return 0, 0, 0, false
	case before == ':' && !(i > 1 && b[i-2] == '"' || i > 2 && isSpace(b[i-2])):
		return 0, 0, 0, false
	case j < len(b) && b[j] != ',' && b[j] != '}' && b[j] != ']':
		return 0, 0, 0, false
	case j == len(b):
		return 0, 0, 0, false
	}
	return start, end, before, validNumber(b[start:end])
}

// validNumber reports a number as RFC 8259 writes integers and decimals.
func validNumber(b []byte) bool {
	i := 0
	if b[0] == '-' {
		i++
	}
	if i == len(b) || !isDigit(b[i]) || b[i] == '0' && i+1 < len(b) && isDigit(b[i+1]) {
		return false
	}
	i = digitsEnd(b, i)
	if i < len(b) && b[i] == '.' {
		e := digitsEnd(b, i+1)
		if e == i+1 {
			return false
		}
		i = e
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		e := digitsEnd(b, i)
		if e == i {
			return false
		}
		i = e
	}
	return i == len(b)
}

// nested gives the backslashes before the quotes of the JSON in a string that the
// number at start stands in: those of the key before it.
func (p *placer) nested(start int) uint8 {
	i := start
	for i > 0 && isSpace(p.b[i-1]) {
		i--
	}
	if i > 0 && p.b[i-1] != ':' { // an array: the key before it
		open := bytes.LastIndexByte(p.b[max(0, i-maxKeyed):i], '[')
		if open < 0 {
			return 0
		}
		i = max(0, i-maxKeyed) + open
	}
	if i < 3 || p.b[i-1] != ':' || p.b[i-2] != '"' {
		return 0
	}
	n := 0
	for i-3-n >= 0 && p.b[i-3-n] == '\\' {
		n++
	}
	return uint8(min(n, 255))
}

// clip keeps a custom span within one string, or within one number token.
func (p *placer) clip(s *Span) bool {
	if !p.inString(s.Start) {
		return p.clipOutside(s)
	}
	for i := s.Start; i < s.End; i++ {
		if p.b[i] == '"' && !escaped(p.b, i) || p.b[i] == '\n' {
			s.End = i
			break
		}
	}
	s.Start = afterEscape(p.b, s.Start)
	for s.End > s.Start && afterEscape(p.b, s.End) != s.End {
		s.End--
	}
	return s.End > s.Start
}

// clipOutside accepts a number token, and moves a span that begins before a string
// into it.
func (p *placer) clipOutside(s *Span) bool {
	if bareNumber(p.b[s.Start:s.End]) {
		start, end, _, ok := p.numberToken(s.Start, s.End)
		if ok {
			s.Start, s.End, s.Kind = start, end, JSONNumber
		}
		return ok
	}
	q := bytes.IndexByte(p.b[s.Start:s.End], '"')
	if q < 0 {
		return false
	}
	s.Start += q + 1
	ahead := *p // other spans may start before this one does now
	if s.Start >= s.End || !ahead.inString(s.Start) {
		return false
	}
	return ahead.clip(s)
}

// afterEscape is i, or the end of the escape sequence that i stands within.
func afterEscape(b []byte, i int) int {
	if i < len(b) && escaped(b, i) {
		if b[i] == 'u' {
			return min(i+5, len(b))
		}
		return i + 1
	}
	for n := 1; n <= 4 && i-n >= 0; n++ {
		if b[i-n] == 'u' && escaped(b, i-n) {
			return min(i-n+5, len(b))
		}
	}
	return i
}
