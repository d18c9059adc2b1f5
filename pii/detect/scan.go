package detect

import "math/bits"

// scanner is one pass over one text. It allocates nothing once its buffers have
// grown.
type scanner struct {
	b      []byte
	out    []Span
	base   int // out[base:] are this scan's
	on     typeSet
	labels *labelTable
	packs  *packIndex

	first   int     // the first byte that is no space, -1 until somebody asks
	floor   int     // no word begins before it: the end of the last one read
	barrier int     // end of the last span: labels before it belong to that span
	ended   typeSet // types of the spans that end there

	emailEnd int // end of the last address found
	hexRun   int // end of the last run of hex digits and colons tried

	// The last JSON key and its value, read on demand.
	keyColon, keyOf, valueOf        int
	keyAll, keyLast                 label
	valueStart, valueEnd, valueSeen int
	valueClose                      byte

	ctx    context
	ctxPos int

	cl     cluster
	buf    [32]byte // a candidate in plain form, for checks called through tables
	fold   folded
	folds  bool   // this scan may fold; the scan of a folded view may not
	folded int    // end of the last region folded
	known  []Span // of a folded text: what the plain one has from here on
}

// reset prepares s for a text.
func (s *scanner) reset(b []byte, out []Span) {
	s.b, s.out, s.base = b, out, len(out)
	s.floor, s.barrier, s.ended, s.emailEnd, s.hexRun, s.folded, s.ctxPos = 0, 0, 0, 0, 0, 0, 0
	s.first, s.keyColon, s.keyOf, s.valueOf = -1, -1, -1, -1
}

// run scans the text. Everything starts at a trigger byte; the bytes between are
// skipped eight at a time.
func (s *scanner) run() {
	for i := nextTrigger(s.b, 0); i < len(s.b); i = nextTrigger(s.b, i) {
		switch c := s.b[i]; {
		case isDigit(c):
			i = s.number(i)
		case c == ':':
			i = s.colon(i)
		case c == '=':
			i = s.equals(i)
		case c == '@':
			i = s.at(i)
		case c == '-':
			i = s.dash(i)
		case c >= 0x80:
			i = s.nonASCII(i)
		default:
			i++
		}
	}
	s.scanFolded()
}

// add reports a value and gives its end, so that callers can go on there.
func (s *scanner) add(start, end int, t typeID) int {
	s.out = append(s.out, Span{Start: start, End: end, Type: nameOf(t)})
	s.found(end, t)
	if t == email {
		s.emailEnd = end
	}
	s.ctxPos = 0
	return end
}

// found remembers where a value ends, for labels after it.
func (s *scanner) found(end int, t typeID) {
	if end > s.barrier {
		s.barrier, s.ended = end, 0
	}
	if end == s.barrier { // of several finds at one place it is not settled yet which one stays
		s.ended |= 1 << t
	}
}

// nextTrigger is the first position from i on of a byte where a value may start or
// turn: '-', digits, ':', '=', '@' and everything outside ASCII. The rest of '-' to
// '@' comes with them: to tell it apart costs more than to look at it (measured).
func nextTrigger(b []byte, i int) int {
	for i+16 <= len(b) {
		// Two words at a time: where the next trigger is can hardly be predicted.
		w := b[i : i+16 : i+16]
		m, n := triggers(load8(w)), triggers(load8(w[8:]))
		if m|n != 0 {
			skip := bits.TrailingZeros64(m)
			if m == 0 {
				skip = 64 + bits.TrailingZeros64(n)
			}
			return i + skip>>3
		}
		i += 16
	}
	for i < len(b) && !isTrigger(b[i]) {
		i++
	}
	return i
}

// triggers sets the high bit of every byte of x that is a trigger.
func triggers(x uint64) uint64 { return (within(x, '-', '@') | x) & high }

func isTrigger(c byte) bool { return c-'-' <= '@'-'-' || c >= 0x80 }

// byteAt is the byte at i, 0 outside.
func (s *scanner) byteAt(i int) byte {
	if uint(i) < uint(len(s.b)) {
		return s.b[i]
	}
	return 0
}
