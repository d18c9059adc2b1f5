package mix

import (
	"fmt"
	"strconv"
	"strings"
)

func (g *generator) person() string {
	first := g.pick(strings.Fields("Ada Bruno Clara Dmitri Elena Farid Grace Hiro Ines Jonas Kavita Siobhán Zoë Nguyễn Oluwaseun Þór"))
	last := g.pick(strings.Fields("Okafor Lindqvist Quintero Tanaka Moreau Hansen O'Neill García-López McDonald Müller Nowak")) + g.from(lowers, 2)
	return g.pick([]string{first + " " + last, first + " " + g.from(uppers, 1) + ". " + last, first + " van der " + last})
}

func (g *generator) address() string {
	return fmt.Sprintf(g.pick([]string{"%d %s Street, Springfield", "%d %s Ave Apt 4B, Denver, CO 80202", "%d, rue de %s, 75011 Paris", "%d %s Road, London SW1A 2AA"}),
		1+g.r.IntN(9998), strings.ToUpper(g.from(lowers, 1))+g.from(lowers, 6))
}

func (g *generator) birth() string {
	year, month, day := 1930+g.r.IntN(80), 1+g.r.IntN(12), 1+g.r.IntN(28)
	months := strings.Fields("January February March April May June July August September October November December")
	switch g.r.IntN(4) {
	case 0:
		return fmt.Sprintf("%d-%02d-%02d", year, month, day)
	case 1:
		return fmt.Sprintf("%02d/%02d/%d", month, day, year)
	case 2:
		return fmt.Sprintf("%d %s %d", day, months[month-1], year)
	default:
		return fmt.Sprintf("%02d.%02d.%d", day, month, year)
	}
}

// weightedSum is the sum of digits times weights.
func weightedSum(digits string, weights ...int) (sum int) {
	for i, w := range weights {
		sum += int(digits[i]-'0') * w
	}
	return sum
}

// nhs has a check digit modulo 11.
func (g *generator) nhs() string {
	digits := draw(func() string { return g.from("4679", 1) + g.digits(8) }, func(s string) bool { return weightedSum(s, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11 != 1 })
	digits += strconv.Itoa((11 - weightedSum(digits, 10, 9, 8, 7, 6, 5, 4, 3, 2)%11) % 11)
	return groups(digits, g.pick([]string{" ", "-", ""}), 3, 3, 4)
}

func (g *generator) passport() string {
	return g.pick([]string{g.from(uppers, 1) + g.digits(8), g.digits(9), g.from(uppers, 2) + g.digits(7)})
}

// aba has a check digit of weights 3, 7, 1 and begins with a Federal Reserve district.
func (g *generator) aba() string {
	digits := fmt.Sprintf("%02d", 1+g.r.IntN(12)) + g.digits(6)
	return digits + strconv.Itoa((10-weightedSum(digits, 3, 7, 1, 3, 7, 1, 3, 7)%10)%10)
}

// npi is Luhn after the prefix 80840, whose digits add 24.
func (g *generator) npi() string {
	digits := g.from("12", 1) + g.digits(8)
	return digits + luhnDigit(digits, 24)
}

func (g *generator) sin() string {
	digits := g.from("1234567", 1) + g.digits(7)
	return groups(digits+luhnDigit(digits, 0), g.pick([]string{" ", "-", ""}), 3)
}

// vin has ISO 3779's check digit in its ninth place.
func (g *generator) vin() string {
	const alphabet = "0123456789.ABCDEFGH..JKLMN.P.R..STUVWXYZ"
	text := g.from("12345", 1) + g.from("ABCDEFGHJKLMNPRSTUVWXYZ0123456789", 10) + g.digits(5)
	text = text[:8] + "0" + text[8:]
	sum := 0
	for i, w := range []int{8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2} {
		sum += strings.IndexByte(alphabet, text[i]) % 10 * w
	}
	return text[:8] + string("0123456789X"[sum%11]) + text[9:]
}

func (g *generator) licence() string {
	return g.pick([]string{g.from(uppers, 1) + g.digits(7), g.from(uppers, 1) + g.digits(12), g.digits(8)})
}

func (g *generator) account() string { return g.digits(9 + g.r.IntN(4)) }
