package detect

import (
	"bytes"
	"math/bits"
)

// How far a label may stand before its value.
const (
	maxLabelBytes = 96
	maxLabelWords = 7
	maxKeyBytes   = 64
)

// context is what stands before a value: the key it is under, or the words of
// its sentence.
type context struct {
	near label // words that may name the value
	veto bool  // the key says that a bare number is something else
	key  bool  // near comes from a key or a label with ':' or '='
}

func (c context) has(l label) bool { return c.near&l != 0 }

// contextOf reads the context of the value at pos, once per position.
func (s *scanner) contextOf(pos int) context {
	if s.ctxPos == pos+1 {
		return s.ctx
	}
	s.ctxPos = pos + 1
	s.pass(pos)
	s.ctx = s.readContext(pos)
	return s.ctx
}

func (s *scanner) readContext(pos int) context {
	from := max(0, pos-maxLabelBytes)
	if start, ok := s.keyed(pos); ok {
		all, last := s.keyLabels()
		c := context{near: all, veto: last&vetoes != 0 || all&lTrace != 0, key: true}
		if pos-start > 1 {
			c.near |= s.wordsBefore(max(start, from), pos).near
		}
		return c
	}
	return s.wordsBefore(from, pos)
}

// keyed reports whether pos stands in the value of the last JSON key, and where
// that value starts. Values of arrays count while nothing closes the array.
func (s *scanner) keyed(pos int) (int, bool) {
	if s.keyColon < 0 {
		return 0, false
	}
	if s.valueOf != s.keyColon {
		s.openValue()
	}
	if s.valueEnd >= 0 || pos < s.valueStart {
		return 0, false
	}
	if c := bytes.IndexByte(s.b[s.valueSeen:max(pos, s.valueSeen)], s.valueClose); c >= 0 {
		s.valueEnd = s.valueSeen + c
		return 0, false
	}
	s.valueSeen = max(pos, s.valueSeen)
	return s.valueStart, true
}

// openValue finds out what kind of value follows the last key.
func (s *scanner) openValue() {
	s.valueOf, s.valueEnd = s.keyColon, -1
	v := skipSpace(s.b, s.keyColon+1)
	q := v
	for q < len(s.b) && s.b[q] == '\\' {
		q++
	}
	switch {
	case q < len(s.b) && s.b[q] == '"':
		s.valueStart, s.valueClose = q+1, '"'
	case v < len(s.b) && s.b[v] == '[':
		s.valueStart, s.valueClose = v+1, ']'
	default:
		s.valueStart, s.valueClose = v, ','
	}
	s.valueSeen = s.valueStart
}

// keyLabels reads the key before the last key colon, once.
func (s *scanner) keyLabels() (all, last label) {
	if s.keyOf != s.keyColon {
		s.keyOf = s.keyColon
		key := s.keyText()
		if s.keyAll, s.keyLast = s.labels.ofKey(key); s.keyAll != 0 && touchesToken(key, 0, len(key)) {
			s.keyAll, s.keyLast = 0, 0 // a token's own words say nothing about the value
		}
	}
	return s.keyAll, s.keyLast
}

// keyText is the last key, without its quotes.
func (s *scanner) keyText() []byte {
	end := s.keyColon
	for end > 0 && isSpace(s.b[end-1]) {
		end--
	}
	if end == 0 {
		return nil
	}
	end-- // the quote
	for end > 0 && s.b[end-1] == '\\' {
		end--
	}
	from := max(0, end-maxKeyBytes)
	return s.b[bytes.LastIndexByte(s.b[from:end], '"')+1+from : end]
}

