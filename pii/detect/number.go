package detect

// number handles the word around a digit at i and gives the position to go on
// from, which is always past i.
func (s *scanner) number(i int) int {
	b := s.b
	start := i
	for start > s.floor && class[b[start-1]] != 0 {
		start--
	}
	if start > 0 && start < i && b[start-1] == '\\' {
		if next := s.escape(start); next > 0 {
			return next
		}
		if isEscapeLetter(b[start]) {
			start++
		}
	}
	if start > 0 && b[start-1] == '%' && s.folds {
		if next := s.percent(start - 1); next > 0 {
			return next
		}
	}
	end, classes := digitsEnd(b, start), byte(0)
	if end > start {
		classes = digit
	}
	for end < len(b) && class[b[end]] != 0 {
		classes |= class[b[end]]
		end++
	}
	s.floor = end
	if classes == digit {
		return s.digits(start, end)
	}
	return s.mixed(start, end, classes)
}

// digits handles a word of digits only.
func (s *scanner) digits(start, end int) int {
	switch n, next := end-start, s.byteAt(end); {
	case next == '.' && s.byteAt(start-1) == ':' && s.amountEnd(start, end) > 0:
		s.floor = s.amountEnd(start, end)
		return s.floor
	case next == ':' && n <= 4:
		if e := s.hexColons(start); e > 0 {
			return e
		}
	case next == '-' && n == 4 || next == '/' && n == 4:
		if e := s.isoDate(start); e > 0 {
			return e
		}
	case next == '.' && n <= 3 && s.byteAt(start-1) != '+':
		if e := s.ipv4(start); e > 0 {
			return e
		}
	case next == '-' && n == 2:
		if e := s.macDashes(start); e > 0 {
			return e
		}
	case next == '.' && n == 4:
		if e := s.macDots(start); e > 0 {
			return e
		}
	case next == '-' && n == 8:
		if e := uuidEnd(s.b, start); e > 0 {
			s.floor = e
			return e
		}
	}
	if s.packs != nil && s.byteAt(end) == '-' {
		if e := s.packDashed(start, end); e > 0 {
			return e
		}
	}
	if s.joins(end) {
		return s.groups(start)
	}
	if end-start >= minBare {
		s.single(start, end)
	}
	return end
}

// amountEnd is the end of a decimal that JSON punctuation follows, such as 12.50},
// which needs no closer look; 0 if the digits from start to end begin none.
func (s *scanner) amountEnd(start, end int) int {
	e := digitsEnd(s.b, end+1)
	if n := e - start - 1; e == end+1 || n >= minCardDigits || end-start == 3 && e-end == 5 {
		return 0
	}
	if c := s.byteAt(e); c != ',' && c != '}' && c != ']' {
		return 0
	}
	return e
}

// minBare is the fewest digits a number without separators can have.
const minBare = 6

// joins reports whether another group of digits may follow the one ending at i.
func (s *scanner) joins(i int) bool {
	switch s.byteAt(i) {
	case ' ', '-', '.', '/', '(':
		return isDigit(s.byteAt(i+1)) || s.byteAt(i+1) == '('
	case ')':
		c := s.byteAt(i + 1)
		return isDigit(c) || (c == ' ' || c == '-' || c == '/' || c == '.') && isDigit(s.byteAt(i+2))
	}
	return false
}

// single handles a number without separators.
func (s *scanner) single(start, end int) {
	if end-start > maxCardDigits || s.inDecimal(start, end) {
		return
	}
	s.cl.one(s.b, start, end)
	s.tryGroups()
}

// inDecimal reports a number that is part of a decimal or of a dotted run.
func (s *scanner) inDecimal(start, end int) bool {
	p, n := s.byteAt(start-1), s.byteAt(end)
	return p == '.' && isDigit(s.byteAt(start-2)) || n == '.' && isDigit(s.byteAt(end+1))
}

// groups handles digits with separators, from the group at start on.
func (s *scanner) groups(start int) int {
	s.cl.parse(s.b, start)
	if c := &s.cl; c.n == 1 && c.len(0) < minBare || c.n == 2 && c.digits(0, 2) < minBare || c.decimal() && !s.dottedPhone(start) {
		return c.end[0]
	}
	if e := s.date(); e > 0 {
		s.floor = e
		return e
	}
	if e := s.tryGroups(); e > 0 {
		s.floor = max(s.floor, e)
		return e
	}
	return s.cl.end[0]
}

// tryGroups asks every type that is written in digits, and gives the furthest end.
func (s *scanner) tryGroups() int {
	end := s.ssnGroups()
	end = max(end, s.cardGroups())
	end = max(end, s.phoneGroups())
	end = max(end, s.ninoGroups())
	end = max(end, s.labelledGroups())
	if s.packs != nil {
		end = max(end, s.packGroups())
	}
	return end
}

// decimal reports a number such as 1234.50.
func (c *cluster) decimal() bool {
	return c.n == 2 && c.sep[1] == '.' && c.len(0)+c.len(1) < minCardDigits && !c.lens(0, 3, 4)
}

// dottedPhone reports a phone number such as +65.92347353.
func (s *scanner) dottedPhone(start int) bool {
	return s.byteAt(start-1) == '+' && s.contextOf(start).has(lPhone|lCall)
}

// uuidEnd is the end of a UUID at start, 0 if there is none.
func uuidEnd(b []byte, start int) int {
	if start+36 > len(b) {
		return 0
	}
	u := b[start : start+36]
	if u[8] != '-' || u[13] != '-' || u[18] != '-' || u[23] != '-' {
		return 0
	}
	// 8-4-4-4-12 in loads that overlap; the ones in the middle have a dash in them.
	const dash4, dash0and5 = high &^ (0x80 << 32), high &^ 0x80 &^ (0x80 << 40)
	for _, part := range [...]struct {
		at   int
		want uint64
	}{{0, high}, {9, dash4}, {14, dash4}, {18, dash0and5}, {24, high}, {28, high}} {
		if hexDigits(load8(u[part.at:]))&part.want != part.want {
			return 0
		}
	}
	return wordEnd(b, start+36)
}
