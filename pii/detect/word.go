package detect

// mixed handles a word of digits and letters.
func (s *scanner) mixed(start, end int, classes byte) int {
	b, n := s.b, end-start
	if classes&under != 0 {
		return s.segments(start, end)
	}
	if classes&alpha == 0 {
		if e := s.hexWord(start, n, b, end); e > 0 {
			return e
		}
	}
	if class[b[start]]&letter != 0 && n >= 4 && isDigit(b[start+2]) && isDigit(b[start+3]) && isLetter(b[start+1]) {
		if e := s.iban(start); e > 0 {
			s.floor = max(s.floor, e)
			return e
		}
	}
	if n >= minSecret {
		return max(end, s.longWord(start, end, classes))
	}
	if n >= 4 {
		return max(end, s.shortWord(start, end, classes))
	}
	return end
}

// segments handles a word with underscores, such as scan_536: a key, a token, or
// else words that somebody joined.
func (s *scanner) segments(start, end int) int {
	b := s.b
	if isToken(b[start:end]) {
		return end
	}
	if end-start >= minSecret {
		if e := s.apiKey(start, end); e > 0 {
			return e
		}
	}
	for i := start; i < end; {
		j, classes := i, byte(0)
		for j < end && b[j] != '_' {
			classes |= class[b[j]]
			j++
		}
		next := j
		if s.floor = i; classes == digit {
			next = s.digits(i, j)
		} else if classes&digit != 0 {
			next = s.mixed(i, j, classes)
		}
		i = max(j, next) + 1
		end = max(end, next)
	}
	s.floor = max(s.floor, end)
	return end
}

// hexWord handles a word that may be part of an address, a UUID or a hash.
func (s *scanner) hexWord(start, n int, b []byte, end int) int {
	switch next := s.byteAt(end); {
	case next == '-' && n == 8:
		if e := uuidEnd(b, start); e > 0 {
			s.floor = e
			return e
		}
	case next == ':' && n <= 4:
		return s.hexColons(start)
	case next == '-' && n == 2:
		return s.macDashes(start)
	case next == '.' && n == 4:
		return s.macDots(start)
	}
	return 0
}

// shortWord handles codes of up to 15 characters.
func (s *scanner) shortWord(start, end int, classes byte) int {
	b := s.b
	if i := digitsEnd(b, start); i-start >= minPhoneDigits && isExtension(b, i) && digitsEnd(b, i+1) == end {
		return s.groups(start)
	}
	if e := s.mbi(start, end); e > 0 {
		return e
	}
	if s.packs != nil {
		if e := s.packWord(start, end); e > 0 {
			return e
		}
	}
	digits := countDigits(b[start:end])
	if digits < 5 {
		return 0
	}
	if e := s.ninoWord(start, end); e > 0 {
		return e
	}
	return s.labelledCode(start, end, digits)
}

// longWord handles words of 16 characters and more.
func (s *scanner) longWord(start, end int, classes byte) int {
	n := end - start
	if n == 16 || n == 18 {
		if e := s.ukLicence(start, end); e > 0 {
			return e
		}
	}
	if n == vinLen {
		if e := s.vin(start, end); e > 0 {
			return e
		}
	}
	if e := s.cryptoAddress(start, end, classes); e > 0 {
		return e
	}
	if e := s.apiKey(start, end); e > 0 {
		return e
	}
	if s.packs != nil && n <= maxPackWord {
		if e := s.packWord(start, end); e > 0 {
			return e
		}
	}
	if n <= 20 {
		return s.labelledCode(start, end, countDigits(s.b[start:end]))
	}
	return 0
}
