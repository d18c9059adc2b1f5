package detect

// asianTypes are checked by the rules of the registries that issue them.
var asianTypes = []packType{
	{"IN_AADHAAR", "in", "Indian Aadhaar number", []string{"<", "444"}, validAadhaar},
	{"IN_PAN", "in", "Indian permanent account number", []string{"w10"}, validPAN},
	{"KR_RRN", "kr", "Korean resident or foreigner registration number", []string{"67", "="}, validRRN},
	{"SG_NRIC_FIN", "sg", "Singapore identity number", []string{"w09"}, validNRIC},
	{"TH_TNIN", "th", "Thai national identification number", []string{"=", "14521"}, validThai},
}

// validAadhaar is Verhoeff; the first digit is 2 to 9 (UIDAI).
func validAadhaar(d []byte) bool { return d[0] >= '2' && verhoeff(d) && !palindrome(d) }

func palindrome(d []byte) bool {
	for i := range len(d) / 2 {
		if d[i] != d[len(d)-1-i] {
			return false
		}
	}
	return true
}

// verhoeff is the check of J. Verhoeff's dihedral group D5.
func verhoeff(d []byte) bool {
	c := 0
	for i := range d {
		v := int(d[len(d)-1-i] - '0')
		for range i % 8 {
			v = int("1576283094"[v] - '0')
		}
		c = dihedral(c, v)
	}
	return c == 0
}

// dihedral multiplies in D5.
func dihedral(a, b int) int {
	switch {
	case a < 5 && b < 5:
		return (a + b) % 5
	case a < 5:
		return (a+b)%5 + 5
	case b < 5:
		return (a-b)%5 + 5
	}
	return (a - b + 5) % 5
}

// validPAN: three letters, the holder's kind, the name's initial, digits, a letter.
func validPAN(d []byte) bool {
	if !shaped(d, "AAAAA9999A") {
		return false
	}
	switch d[3] {
	case 'A', 'B', 'C', 'F', 'G', 'H', 'J', 'L', 'P', 'T':
		return number(d[5:9]) > 0
	}
	return false
}

// validRRN: date, sex and century, serial. Numbers given since October 2020 have no
// check digit.
func validRRN(d []byte) bool {
	return yymmdd(d) && d[6] >= '1' && d[6] <= '8' && two(d[7:]) <= 96
}

// validNRIC: prefix, seven digits, letter by prefix (ICA).
func validNRIC(d []byte) bool {
	if !shaped(d, "A9999999A") {
		return false
	}
	sum := weighted(d[1:8], "2765432")
	switch d[0] {
	case 'S':
		return d[8] == "JZIHGFEDCBA"[sum%11]
	case 'T':
		return d[8] == "JZIHGFEDCBA"[(sum+4)%11]
	case 'F':
		return d[8] == "XWUTRQPNMLK"[sum%11]
	case 'G':
		return d[8] == "XWUTRQPNMLK"[(sum+4)%11]
	case 'M':
		return d[8] == "KLJNPQRTUWX"[(sum+3)%11]
	}
	return false
}

// lastProvince is the last province of each group of ten.
var lastProvince = [10]int{-1, 9, 7, 9, 9, 8, 7, 7, 6, 6}

// validThai: the kind of person first, then the province (ISO 3166-2:TH, in nine
// groups), modulo 11 last.
func validThai(d []byte) bool {
	province := two(d[1:])
	return d[0] != '0' && d[0] != '9' && d[1] != '0' && province%10 <= lastProvince[province/10] && (11-weighted(d[:12], "=<;:98765432")%11)%10 == int(d[12]-'0') && !sameDigits(d)
}
