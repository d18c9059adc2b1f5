package detect

import "math/bits"

// Classes of bytes. A byte with any of them belongs to a word.
const (
	digit  = 1 << iota // 0-9
	hexa               // a-f, A-F
	alpha              // the other ASCII letters
	under              // _
	lower              // set beside hexa and alpha
	upper              // set beside hexa and alpha
	letter = hexa | alpha
)

// class maps every byte to its classes.
var class = [256]byte{
	'0': digit, '1': digit, '2': digit, '3': digit, '4': digit, '5': digit, '6': digit, '7': digit, '8': digit, '9': digit,
	'a': hexa | lower, 'b': hexa | lower, 'c': hexa | lower, 'd': hexa | lower, 'e': hexa | lower, 'f': hexa | lower,
	'g': alpha | lower, 'h': alpha | lower, 'i': alpha | lower, 'j': alpha | lower, 'k': alpha | lower, 'l': alpha | lower,
	'm': alpha | lower, 'n': alpha | lower, 'o': alpha | lower, 'p': alpha | lower, 'q': alpha | lower, 'r': alpha | lower,
	's': alpha | lower, 't': alpha | lower, 'u': alpha | lower, 'v': alpha | lower, 'w': alpha | lower, 'x': alpha | lower,
	'y': alpha | lower, 'z': alpha | lower,
	'A': hexa | upper, 'B': hexa | upper, 'C': hexa | upper, 'D': hexa | upper, 'E': hexa | upper, 'F': hexa | upper,
	'G': alpha | upper, 'H': alpha | upper, 'I': alpha | upper, 'J': alpha | upper, 'K': alpha | upper, 'L': alpha | upper,
	'M': alpha | upper, 'N': alpha | upper, 'O': alpha | upper, 'P': alpha | upper, 'Q': alpha | upper, 'R': alpha | upper,
	'S': alpha | upper, 'T': alpha | upper, 'U': alpha | upper, 'V': alpha | upper, 'W': alpha | upper, 'X': alpha | upper,
	'Y': alpha | upper, 'Z': alpha | upper,
	'_': under,
}

func isDigit(c byte) bool  { return c-'0' < 10 }
func isLetter(c byte) bool { return c|0x20-'a' < 26 }
func isHex(c byte) bool    { return class[c]&(digit|hexa) != 0 }
func isSpace(c byte) bool  { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// isWord reports the bytes that words, and the cores of tokens, consist of.
func isWord(c byte) bool { return class[c] != 0 }

// isLetterOrDigit is isWord without the underscore, which joins names to values in
// file names and identifiers.
func isLetterOrDigit(c byte) bool { return class[c]&^under != 0 }

// wordEnd is the end of the word that data[i] belongs to.
func wordEnd(data []byte, i int) int {
	for i < len(data) && class[data[i]] != 0 {
		i++
	}
	return i
}

// digitsEnd is the end of the digits that start at i.
func digitsEnd(data []byte, i int) int {
	for i+8 <= len(data) {
		if m := notDigits(load8(data[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	return i
}

// hexEnd is the end of the hexadecimal digits that start at i.
func hexEnd(data []byte, i int) int {
	for i < len(data) && isHex(data[i]) {
		i++
	}
	return i
}

// allDigits reports whether b consists of decimal digits.
func allDigits(b []byte) bool { return len(b) > 0 && digitsEnd(b, 0) == len(b) }

// classesOf is the union of the classes in b.
func classesOf(b []byte) (all byte) {
	for _, c := range b {
		all |= class[c]
	}
	return all
}

// countDigits counts decimal digits.
func countDigits(b []byte) (n int) {
	for _, c := range b {
		n += int(class[c] & digit)
	}
	return n
}

// hasPrefix is bytes.HasPrefix for a constant prefix, at an offset.
func hasPrefix(b []byte, at int, prefix string) bool {
	return at >= 0 && at+len(prefix) <= len(b) && string(b[at:at+len(prefix)]) == prefix
}

// sameFold compares with a lower-case ASCII word.
func sameFold(b []byte, word string) bool {
	if len(b) != len(word) {
		return false
	}
	for i, c := range b {
		if c|0x20 != word[i] {
			return false
		}
	}
	return true
}
