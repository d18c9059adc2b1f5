package pii

import "strings"

// attribute reads an attribute off a value, empty if it has none such.
func attribute(e *entry, name Attribute) string {
	value := e.forms[0]
	switch name {
	case Domain:
		return domain(e.typ, value)
	case Country:
		return country(e.typ, value)
	case Brand:
		return brand(e.typ, value)
	case Last4:
		return last4(e.typ, value)
	case Year:
		return year(e.typ, value)
	}
	return ""
}

func domain(t Type, value string) string {
	at := strings.LastIndexByte(value, '@')
	if t != "EMAIL" || at < 0 {
		return ""
	}
	return strings.ToLower(value[at+1:])
}

// country is an ISO 3166 code where the value says it.
func country(t Type, value string) string {
	switch t {
	case "IBAN":
		if len(value) >= 2 {
			return strings.ToUpper(value[:2])
		}
	case "EMAIL":
		at := strings.LastIndexByte(value, '.')
		if top := strings.ToUpper(value[at+1:]); at >= 0 && len(top) == 2 {
			return map[string]string{"UK": "GB"}[top] + strings.TrimPrefix(top, "UK")
		}
	case "PHONE":
		return phoneCountry(value)
	case "US_SSN", "US_ITIN", "US_ABA", "US_NPI", "US_MBI":
		return "US"
	case "UK_NHS", "UK_NINO":
		return "GB"
	case "CA_SIN":
		return "CA"
	}
	return ""
}

// callingCodes are the codes of E.164 that belong to one country, the largest
// ones; +1 is shared, and given as US.
var callingCodes = map[string]string{
	"1": "US", "20": "EG", "27": "ZA", "30": "GR", "31": "NL", "32": "BE", "33": "FR", "34": "ES", "36": "HU", "39": "IT",
	"40": "RO", "41": "CH", "43": "AT", "44": "GB", "45": "DK", "46": "SE", "47": "NO", "48": "PL", "49": "DE", "51": "PE",
	"52": "MX", "54": "AR", "55": "BR", "56": "CL", "57": "CO", "60": "MY", "61": "AU", "62": "ID", "63": "PH", "64": "NZ",
	"65": "SG", "66": "TH", "81": "JP", "82": "KR", "84": "VN", "86": "CN", "90": "TR", "91": "IN", "92": "PK", "94": "LK",
	"98": "IR", "212": "MA", "213": "DZ", "234": "NG", "254": "KE", "351": "PT", "352": "LU", "353": "IE", "354": "IS",
	"358": "FI", "359": "BG", "370": "LT", "371": "LV", "372": "EE", "380": "UA", "385": "HR", "386": "SI", "420": "CZ",
	"421": "SK", "852": "HK", "880": "BD", "886": "TW", "966": "SA", "971": "AE", "972": "IL",
}

func phoneCountry(value string) string {
	number := onlyDigits(value)
	if !strings.HasPrefix(strings.TrimSpace(value), "+") {
		if len(number) == 10 && number[0] >= '2' {
			return "US" // the North American plan, 3-3-4
		}
		return ""
	}
	for n := 3; n > 0; n-- {
		if c := callingCodes[number[:min(n, len(number))]]; c != "" {
			return c
		}
	}
	return ""
}

// brand follows the issuers' ranges (ISO/IEC 7812).
func brand(t Type, value string) string {
	number := onlyDigits(value)
	if t != "CREDIT_CARD" || len(number) < 6 {
		return ""
	}
	two, four := atoi(number[:2]), atoi(number[:4])
	switch {
	case number[0] == '4':
		return "visa"
	case two >= 51 && two <= 55, four >= 2221 && four <= 2720:
		return "mastercard"
	case two == 34, two == 37:
		return "amex"
	case four == 6011, two == 65, atoi(number[:3]) >= 644 && atoi(number[:3]) <= 649:
		return "discover"
	case two == 36, two == 38, two == 39, atoi(number[:3]) >= 300 && atoi(number[:3]) <= 305:
		return "diners"
	case four >= 3528 && four <= 3589:
		return "jcb"
	case two == 62:
		return "unionpay"
	}
	return "other"
}

func last4(t Type, value string) string {
	number := onlyDigits(value)
	switch t {
	case "CREDIT_CARD", "PHONE", "BANK_ACCOUNT", "IBAN":
		if len(number) >= 8 {
			return number[len(number)-4:]
		}
	}
	return ""
}

func year(t Type, value string) string {
	if t != "DATE_OF_BIRTH" {
		return ""
	}
	for i := 0; i < len(value); {
		n := digits(value[i:])
		if n == 4 {
			return value[i : i+4]
		}
		i += n + 1
	}
	return ""
}

func onlyDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, s)
}

// atoi reads a few digits.
func atoi(s string) int {
	n := 0
	for _, c := range []byte(s) {
		n = n*10 + int(c-'0')
	}
	return n
}
