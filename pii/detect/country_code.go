package detect

// digitRange bounds the digits after a country code.
type digitRange struct{ min, max uint8 }

// codeDigits says how long the country codes of ITU-T E.164 are, by their first
// two digits: one digit in zones 1 and 7, two where a zone's table says so, three
// elsewhere.
var twoDigitCodes = [100]bool{
	20: true, 27: true,
	30: true, 31: true, 32: true, 33: true, 34: true, 36: true, 39: true,
	40: true, 41: true, 43: true, 44: true, 45: true, 46: true, 47: true, 48: true, 49: true,
	51: true, 52: true, 53: true, 54: true, 55: true, 56: true, 57: true, 58: true,
	60: true, 61: true, 62: true, 63: true, 64: true, 65: true, 66: true,
	81: true, 82: true, 84: true, 86: true,
	90: true, 91: true, 92: true, 93: true, 94: true, 95: true, 98: true,
}

// nationalLengths narrows the digits after a code for the countries with the most
// numbers, after the plans they file with the ITU.
var nationalLengths = map[int]digitRange{
	7: {10, 10}, 20: {8, 10}, 27: {9, 9}, 30: {10, 10}, 31: {9, 9}, 32: {8, 9}, 33: {9, 9}, 34: {9, 9},
	36: {8, 9}, 39: {6, 11}, 40: {9, 9}, 41: {9, 9}, 43: {4, 13}, 44: {9, 10}, 45: {8, 8}, 46: {7, 10},
	47: {8, 8}, 48: {9, 9}, 49: {6, 12}, 52: {10, 11}, 54: {9, 11}, 55: {10, 11}, 61: {9, 9}, 62: {7, 12},
	63: {8, 10}, 64: {8, 10}, 65: {8, 8}, 66: {8, 9}, 81: {9, 10}, 82: {8, 10}, 86: {9, 11}, 90: {10, 10},
	91: {10, 10}, 92: {9, 10}, 98: {10, 10},
}

// nationalDigits gives the range for the code that digits begin with, and the
// code's length, 0 when there is no such code.
func nationalDigits(digits []byte) (digitRange, int) {
	n, code := codeLength(digits)
	if n == 0 {
		return digitRange{}, 0
	}
	if r, ok := nationalLengths[code]; ok {
		return r, n
	}
	return digitRange{minWithCountry - 3, maxPhoneDigits - 3}, n
}

func codeLength(d []byte) (n, code int) {
	switch {
	case d[0] == '0':
		return 0, 0
	case d[0] == '1' || d[0] == '7':
		return 1, int(d[0] - '0')
	case len(d) < 2:
		return 0, 0
	}
	two := int(d[0]-'0')*10 + int(d[1]-'0')
	if twoDigitCodes[two] {
		return 2, two
	}
	if len(d) < 3 {
		return 0, 0
	}
	return 3, two*10 + int(d[2]-'0')
}
