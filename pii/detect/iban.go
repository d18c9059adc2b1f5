package detect

// ibanLengths is the registry of ISO 13616: country and length.
var ibanLengths = func() (t [26 * 26]uint8) {
	const registry = "AD24AE23AL28AT20AZ28BA20BE16BG22BH22BI27BR29BY28CH21CR22CY28CZ24DE22DJ27DK18DO28EE20EG29ES24FI18FK18FO18FR27GB22GE22GI23GL18GR27GT28HN28HR21HU28IE22IL23IQ23IS26IT27JO30KW30KZ20LB28LC32LI21LT20LU20LV21LY25MC27MD24ME22MK19MN20MR27MT31MU30NI28NL18NO15OM23PK24PL28PS29PT25QA29RO24RS22RU33SA24SC31SD18SE24SI19SK24SM27SO23ST25SV28TL23TN24TR26UA29VA22VG24XK20YE30"
	for i := 0; i < len(registry); i += 4 {
		r := registry[i:]
		t[int(r[0]-'A')*26+int(r[1]-'A')] = (r[2]-'0')*10 + r[3] - '0'
	}
	return t
}()

// longestIBAN of ISO 13616.
const longestIBAN = 34

// iban finds an IBAN at start, plain or in groups of four with one kind of
// separator, by its country's length and its check digits.
func (s *scanner) iban(start int) int {
	b := s.b
	if isLetterOrDigit(s.byteAt(start - 1)) {
		return 0
	}
	n := int(ibanLengths[int((b[start]|0x20)-'a')*26+int((b[start+1]|0x20)-'a')])
	if n == 0 {
		return 0
	}
	var buf [longestIBAN]byte
	end := ibanRead(b, start, buf[:n])
	if end == 0 || !s.on.has(iban) || mod97(buf[:n]) != 1 {
		return 0
	}
	return s.add(start, end, iban)
}

// ibanRead copies n letters and digits to d and gives their end, 0 if they are
// not written as an IBAN.
func ibanRead(b []byte, i int, d []byte) int {
	var sep, all byte
	for n := range d {
		if i < len(b) && n > 0 && n%4 == 0 && (b[i] == ' ' || b[i] == '-') && (sep == 0 && n == 4 || sep == b[i]) {
			sep = b[i]
			i++
		} else if n > 0 && n%4 == 0 && sep != 0 {
			return 0
		}
		if i >= len(b) || class[b[i]]&(digit|letter) == 0 {
			return 0
		}
		all |= class[b[i]]
		d[n] = b[i]
		i++
	}
	if all&(upper|lower) == upper|lower || i < len(b) && isLetterOrDigit(b[i]) {
		return 0
	}
	return i
}

// mod97 is the check of ISO 7064 with the first four characters moved to the end.
func mod97(d []byte) (r int) {
	for i := range d {
		c := d[(i+4)%len(d)]
		if isDigit(c) {
			r = (r*10 + int(c-'0')) % 97
		} else {
			r = (r*100 + int(c|0x20-'a') + 10) % 97
		}
	}
	return r
}
