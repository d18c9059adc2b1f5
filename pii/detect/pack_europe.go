package detect

import "strings"

// europeanTypes are checked by the rules of the registries that issue them.
var europeanTypes = []packType{
	{"DE_TAX_ID", "de", "German tax identification number", []string{";", "2333"}, validSteuerID},
	{"DE_SOCIAL_SECURITY", "de", "German social security number", []string{"w12"}, validRVNR},
	{"DE_HEALTH_INSURANCE", "de", "German health insurance number", []string{"w10"}, validKVNR},
	{"DE_ID_CARD", "de", "German identity card or passport", []string{"w09"}, validGermanCard},
	{"ES_NIF", "es", "Spanish tax number", []string{"w09", "w08", "w10"}, validNIF},
	{"ES_NIE", "es", "Spanish number of foreigners", []string{"w09", "w10", "w11"}, validNIE},
	{"FI_PERSONAL_IDENTITY_CODE", "fi", "Finnish personal identity code", []string{"w11"}, validHETU},
	{"FR_NIR", "fr", "French social security number", []string{"?", "=2", "1222332"}, validNIR},
	{"IT_FISCAL_CODE", "it", "Italian fiscal code", []string{"w16"}, validFiscalCode},
	{"NL_BSN", "nl", "Dutch citizen service number", []string{"9", "333", "423"}, validBSN},
	{"PL_PESEL", "pl", "Polish national identification number", []string{";"}, validPESEL},
	{"SE_PERSONNUMMER", "se", "Swedish personal identity number", []string{":", "<", "64", "84"}, validPersonnummer},
	{"TR_NATIONAL_ID", "tr", "Turkish identification number", []string{";"}, validTCKN},
}

// validSteuerID: ISO 7064 modulo 11, 10; not starting with 0 (BZSt).
func validSteuerID(d []byte) bool {
	product := 10
	for _, c := range d[:10] {
		sum := (int(c-'0') + product) % 10
		if sum == 0 {
			sum = 10
		}
		product = sum * 2 % 11
	}
	return d[0] != '0' && (11-product)%10 == int(d[10]-'0') && repeats(d[:10])
}

// repeats reports digits of which none occurs more than three times, as the BZSt
// makes them.
func repeats(d []byte) bool {
	var seen [10]int
	most := 0
	for _, c := range d {
		seen[c-'0']++
		most = max(most, seen[c-'0'])
	}
	return most <= 3
}

// validRVNR: area, birth date, initial, serial, check (VKVV § 2).
func validRVNR(d []byte) bool {
	if !shaped(d, "99999999A999") {
		return false
	}
	day, month := two(d[2:]), two(d[4:])
	if day > 50 {
		day -= 50
	}
	if day < 1 || day > 31 || month < 1 || month > 12 {
		return false
	}
	var x [12]byte
	plain := append(append(append(x[:0], d[:8]...), '0'+(d[8]-'A'+1)/10, '0'+(d[8]-'A'+1)%10), d[9:11]...)
	return crossSum(plain, "212571212121")%10 == int(d[11]-'0')
}

// crossSum adds the cross sums of digits times weights.
func crossSum(d []byte, weights string) (sum int) {
	for i, c := range d {
		p := int(c-'0') * int(weights[i]-'0')
		sum += p/10 + p%10
	}
	return sum
}

// validKVNR: the letter as two digits, weights 1 and 2 (SGB V § 290).
func validKVNR(d []byte) bool {
	if !shaped(d, "A999999999") {
		return false
	}
	var x [10]byte
	plain := append(append(x[:0], '0'+(d[0]-'A'+1)/10, '0'+(d[0]-'A'+1)%10), d[1:9]...)
	return crossSum(plain, "1212121212")%10 == int(d[9]-'0')
}

// validGermanCard: ICAO 9303 check over eight characters without vowels; the cards
// of before 2010 have T and eight digits without one.
func validGermanCard(d []byte) bool {
	if len(d) != 9 {
		return false
	}
	if d[0] == 'T' && allDigits(d[1:]) {
		return true
	}
	if !isLetter(d[0]) || strings.IndexByte("CFGHJKLMNPRTVWXYZ", d[0]) < 0 || !isDigit(d[8]) {
		return false
	}
	sum := 0
	for i, c := range d[:8] {
		v := int(c - '0')
		if isLetter(c) {
			v = int(c-'A') + 10
		}
		sum += v * int("731"[i%3]-'0')
	}
	return sum%10 == int(d[8]-'0')
}

