package detect

// otherTypes are checked by the rules of the registries that issue them.
var otherTypes = []packType{
	{"AU_TFN", "au", "Australian tax file number", []string{"9", "333"}, validTFN},
	{"AU_MEDICARE", "au", "Australian Medicare card number", []string{":", "451"}, validMedicare},
	{"BR_CPF", "br", "Brazilian taxpayer number", []string{";", "3332"}, validCPF},
	{"NG_NIN", "ng", "Nigerian national identification number", []string{";"}, verhoeff},
	{"ZA_ID_NUMBER", "za", "South African identity number", []string{"=", "643"}, validZA},
}

// validTFN: weights 1, 4, 3, 7, 5, 8, 6, 9, 10 (ATO).
func validTFN(d []byte) bool { return weighted(d, "14375869:")%11 == 0 && !sameDigits(d) }

// validMedicare: the ninth digit checks the first eight; cards start with 2 to 6.
func validMedicare(d []byte) bool {
	return d[0] >= '2' && d[0] <= '6' && weighted(d[:8], "13791379")%10 == int(d[8]-'0')
}

// validCPF has two digits modulo 11 (Receita Federal).
func validCPF(d []byte) bool {
	first := weighted(d[:9], ":98765432") * 10 % 11 % 10
	second := weighted(d[:10], ";:98765432") * 10 % 11 % 10
	return first == int(d[9]-'0') && second == int(d[10]-'0') && !sameDigits(d)
}

// validZA: date, sex, citizenship 0 to 2, Luhn.
func validZA(d []byte) bool {
	return yymmdd(d) && two(d[4:]) <= 31 && d[10] <= '2' && luhn(d, 0)
}
