package detect

// macColons finds six hex pairs with colons between them.
func (s *scanner) macColons(start int) int { return s.macPairs(start, ':') }

// macDashes finds six hex pairs with dashes between them.
func (s *scanner) macDashes(start int) int { return s.macPairs(start, '-') }

const macLen = 17

func (s *scanner) macPairs(start int, sep byte) int {
	b := s.b
	if start+macLen > len(b) || b[start+2] != sep || b[start+14] != sep {
		return 0
	}
	for i := range macLen {
		if c := b[start+i]; i%3 == 2 && c != sep || i%3 != 2 && !isHex(c) {
			return 0
		}
	}
	return s.mac(start, start+macLen, sep)
}

// macDots finds three groups of four hex digits with dots, as Cisco writes them.
func (s *scanner) macDots(start int) int {
	b := s.b
	if start+14 > len(b) || hexEnd(b, start) != start+4 || b[start+4] != '.' || b[start+9] != '.' ||
		hexEnd(b, start+5) != start+9 || hexEnd(b, start+10) != start+14 {
		return 0
	}
	return s.mac(start, start+14, '.')
}

// mac reports an address unless something is joined to it, or it is nobody's: all
// zeros or, the broadcast address, all ones.
func (s *scanner) mac(start, end int, sep byte) int {
	if !s.on.has(mac) || isLetterOrDigit(s.byteAt(start-1)) || tokenBefore(s.b, start) || isLetterOrDigit(s.byteAt(end)) ||
		s.byteAt(start-1) == sep && isWord(s.byteAt(start-2)) && sep != ':' || s.byteAt(end) == sep && isHex(s.byteAt(end+1)) {
		return 0
	}
	var buf [12]byte
	if sameDigits(compact(buf[:], s.b[start:end])) {
		if buf[0] == '0' || buf[0] == 'F' {
			return end
		}
	}
	s.floor = max(s.floor, end)
	return s.add(start, end, mac)
}
