package detect

import (
	"slices"
	"unicode/utf8"
)

// People hide values by characters that are not seen, and encoders rewrite them:
// zero-width characters, combining marks, full-width digits, %40, \u0040. Where
// one occurs, the text around it is folded to plain ASCII, scanned, and what is
// found is mapped back to where it stands.

// How much text around such a sequence is folded: back to a break within
// foldBefore bytes, on to a break foldAfter bytes after the last sequence.
const (
	foldBefore = 160
	foldAfter  = 96
	foldMax    = 4096
)

// folded is a piece of text in plain form. Byte i stands for from[i]:to[i].
type folded struct {
	text     []byte
	from, to []int
	out      []Span
	known    []Span   // what the plain text has there, in places of the folded text
	scan     *scanner // of the text; it does not fold again
	due      bool     // the text is not scanned yet
}

func (f *folded) reset() { f.text, f.from, f.to = f.text[:0], f.from[:0], f.to[:0] }

func (f *folded) add(c byte, from, to int) {
	f.text, f.from, f.to = append(f.text, c), append(f.from, from), append(f.to, to)
}

// foldAt folds the region around i, where a sequence stands. It is scanned when the
// plain scan has passed it, whose finds are labels there as well.
func (s *scanner) foldAt(i int) {
	if !s.folds || i < s.folded {
		return
	}
	s.scanFolded()
	start := s.foldStart(i)
	f := &s.fold
	f.reset()
	if start > 0 && isWord(s.b[start-1]) {
		f.add('_', start, start) // no value may start at the cut
	}
	end, last := start, i
	for end < len(s.b) && end-start < foldMax {
		c := s.b[end]
		if end > last && (end-last > foldAfter && isBreak(c) || c == '\n') {
			break
		}
		plain, n := foldSequence(s.b, end)
		switch {
		case n == 0:
			f.add(c, end, end+1)
			n = 1
		case plain != 0:
			f.add(plain, end, end+n)
			last = end + n
		default:
			last = end + n
		}
		end += n
	}
	if end < len(s.b) && isWord(s.b[end]) {
		f.add('_', end, end)
	}
	s.folded, f.due = end, true
}

// foldStart is where the region around i starts: at a line, or else at a break.
func (s *scanner) foldStart(i int) int {
	start, brk := i, -1
	for start > 0 && i-start < foldBefore && s.b[start-1] != '\n' {
		start--
		if isBreak(s.b[start]) {
			brk = start + 1
		}
	}
	if start > 0 && s.b[start-1] != '\n' && brk >= 0 {
		return brk
	}
	return start
}

func isBreak(c byte) bool {
	return isSpace(c) || c == '"' || c == '\'' || c == '&' || c == '=' || c == '<' || c == '>' || c == ';' || c == ','
}

// scanFolded scans the folded text, if there is one, and adds what it finds.
func (s *scanner) scanFolded() {
	f := &s.fold
	if !f.due {
		return
	}
	f.due = false
	if f.scan == nil {
		f.scan = new(scanner)
	}
	sub := f.scan
	sub.on, sub.labels, sub.packs = s.on, s.labels, s.packs
	sub.reset(f.text, f.out[:0])
	sub.known = f.place(s.out[s.base:])
	sub.run()
	f.out = sub.out
	for _, v := range f.out {
		v.Start, v.End = f.from[v.Start], f.to[v.End-1]
		s.out = append(s.out, v)
	}
}

// place moves the last spans of the plain text into the folded one, as far as they
// are in it.
func (f *folded) place(spans []Span) []Span {
	f.known = f.known[:0]
	if len(f.from) == 0 {
		return nil
	}
	for _, v := range slices.Backward(spans) {
		if v.End <= f.from[0] {
			break
		}
		if start, ok := slices.BinarySearch(f.from, v.Start); ok && v.End <= f.to[len(f.to)-1] {
			end, _ := slices.BinarySearch(f.from, v.End)
			f.known = append(f.known, Span{Start: start, End: end, Type: v.Type})
		}
	}
	slices.Reverse(f.known)
	return f.known
}

// pass takes known values that end before pos for found ones.
func (s *scanner) pass(pos int) {
	for len(s.known) > 0 && s.known[0].End <= pos {
		if id, ok := idOf(s.known[0].Type); ok {
			s.found(s.known[0].End, id)
		}
		s.known = s.known[1:]
	}
}

// nonASCII handles the bytes from i on that are outside ASCII.
func (s *scanner) nonASCII(i int) int {
	for i < len(s.b) && s.b[i] >= 0x80 {
		if s.folds && mayFold[s.b[i]] {
			if _, n := foldSequence(s.b, i); n > 0 {
				s.foldAt(i)
				i += n
				continue
			}
		}
		i++
	}
	return i
}

// mayFold has the bytes that start a sequence outside ASCII.
var mayFold = [256]bool{0xC2: true, 0xCC: true, 0xCD: true, 0xD9: true, 0xDB: true, 0xE0: true, 0xE1: true, 0xE2: true, 0xEF: true}

