package detect

// luhn is the check of ISO/IEC 7812-1 annex B over the decimal digits of b, with
// a sum that stands for digits before them.
func luhn(b []byte, sum int) bool {
	double := false
	for i := len(b) - 1; i >= 0; i-- {
		if !isDigit(b[i]) {
			continue
		}
		v := int(b[i] - '0')
		if double {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
		double = !double
	}
	return sum%10 == 0
}

// weighted is the sum of digits times weights, which are written as characters
// ('0' is 0, ':' is 10) and repeat.
func weighted(digits []byte, weights string) (sum int) {
	for i, c := range digits {
		sum += int(c-'0') * int(weights[i%len(weights)]-'0')
	}
	return sum
}

// sameDigits reports a run of one digit, which passes many checks and is nobody's.
func sameDigits(b []byte) bool {
	for _, c := range b {
		if c != b[0] {
			return false
		}
	}
	return true
}

// compact copies the letters and digits of b into buf, letters in upper case.
func compact(buf []byte, b []byte) []byte {
	buf = buf[:0]
	for _, c := range b {
		if class[c]&(digit|letter) == 0 {
			continue
		}
		if class[c]&lower != 0 {
			c -= 'a' - 'A'
		}
		if len(buf) == cap(buf) {
			return buf
		}
		buf = append(buf, c)
	}
	return buf
}
