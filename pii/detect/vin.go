package detect

const vinLen = 17

// vin finds a vehicle identification number: 17 characters without I, O and Q,
// beside a label, or alone with the check digit of 49 CFR 565.15.
func (s *scanner) vin(start, end int) int {
	if !s.on.has(vin) {
		return 0
	}
	var buf [vinLen]byte
	d := compact(buf[:], s.b[start:end])
	if len(d) != vinLen || countDigits(d[12:]) < 3 {
		return 0
	}
	sum := 0
	for i, c := range d {
		v := vinValue(c)
		if v < 0 {
			return 0
		}
		sum += v * vinWeights[i]
	}
	check := byte('X')
	if sum%11 < 10 {
		check = '0' + byte(sum%11)
	}
	if s.contextOf(start).has(lVIN) || d[8] == check && s.alone(start, end) {
		return s.add(start, end, vin)
	}
	return 0
}

var vinWeights = [vinLen]int{8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2}

// vinValue is the value of a character, -1 for those that a VIN cannot have.
func vinValue(c byte) int {
	if isDigit(c) {
		return int(c - '0')
	}
	const values = "12345678.12345.7.923456789" // A to Z
	if v := values[c-'A']; v != '.' {
		return int(v - '0')
	}
	return -1
}