// foldSequence gives the plain byte and the length of the sequence at i. The byte
// is 0 for what is not seen; the length is 0 where nothing is to fold.
func foldSequence(b []byte, i int) (plain byte, n int) {
	switch c := b[i]; {
	case c == '%':
		return foldPercent(b, i)
	case c == '\\':
		return foldEscape(b, i)
	case c < 0x80:
		return 0, 0
	}
	if !mayFold[b[i]] {
		return 0, 0
	}
	r, n := utf8.DecodeRune(b[i:])
	if p, ok := foldRune(r); ok {
		return p, n
	}
	return 0, 0
}

// foldRune gives the ASCII form of a character, 0 for one that is not seen.
func foldRune(r rune) (byte, bool) {
	switch {
	case r >= 0xFF01 && r <= 0xFF5E: // full-width forms
		return byte(r - 0xFF01 + '!'), true
	case r >= 0x660 && r <= 0x669: // Arabic digits
		return byte(r - 0x660 + '0'), true
	case r >= 0x6F0 && r <= 0x6F9:
		return byte(r - 0x6F0 + '0'), true
	case r >= 0x966 && r <= 0x96F: // Devanagari
		return byte(r - 0x966 + '0'), true
	case r >= 0x9E6 && r <= 0x9EF: // Bengali
		return byte(r - 0x9E6 + '0'), true
	case r >= 0xE50 && r <= 0xE59: // Thai
		return byte(r - 0xE50 + '0'), true
	case r == 0xA0, r >= 0x2000 && r <= 0x200A, r == 0x202F, r == 0x205F: // spaces
		return ' ', true
	case r >= 0x2010 && r <= 0x2015, r == 0x2212: // dashes
		return '-', true
	case r == 0x2024: // one dot leader
		return '.', true
	case r == 0xAD, r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x2064, r == 0xFEFF, r == 0x180E:
		return 0, true // zero width
	case r >= 0x300 && r <= 0x36F, r >= 0x1AB0 && r <= 0x1AFF, r >= 0x1DC0 && r <= 0x1DFF, r >= 0x20D0 && r <= 0x20FF, r >= 0xFE00 && r <= 0xFE0F, r >= 0xFE20 && r <= 0xFE2F:
		return 0, true // combining
	}
	return 0, false
}

// foldPercent folds percent-encoded ASCII, of any depth: %40, %2540.
func foldPercent(b []byte, i int) (byte, int) {
	j := i + 1
	for j+1 < len(b) && b[j] == '2' && b[j+1] == '5' {
		j += 2
	}
	if j+2 > len(b) || !isHex(b[j]) || !isHex(b[j+1]) {
		return 0, 0
	}
	if c := unhex(b[j])<<4 | unhex(b[j+1]); c >= ' ' && c < 0x7f && c != '"' && c != '%' {
		return c, j + 2 - i
	}
	return 0, 0
}

// foldEscape folds a JSON escape of an ASCII character, of any depth. Quotes stay:
// they end strings.
func foldEscape(b []byte, i int) (byte, int) {
	n := unicodeEscape(b[i:min(len(b), i+32)])
	if n == 0 || i > 0 && b[i-1] == '\\' {
		return 0, 0
	}
	h := b[i+n-4 : i+n]
	if h[0] != '0' || h[1] != '0' {
		return foldWide(h, n)
	}
	if c := unhex(h[2])<<4 | unhex(h[3]); c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
		return c, n
	}
	return foldWide(h, n)
}

// foldWide folds an escape of a character outside ASCII.
func foldWide(h []byte, n int) (byte, int) {
	r := rune(unhex(h[0]))<<12 | rune(unhex(h[1]))<<8 | rune(unhex(h[2]))<<4 | rune(unhex(h[3]))
	if p, ok := foldRune(r); ok {
		return p, n
	}
	return 0, 0
}

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return (c | 0x20) - 'a' + 10
}

// escape handles the word at start, after a backslash, when it begins with u and
// four hex digits. It gives where to go on, 0 if it is no escape.
func (s *scanner) escape(start int) int {
	if s.b[start] != 'u' || hexEnd(s.b, start+1) < start+5 {
		return 0
	}
	i := start
	for i > 0 && s.b[i-1] == '\\' {
		i--
	}
	if _, n := foldSequence(s.b, i); n > 0 {
		s.foldAt(i)
	}
	s.floor = start + 5
	return s.floor
}

// percent handles the '%' at i before a digit. Only what can be part of a value
// is worth folding.
func (s *scanner) percent(i int) int {
	c, n := foldPercent(s.b, i)
	if n == 0 {
		return 0
	}
	if isWord(c) || c == '@' || c == '-' || c == '.' || c == '+' || c == ':' || c == ' ' || c == '(' || c == ')' {
		s.foldAt(i)
	}
	s.floor = i + n
	return s.floor
}
