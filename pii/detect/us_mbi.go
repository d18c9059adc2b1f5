package detect

// mbi finds Medicare beneficiary identifiers: eleven characters in fixed classes,
// plain or as 4-3-4, without the letters S, L, O, I, B and Z (CMS, "Understanding
// the Medicare Beneficiary Identifier format"). The form is its own evidence.
func (s *scanner) mbi(start, end int) int {
	n := end - start
	if n == 4 && s.byteAt(end) == '-' && s.byteAt(end+4) == '-' && wordEnd(s.b, end+5) == end+9 && !isWord(s.byteAt(end+9)) {
		end += 9
	} else if n != 11 {
		return 0
	}
	if !s.on.has(mbi) || s.byteAt(start-1) == '-' {
		return 0
	}
	var buf [11]byte
	d := compact(buf[:], s.b[start:end])
	if len(d) != 11 || d[0] == '0' {
		return 0
	}
	for i, c := range d {
		if !mbiFits(mbiFormat[i], c) {
			return 0
		}
	}
	s.floor = max(s.floor, end)
	return s.add(start, end, mbi)
}

// mbiFormat: n digit, a letter, x either.
const mbiFormat = "naxnaxnaann"

func mbiFits(format, c byte) bool {
	number := isDigit(c)
	letter := isLetter(c) && c != 'S' && c != 'L' && c != 'O' && c != 'I' && c != 'B' && c != 'Z'
	switch format {
	case 'n':
		return number
	case 'a':
		return letter
	}
	return number || letter
}
