package detect

// ninoGroups finds a UK national insurance number written in groups: AA 12 34 56 B
// or AA 123456 B. The cluster is its digits.
func (s *scanner) ninoGroups() int {
	c := &s.cl
	groups := 1
	if c.lens(0, 2, 2, 2) && c.uniform(0, 3, ' ') {
		groups = 3
	} else if !c.lens(0, 6) {
		return 0
	}
	start, last := c.start[0]-3, c.end[groups-1]+1
	if start < 0 || s.b[start+2] != ' ' || !isLetter(s.b[start]) || !isLetter(s.b[start+1]) || isWord(s.byteAt(start-1)) ||
		s.byteAt(last-1) != ' ' || !isLetter(s.byteAt(last)) || isWord(s.byteAt(last+1)) {
		return 0
	}
	return s.nino(start, last+1, groups == 3)
}

// ninoWord finds one written as AA123456B or AA 123456B.
func (s *scanner) ninoWord(start, end int) int {
	if end-start == 7 && s.byteAt(start-1) == ' ' && start >= 3 && isLetter(s.b[start-2]) && isLetter(s.b[start-3]) && !isWord(s.byteAt(start-4)) {
		return s.nino(start-3, end, false)
	}
	if end-start != 9 {
		return 0
	}
	return s.nino(start, end, false)
}

// nino checks a number by the rules of HMRC's manual NIM39110. Unless it is
// written in groups it needs a label.
func (s *scanner) nino(start, end int, grouped bool) int {
	var buf [9]byte
	d := compact(buf[:], s.b[start:end])
	if !s.on.has(nino) || len(d) != 9 || !ninoPrefix(d[0], d[1]) || !allDigits(d[2:8]) || d[8] < 'A' || d[8] > 'D' {
		return 0
	}
	if !grouped && !s.contextOf(start).has(lNINO|lNational) && !s.alone(start, end) {
		return 0
	}
	return s.add(start, end, nino)
}

func ninoPrefix(a, b byte) bool {
	switch a {
	case 'D', 'F', 'I', 'Q', 'U', 'V':
		return false
	}
	switch b {
	case 'D', 'F', 'I', 'O', 'Q', 'U', 'V':
		return false
	}
	switch string([]byte{a, b}) {
	case "BG", "GB", "KN", "NK", "NT", "TN", "ZZ":
		return false
	}
	return isLetter(a) && isLetter(b)
}

// ukLicence finds a driver number of the DVLA: five characters of the surname,
// decade, month (plus 50 for women), day, year, initials, two check characters.
func (s *scanner) ukLicence(start, end int) int {
	if !s.on.has(license) || end-start != 16 {
		return 0
	}
	var buf [16]byte
	d := compact(buf[:], s.b[start:end])
	if len(d) != 16 || !surname5(d[:5]) || !allDigits(d[5:11]) {
		return 0
	}
	month, day := int(d[6]-'0')*10+int(d[7]-'0'), int(d[8]-'0')*10+int(d[9]-'0')
	if month > 50 {
		month -= 50
	}
	if month < 1 || month > 12 || day < 1 || day > 31 || !isLetter(d[11]) || !isLetter(d[12]) && d[12] != '9' || !isLetter(d[14]) || !isLetter(d[15]) {
		return 0
	}
	return s.add(start, end, license)
}

// surname5 reports letters that 9 fills up.
func surname5(d []byte) bool {
	n := 0
	for n < 5 && isLetter(d[n]) {
		n++
	}
	for i := n; i < 5; i++ {
		if d[i] != '9' {
			return false
		}
	}
	return n > 0
}