// nifLetters by remainder modulo 23 (Spanish Ministry of the Interior).
const nifLetters = "TRWAGMYFPDXBNJZSQVHLCKE"

func validNIF(d []byte) bool {
	n := len(d) - 1
	return n <= 8 && allDigits(d[:n]) && d[n] == nifLetters[remainder(d[:n], 23)]
}

func validNIE(d []byte) bool {
	if !shaped(d, "A9999999A") || d[0] < 'X' || d[0] > 'Z' {
		return false
	}
	r := (int(d[0]-'X')*10_000_000 + number(d[1:8])) % 23
	return d[8] == nifLetters[r]
}

func number(d []byte) (v int) {
	for _, c := range d {
		v = v*10 + int(c-'0')
	}
	return v
}

// validHETU: birth date, century sign, serial, check (Digital and Population Data
// Services Agency). compact drops the signs + and -.
func validHETU(d []byte) bool {
	if len(d) == 11 {
		if strings.IndexByte("ABCDEFYXWVU", d[6]) < 0 {
			return false
		}
		var x [10]byte
		d = append(append(x[:0], d[:6]...), d[7:]...)
	}
	if len(d) != 10 || !allDigits(d[:9]) || !calendar(two(d), two(d[2:])) || number(d[6:9]) < 2 {
		return false
	}
	return d[9] == "0123456789ABCDEFHJKLMNPRSTUVWXY"[remainder(d[:9], 31)]
}

// validNIR: 13 digits and 97 minus their remainder modulo 97 (INSEE).
func validNIR(d []byte) bool {
	month := two(d[3:])
	return len(d) == 15 && (d[0] == '1' || d[0] == '2') && (month >= 1 && month <= 12 || month >= 20) && 97-remainder(d[:13], 97) == two(d[13:])
}

// fiscalOdd has the values of the characters in odd places (Agenzia delle Entrate).
var fiscalOdd = [36]int{1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23}

func validFiscalCode(d []byte) bool {
	if !shaped(d, "AAAAAA99A99A999A") {
		return false
	}
	sum := 0
	for i, c := range d[:15] {
		v := int(c - '0')
		if isLetter(c) {
			v = int(c - 'A')
		}
		switch {
		case i%2 == 1:
			sum += v
		case isLetter(c):
			sum += fiscalOdd[v+10]
		default:
			sum += fiscalOdd[v]
		}
	}
	return d[15] == 'A'+byte(sum%26)
}

// validBSN is the eleven test.
func validBSN(d []byte) bool {
	return (weighted(d[:8], "98765432")-int(d[8]-'0'))%11 == 0 && !sameDigits(d)
}

func validPESEL(d []byte) bool {
	month := two(d[2:]) % 20 // 20, 40, 60, 80 are added for the century
	return month >= 1 && month <= 12 && two(d[4:]) >= 1 && two(d[4:]) <= 31 && weighted(d, "13791379131")%10 == 0
}

// validPersonnummer is Luhn over ten digits with a date; coordination numbers add
// 60 to the day.
func validPersonnummer(d []byte) bool {
	if len(d) == 12 {
		if c := two(d); c < 18 || c > 20 {
			return false
		}
		d = d[2:]
	}
	day, month := two(d[4:]), two(d[2:])
	if day > 60 {
		day -= 60
	}
	return month >= 1 && month <= 12 && day >= 1 && day <= 31 && luhn(d, 0)
}

// validTCKN: the tenth digit from the odd and even ones, the eleventh from all.
func validTCKN(d []byte) bool {
	odd, even, all := 0, 0, 0
	for i, c := range d[:10] {
		v := int(c - '0')
		all += v
		switch {
		case i == 9:
		case i%2 == 0:
			odd += v
		default:
			even += v
		}
	}
	return d[0] != '0' && ((odd*7-even)%10+10)%10 == int(d[9]-'0') && all%10 == int(d[10]-'0')
}
