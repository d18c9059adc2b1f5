package detect

// labelledGroups finds numbers that any ten digits could be, and that therefore
// need a key or a word beside them. Where a check digit exists it must be right,
// and a text that is nothing but the number counts as labelled.
func (s *scanner) labelledGroups() int {
	c := &s.cl
	first, sep := c.start[0], c.sepAfter()
	for j := min(c.n, 5); j > 0; j-- {
		if j == 1 {
			sep = 0
		}
		if !c.ends(j, sep) || !c.uniform(0, j, sep) || !s.starts(first, sep) {
			continue
		}
		n := c.digits(0, j)
		if n < minBare || n > 18 {
			continue
		}
		if n == 9 || n == 10 {
			if e := s.checkedNumber(first, c.end[j-1], n, j); e > 0 {
				return e
			}
		}
		if e := s.plainNumber(first, c.end[j-1], n); e > 0 {
			return e
		}
	}
	return 0
}

// checkedNumber handles the numbers with check digits, which seldom agree.
func (s *scanner) checkedNumber(start, end, n, groups int) int {
	var buf [10]byte
	d := compact(buf[:], s.b[start:end])
	c := &s.cl
	switch n {
	case 10:
		if validNHS(d) && layout(c, groups, 3, 3, 4) {
			if e := s.checked(nhs, lNHS, start, end, d, groups); e > 0 {
				return e
			}
		}
		if validNPI(d) && layout(c, groups, 4, 3, 3) {
			return s.checked(npi, lNPI|lHealth, start, end, d, groups)
		}
	case 9:
		if validABA(d) && layout(c, groups, 4, 4, 1) {
			if e := s.checked(aba, lRouting, start, end, d, groups); e > 0 {
				return e
			}
		}
		if validSIN(d) && layout(c, groups, 3, 3, 3) {
			words := lSIN
			if s.contextOf(start).has(lNINO) {
				words |= lSSN // social insurance number
			}
			return s.checked(sin, words, start, end, d, groups)
		}
	}
	return 0
}

// checked reports a number whose check digit is right and that is labelled.
func (s *scanner) checked(id typeID, words label, start, end int, d []byte, groups int) int {
	if s.on.has(id) && (s.contextOf(start).has(words) || s.alone(start, end) && !epochSeconds(d, groups)) {
		return s.add(start, end, id)
	}
	return 0
}

// layout reports whether the number is one group, or three of these lengths.
func layout(c *cluster, groups, a, b, d int) bool {
	return groups == 1 || groups == 3 && c.len(0) == a && c.len(1) == b && c.len(2) == d
}

// validNHS is the modulus 11 of the NHS data dictionary.
func validNHS(d []byte) bool {
	check := 11 - weighted(d[:9], ":98765432")%11
	return check%11 == int(d[9]-'0') && check != 10 && !sameDigits(d)
}

// validNPI is Luhn with the prefix 80840 of the card issuer's number for health
// applications (45 CFR 162.406); its digits add 24.
func validNPI(d []byte) bool {
	return (d[0] == '1' || d[0] == '2') && luhn(d, 24) && !sameDigits(d[1:9])
}

// validABA is the check of ABA routing numbers, whose first two digits are a
// Federal Reserve district.
func validABA(d []byte) bool {
	p := int(d[0]-'0')*10 + int(d[1]-'0')
	return (p <= 12 || p >= 21 && p <= 32 || p >= 61 && p <= 72 || p == 80) && weighted(d, "371")%10 == 0 && !sameDigits(d)
}

// validSIN is Luhn; no number starts with 0 or 8.
func validSIN(d []byte) bool { return d[0] != '0' && d[0] != '8' && luhn(d, 0) && !sameDigits(d) }

// epochSeconds reports ten digits that are more likely a time of the years 2014
// to 2033 in seconds.
func epochSeconds(d []byte, groups int) bool {
	return groups == 1 && len(d) == 10 && d[0] == '1' && d[1] >= '4'
}

// alone reports whether the text is nothing but data[start:end].
func (s *scanner) alone(start, end int) bool {
	if s.first < 0 {
		s.first = skipSpace(s.b, 0)
	}
	return start == s.first && skipSpace(s.b, end) == len(s.b)
}

// plainNumber handles numbers without a check digit, which need a label.
func (s *scanner) plainNumber(start, end, n int) int {
	ctx := s.contextOf(start)
	if ctx.near == 0 {
		return 0
	}
	switch {
	case ctx.has(lBirth) && n == 8 && end-start == 8:
		return s.addIf(birth, start, end, plainDate(s.b[start:end]))
	case ctx.has(lPassport) && n <= 9:
		return s.addIf(passport, start, end, true)
	case licensed(ctx):
		return s.addIf(license, start, end, true)
	case ctx.has(lAccount) && ctx.has(lNumber|lBank) || ctx.has(lBank) && ctx.has(lNumber):
		return s.addIf(account, start, end, !ctx.veto && !ctx.has(lBlock))
	}
	return 0
}

// licensed reports a context of driving licences: the words together, or a key
// that ends in a licence's number.
func licensed(ctx context) bool {
	return ctx.has(lLicense) && ctx.has(lDriver) || ctx.has(lLicense) && ctx.has(lNumber) && ctx.key && !ctx.has(lHealth|lThing)
}

// addIf reports the value if its type is on and ok holds.
func (s *scanner) addIf(id typeID, start, end int, ok bool) int {
	if !ok || !s.on.has(id) {
		return 0
	}
	return s.add(start, end, id)
}

// plainDate reports YYYYMMDD, DDMMYYYY or MMDDYYYY.
func plainDate(d []byte) bool {
	v := func(i int) int { return int(d[i]-'0')*10 + int(d[i+1]-'0') }
	return (v(0) == 19 || v(0) == 20) && dayMonth(v(6), v(4)) || (v(4) == 19 || v(4) == 20) && dayMonth(v(0), v(2))
}

// labelledCode handles words of letters and digits that need a label.
func (s *scanner) labelledCode(start, end, digits int) int {
	n := end - start
	if digits < 5 || digits < n-6 || n > 20 {
		return 0
	}
	if p := s.byteAt(start - 1); p == '-' && isWord(s.byteAt(start-2)) || s.byteAt(end) == '-' && isWord(s.byteAt(end+1)) {
		return 0
	}
	ctx := s.contextOf(start)
	switch {
	case ctx.has(lPassport) && n >= 6 && n <= 10:
		return s.addIf(passport, start, end, true)
	case licensed(ctx):
		return s.addIf(license, start, end, true)
	case ctx.has(lAccount) && ctx.has(lNumber|lBank):
		return s.addIf(account, start, end, !ctx.veto && !ctx.has(lBlock))
	}
	return 0
}
