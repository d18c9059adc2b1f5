package detect

// ssnGroups finds US social security and taxpayer numbers: three, two and four
// digits with '-', ' ' or '.' between, or nine digits beside a key or word.
// Numbers that the SSA never issues are none: area 000, 666 and from 900 on,
// group 00, serial 0000 (SSA, "Social Security Number Randomization"). From 900
// on they are the IRS's ITIN, with the groups 50 to 65, 70 to 88, 90 to 92 and
// 94 to 99 (IRS publication 1915).
func (s *scanner) ssnGroups() int {
	c := &s.cl
	switch {
	case c.lens(0, 3, 2, 4):
		sep := c.sep[1]
		if sep == '/' || sep != c.sep[2] || !c.ends(3, sep) || !s.starts(c.start[0], sep) {
			return 0
		}
		return s.ssn(c.start[0], c.end[2], true)
	case c.lens(0, 9) && c.ends(1, 0) && s.starts(c.start[0], 0):
		return s.ssn(c.start[0], c.end[0], false)
	case (c.lens(0, 3, 6) || c.lens(0, 5, 4)) && c.ends(2, c.sep[1]) && s.starts(c.start[0], c.sep[1]):
		return s.ssn(c.start[0], c.end[1], false)
	}
	return 0
}

// ssn checks nine digits. Without the usual format they need a label.
func (s *scanner) ssn(start, end int, formatted bool) int {
	var buf [9]byte
	d := compact(buf[:], s.b[start:end])
	area, group := number3(d), d[3:5]
	if area == 0 || area == 666 || string(group) == "00" || string(d[5:]) == "0000" {
		return 0
	}
	id, word := ssn, lSSN
	if area >= 900 {
		if !itinGroup(int(group[0]-'0')*10 + int(group[1]-'0')) {
			return 0
		}
		id, word = itin, lTax|lSSN
	}
	if !formatted && validSIN(d) && s.contextOf(start).has(lNINO) {
		return s.addIf(sin, start, end, true) // social insurance: Canada's
	}
	if !s.on.has(id) || !formatted && !s.contextOf(start).has(word) && !(id == itin && s.alone(start, end)) {
		return 0
	}
	return s.add(start, end, id)
}

func number3(d []byte) int { return int(d[0]-'0')*100 + int(d[1]-'0')*10 + int(d[2]-'0') }

func itinGroup(g int) bool {
	return g >= 50 && g <= 65 || g >= 70 && g <= 88 || g >= 90 && g <= 92 || g >= 94
}
