package detect

// isoDate skips a date such as 2026-01-15 at start, with the time after it, and
// reports it when the words before say that somebody was born then.
func (s *scanner) isoDate(start int) int {
	b := s.b
	if start+10 > len(b) || b[start+7] != b[start+4] || !isDigit(b[start+5]) || !isDigit(b[start+6]) ||
		!isDigit(b[start+8]) || !isDigit(b[start+9]) {
		return 0
	}
	month, day := int(b[start+5]-'0')*10+int(b[start+6]-'0'), int(b[start+8]-'0')*10+int(b[start+9]-'0')
	if month < 1 || month > 12 || day < 1 || day > 31 {
		return 0
	}
	end := start + 10
	if c := s.byteAt(end); isDigit(c) || c == '-' && isDigit(s.byteAt(end+1)) {
		return 0
	}
	s.born(start, end)
	end = timeEnd(b, end)
	s.floor = end
	return end
}

// born reports data[start:end], a date, if the context says that it is a birth.
func (s *scanner) born(start, end int) {
	if start == 0 || s.b[start-1] == '\n' || !s.on.has(birth) {
		return
	}
	if k := s.keyColon; s.b[start-1] == '"' && k > 0 && start-k < 4 && s.b[k-1] == '"' && s.byteAt(k-2) != '\\' && !s.labels.mayEnd(s.b, k-1) {
		return // most dates are under other keys
	}
	if s.contextOf(start).has(lBirth) && !s.tail(start) {
		s.add(start, end, birth)
	}
}

// tail reports a date that is the end of something longer.
func (s *scanner) tail(start int) bool {
	p := s.byteAt(start - 1)
	return (p == '-' || p == '.' || p == '/') && isWord(s.byteAt(start-2))
}

// timeEnd skips a time of day after a date: [T ]hh:mm[:ss[.fff]][Z|±hh[:]mm].
func timeEnd(b []byte, i int) int {
	if i+6 > len(b) || b[i] != 'T' && b[i] != ' ' && b[i] != 't' || !isDigit(b[i+1]) || !isDigit(b[i+2]) || b[i+3] != ':' {
		return i
	}
	i += 4
	for i < len(b) && (isDigit(b[i]) || (b[i] == ':' || b[i] == '.' || b[i] == ',') && i+1 < len(b) && isDigit(b[i+1])) {
		i++
	}
	if i < len(b) && (b[i] == 'Z' || b[i] == 'z') {
		return i + 1
	}
	if i+5 < len(b) && (b[i] == '+' || b[i] == '-') && isDigit(b[i+1]) && isDigit(b[i+2]) {
		return digitsEnd(b, i+1)
	}
	return i
}

// date skips groups that are a date, so that no other number is made of them, and
// reports a date of birth.
func (s *scanner) date() int {
	c := &s.cl
	if c.n < 3 || c.sep[1] != c.sep[2] || c.sep[1] == '(' || c.sep[1] == ')' || !s.starts(c.start[0], c.sep[1]) {
		return 0
	}
	a, m, y := c.value(0), c.value(1), c.value(2)
	short := c.len(0) <= 2 && c.len(1) <= 2
	switch {
	case short && c.len(2) == 4 && y >= 1880 && y < 2100 && dayMonth(a, m):
	case short && c.len(2) == 2 && c.sep[1] != ' ' && c.ends(3, c.sep[1]) && dayMonth(a, m) && s.contextOf(c.start[0]).has(lBirth):
	case c.len(0) == 4 && a >= 1880 && a < 2100 && c.len(1) <= 2 && c.len(2) <= 2 && dayMonth(m, y):
	default:
		return 0
	}
	if c.sep[1] == ' ' && !s.contextOf(c.start[0]).has(lBirth) || c.n > 3 && c.sep[3] == c.sep[1] {
		return 0
	}
	s.born(c.start[0], c.end[2])
	return timeEnd(s.b, c.end[2])
}

func (c *cluster) value(i int) (v int) {
	for _, d := range c.b[c.start[i]:min(c.end[i], c.start[i]+8)] {
		v = v*10 + int(d-'0')
	}
	return v
}

func dayMonth(a, b int) bool {
	return a >= 1 && b >= 1 && (a <= 31 && b <= 12 || a <= 12 && b <= 31)
}