// wordsBefore reads the words before pos on its line, nearest first, until one
// says that the value is something else.
func (s *scanner) wordsBefore(from, pos int) (c context) {
	from = max(from, s.barrier)
	i, words := pos, 0
	for i > from {
		i--
		b := s.b[i]
		switch {
		case class[b]&letter != 0:
			end := i + 1
			for i > from && isLetter(s.b[i-1]) {
				i--
			}
			if i > from && s.b[i-1] == '\\' && end-i > 1 && isEscapeLetter(s.b[i]) {
				i++ // the n of \n belongs to no word
			}
			words++
			if s.takeWord(&c, i, end, pos, words) {
				return c
			}
		case b == '\n' || b == '\r' || b == '\\' && i+1 < pos && s.b[i+1] == 'n':
			if words > 0 || !labelled(s.b[from:i]) {
				return c
			}
		case b == '}' || b == '{' || b == ']' && s.inheritToken(&c, i, words):
			return c
		case b == '.' && words > 0 && i+1 < pos && s.b[i+1] == ' ' && words > 1:
			return c
		}
	}
	if i == s.barrier && i > 0 && i == from {
		c.near |= s.inherited(words, c)
	}
	return c
}

// takeWord adds a word to c and reports whether to stop there. The word right
// before '=' or ':' is a key: no other word counts then.
func (s *scanner) takeWord(c *context, start, end, pos, words int) bool {
	m := s.labels.of(s.b[start:end])
	if m == 0 && caseTurns(s.b[start:end]) > 0 {
		m, _ = s.labels.ofKey(s.b[start:end]) // passportNumber
	}
	if words == 1 {
		c.key = endsKey(s.b[end:pos])
		c.veto = c.key && m&vetoes != 0
	}
	if c.key && start > 0 && s.b[start-1] != ' ' {
		c.veto = c.veto || m&lTrace != 0
	}
	if m&lBlock != 0 && c.near&^(lNumber|lCall|lLink) == 0 {
		c.near &^= lCall | lNumber
		c.near |= lBlock
		return true
	}
	c.near |= m
	if words >= maxLabelWords {
		return true
	}
	// logfmt and query strings: the key ends at the space before it.
	return c.key && start > 0 && s.b[end] == '=' && !isKeyByte(s.b[start-1])
}

func isKeyByte(c byte) bool { return isWord(c) || c == '.' || c == '-' }

// endsKey reports whether b, between a word and a value, is '=' or ':' with
// nothing but space and quotes around it.
func endsKey(b []byte) bool {
	b = bytes.TrimLeft(b, "_0123456789)")
	return len(b) > 0 && (b[0] == '=' || b[0] == ':') && len(bytes.Trim(b[1:], " \"'(+")) == 0
}

// labelled reports whether a line ends like "Phone:".
func labelled(line []byte) bool {
	for n := len(line); n > 0; n-- {
		if c := line[n-1]; c == ':' {
			return true
		} else if !isSpace(c) && c != '\\' && c != 'r' {
			return false
		}
	}
	return false
}

// inherited gives a value the label of the one found right before it, when only
// a word such as "and" stands between.
func (s *scanner) inherited(words int, c context) label {
	if words > 1 || words == 1 && !c.has(lLink) {
		return 0
	}
	var l label
	for t := s.ended; t != 0; t &= t - 1 {
		l |= typeLabels[nameOf(typeID(bits.TrailingZeros64(uint64(t))))]
	}
	return l
}

// inheritToken does the same for a token that ends at i.
func (s *scanner) inheritToken(c *context, i, words int) bool {
	start := i
	for start > 0 && isWord(s.b[start-1]) && i-start < 64 {
		start--
	}
	n := tokenType(s.b[start:i])
	if n == 0 {
		return false
	}
	if words == 0 || words == 1 && c.has(lLink) {
		c.near |= labelOfName(s.b[start : start+n])
	}
	return true
}

// typeLabels says which label a value found gives to the next.
var typeLabels = map[Type]label{
	"PHONE": lPhone, "US_SSN": lSSN, "CREDIT_CARD": lCard, "US_ABA": lRouting, "US_NPI": lNPI,
	"CA_SIN": lSIN, "UK_NHS": lNHS, "PASSPORT": lPassport, "VIN": lVIN,
}

func labelOfName(name []byte) label { return typeLabels[Type(name)] }

func isEscapeLetter(c byte) bool { return c == 'n' || c == 'r' || c == 't' || c == 'b' || c == 'f' }

func skipSpace(b []byte, i int) int {
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	return i
}
