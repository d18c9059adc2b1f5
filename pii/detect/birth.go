package detect

import "bytes"

// monthNames by their first three letters.
const monthNames = "janfebmaraprmayjunjulaugsepoctnovdec"

// writtenDate reports data[start:end], the value of a key or label for births,
// when it is a date with its month in letters: 5 May 1990, May 5, 1990. Dates in
// digits are found as digits are.
func (s *scanner) writtenDate(start, end int) {
	v := s.b[start:end]
	if !s.on.has(birth) || len(v) < 8 || len(v) > 24 || touchesToken(s.b, start, end) {
		return
	}
	month, days, year := false, 0, false
	for i := 0; i < len(v); {
		switch c := v[i]; {
		case isDigit(c):
			e := digitsEnd(v, i)
			if e-i == 4 {
				year = true
			} else {
				days++
			}
			i = e
		case isLetter(c):
			e := i
			for e < len(v) && isLetter(v[e]) {
				e++
			}
			month = month || e-i >= 3 && isMonth(v[i:i+3])
			i = e
		default:
			i++
		}
	}
	if month && year && days == 1 {
		s.add(start, end, birth)
	}
}

func isMonth(w []byte) bool {
	var l [3]byte
	for i, c := range w {
		l[i] = c | 0x20
	}
	i := bytes.Index([]byte(monthNames), l[:])
	return i >= 0 && i%3 == 0
}
