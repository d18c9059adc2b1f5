package mix

import (
	"crypto/sha256"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// luhnDigit completes digits by ISO/IEC 7812-1; sum counts digits before them.
func luhnDigit(digits string, sum int) string {
	for i := range len(digits) {
		v := int(digits[len(digits)-1-i] - '0')
		if i%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return strconv.Itoa((10 - sum%10) % 10)
}

// card is a number of a network's range, in the groups that it prints.
func (g *generator) card() string {
	prefix, n := g.pick([]string{"4", "51", "55", "2221", "2720", "34", "37", "6011", "65", "3530", "36", "62"}), 16
	lengths := []int{4}
	switch prefix {
	case "34", "37":
		n, lengths = 15, []int{4, 6, 5}
	case "36":
		n, lengths = 14, []int{4, 6, 4}
	}
	digits := prefix + g.digits(n-1-len(prefix))
	digits += luhnDigit(digits, 0)
	return groups(digits, g.pick([]string{"", " ", "-", "."}), lengths...)
}

// countries are how the SWIFT registry writes an account: n digit, a letter, c either.
var countries = []struct{ code, form string }{
	{"DE", "n18"}, {"GB", "a4n14"}, {"FR", "n10c11n2"}, {"NL", "a4n10"}, {"ES", "n20"}, {"IT", "a1n10c12"}, {"CH", "n5c12"},
	{"PL", "n24"}, {"BE", "n12"}, {"SE", "n20"}, {"NO", "n11"}, {"AT", "n16"}, {"PT", "n21"}, {"SA", "n2c18"}, {"MT", "a4n5c18"}, {"BR", "n23a1c1"},
}

func (g *generator) iban() string {
	c := countries[g.r.IntN(len(countries))]
	account := ""
	for form := c.form; form != ""; {
		end := 1
		for end < len(form) && form[end] >= '0' && form[end] <= '9' {
			end++
		}
		n, _ := strconv.Atoi(form[1:end]) // the table above is well formed
		account += g.from(map[byte]string{'n': "0123456789", 'a': uppers, 'c': uppers + "0123456789"}[form[0]], n)
		form = form[end:]
	}
	text := c.code + fmt.Sprintf("%02d", 98-mod97(account+c.code+"00")) + account
	if g.r.IntN(2) == 0 {
		return groups(text, " ", 4)
	}
	return text
}

// mod97 is the remainder of ISO 7064, letters as 10 to 35.
func mod97(text string) (r int) {
	for _, c := range text {
		if c >= 'A' {
			r = (r*100 + int(c-'A') + 10) % 97
		} else {
			r = (r*10 + int(c-'0')) % 97
		}
	}
	return r
}

func (g *generator) ssn() string {
	area := draw(func() string { return g.digits(3) }, func(s string) bool { return s != "000" && s != "666" && s < "900" })
	return area + "-" + fmt.Sprintf("%02d-%04d", 1+g.r.IntN(99), 1+g.r.IntN(9999))
}

func (g *generator) itin() string {
	return "9" + g.digits(2) + "-" + strconv.Itoa(70+g.r.IntN(19)) + "-" + g.digits(4)
}

// wallet is a Bitcoin address in base 58 with its check, or an Ethereum one.
func (g *generator) wallet() string {
	if g.r.IntN(2) == 0 {
		return "0x" + g.from("0123456789abcdef", 40)
	}
	payload := make([]byte, 21)
	for i := 1; i < len(payload); i++ {
		payload[i] = byte(g.r.IntN(256))
	}
	first := sha256.Sum256(payload)
	second := sha256.Sum256(first[:])
	n, text, rest := new(big.Int).SetBytes(append(payload, second[:4]...)), "", new(big.Int)
	for n.Sign() > 0 {
		n.DivMod(n, big.NewInt(58), rest)
		text = string("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[rest.Int64()]) + text
	}
	return "1" + text
}

func (g *generator) nino() string {
	digits := g.digits(6)
	prefix := g.from("ABCEGHJKLMPRSTWX", 1) + g.from("ABCEGHJKLMPRSTWX", 1)
	if strings.Contains("BG GB NK KN TN NT ZZ", prefix) {
		prefix = "AB"
	}
	if g.r.IntN(2) == 0 {
		digits = " " + groups(digits, " ", 2) + " "
	}
	return prefix + digits + g.from("ABCD", 1)
}

// mbi is a Medicare number as CMS lays it out.
func (g *generator) mbi() string {
	const letters, both = "ACDEFGHJKMNPQRTUVWXY", "ACDEFGHJKMNPQRTUVWXY0123456789"
	text := g.from("123456789", 1) + g.from(letters, 1) + g.from(both, 1) + g.digits(1) + g.from(letters, 1) + g.from(both, 1) + g.digits(1) + g.from(letters, 2) + g.digits(2)
	if g.r.IntN(2) == 0 {
		return text
	}
	return groups(text, "-", 4, 3, 4)
}

func (g *generator) secret() string {
	const alphabet = uppers + lowers + "0123456789"
	switch g.r.IntN(6) {
	case 0:
		return "AKIA" + g.from("234567", 1) + g.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 15)
	case 1:
		return "ghp_" + g.from(alphabet, 36)
	case 2:
		return "sk-proj-" + g.from(alphabet, 40)
	case 3:
		return "xoxb-" + g.digits(12) + "-" + g.digits(12) + "-" + g.from(alphabet, 24)
	case 4:
		return "AIza" + g.from(alphabet, 35)
	default:
		return "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOi" + g.from(alphabet, 30) + "." + g.from(alphabet, 43)
	}
}
