package mix

import (
	"fmt"
	"net/netip"
	"strings"
)

const lowers = "abcdefghijklmnopqrstuvwxyz"
const uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

// anyEmail is an address as RFC 5321 has them, of the forms that people use.
func (g *generator) anyEmail() string {
	local := g.from(lowers, 3+g.r.IntN(8))
	switch g.r.IntN(6) {
	case 0:
		local += "." + g.from(lowers, 4)
	case 1:
		local += "+" + g.from(lowers, 3)
	case 2:
		local += "_" + g.digits(3)
	case 3:
		local = strings.ToUpper(local[:1]) + local[1:] + "-" + g.from(lowers, 2)
	case 4:
		local += g.digits(2)
	}
	domain := g.from(lowers, 5+g.r.IntN(6)) + "." + g.pick([]string{"com", "org", "co.uk", "de", "io", "museum", "com.br", "internal", "photography"})
	if g.r.IntN(4) == 0 {
		domain = "mail-" + g.digits(1) + "." + domain
	}
	return local + "@" + domain
}

// plan is how a country writes its numbers: the code, and for each grouping of
// the national digits the lengths.
type plan struct {
	code   string
	first  string // what the national number may start with
	groups [][]int
}

// plans are after ITU-T E.123 and what is usual in the country.
var plans = []plan{
	{"1", "2345679", [][]int{{3, 3, 4}}},
	{"44", "127", [][]int{{2, 4, 4}, {4, 6}, {3, 3, 4}}},
	{"49", "13789", [][]int{{2, 8}, {3, 7}, {3, 4, 4}, {3, 2, 2, 2}}},
	{"33", "1234567", [][]int{{1, 2, 2, 2, 2}}},
	{"34", "679", [][]int{{3, 3, 3}, {3, 2, 2, 2}}},
	{"39", "3", [][]int{{3, 7}, {3, 3, 4}}},
	{"31", "126", [][]int{{1, 8}, {2, 7}, {2, 3, 4}}},
	{"41", "247", [][]int{{2, 3, 2, 2}}},
	{"43", "16", [][]int{{1, 7}, {3, 7}, {3, 3, 4}}},
	{"45", "23456789", [][]int{{2, 2, 2, 2}, {4, 4}}},
	{"46", "178", [][]int{{1, 3, 3, 2}, {2, 3, 2, 2}}},
	{"47", "2479", [][]int{{3, 2, 3}, {2, 2, 2, 2}}},
	{"48", "5678", [][]int{{3, 3, 3}, {2, 3, 2, 2}}},
	{"351", "29", [][]int{{3, 3, 3}, {2, 3, 4}}},
	{"353", "18", [][]int{{2, 3, 4}, {1, 3, 4}}},
	{"358", "45", [][]int{{2, 3, 4}, {2, 7}}},
	{"420", "67", [][]int{{3, 3, 3}}},
	{"7", "9", [][]int{{3, 3, 2, 2}, {3, 3, 4}}},
	{"90", "5", [][]int{{3, 3, 2, 2}, {3, 3, 4}}},
	{"91", "6789", [][]int{{5, 5}, {3, 3, 4}, {10}}},
	{"81", "3789", [][]int{{2, 4, 4}, {1, 4, 4}}},
	{"82", "1", [][]int{{2, 4, 4}}},
	{"86", "1", [][]int{{3, 4, 4}, {11}}},
	{"61", "234", [][]int{{1, 4, 4}, {3, 3, 3}}},
	{"64", "2349", [][]int{{2, 3, 4}, {1, 3, 4}}},
	{"65", "689", [][]int{{4, 4}, {8}}},
	{"852", "2569", [][]int{{4, 4}}},
	{"972", "5", [][]int{{2, 3, 4}, {2, 7}}},
	{"971", "5", [][]int{{2, 3, 4}}},
	{"55", "123", [][]int{{2, 5, 4}, {2, 4, 4}}},
	{"52", "35", [][]int{{2, 4, 4}, {3, 3, 4}}},
	{"54", "1", [][]int{{2, 4, 4}}},
	{"27", "1678", [][]int{{2, 3, 4}}},
	{"234", "789", [][]int{{3, 3, 4}}},
	{"254", "7", [][]int{{3, 6}, {3, 3, 3}}},
}

// anyPhone is a number with a country code, or a North American one.
func (g *generator) anyPhone() string {
	if g.r.IntN(4) == 0 {
		return g.northAmerican()
	}
	p := plans[g.r.IntN(len(plans))]
	lengths := p.groups[g.r.IntN(len(p.groups))]
	total := 0
	for _, n := range lengths {
		total += n
	}
	national := g.from(p.first, 1) + g.digits(total-1)
	if p.code == "1" {
		national = g.from("23456789", 1) + g.from("02345678", 1) + g.digits(1) + g.from("23456789", 1) + g.from("02345678", 1) + g.digits(5)
	}
	switch sep := g.pick([]string{" ", " ", "-", ".", ""}); {
	case g.r.IntN(8) == 0 && p.code == "44":
		return "+44 (0)" + groups(national, " ", lengths...)
	case g.r.IntN(6) == 0 && len(lengths) > 1:
		return "+" + p.code + " (" + national[:lengths[0]] + ") " + groups(national[lengths[0]:], " ", append(lengths[1:], 9)...)
	default:
		return "+" + p.code + sep + groups(national, sep, lengths...)
	}
}

func (g *generator) northAmerican() string {
	area, exchange, line := g.from("23456789", 1)+g.from("02345678", 1)+g.digits(1), g.from("23456789", 1)+g.from("02345678", 1)+g.digits(1), g.digits(4)
	form := g.pick([]string{"(%s) %s-%s", "%s-%s-%s", "%s.%s.%s", "%s %s %s", "1-%s-%s-%s", "(%s)%s-%s", "+1 (%s) %s-%s"})
	text := fmt.Sprintf(form, area, exchange, line)
	if g.r.IntN(6) == 0 {
		text += g.pick([]string{" x", " ext. ", "x"}) + g.digits(3)
	}
	return text
}

// anyIP is an address of the public ranges.
func (g *generator) anyIP() string {
	if g.r.IntN(3) > 0 {
		return fmt.Sprintf("%d.%d.%d.%d", 20+g.r.IntN(80), g.r.IntN(256), g.r.IntN(256), 1+g.r.IntN(254))
	}
	b := [16]byte{0x20, 0x01}
	for i := 2; i < 16; i++ {
		b[i] = byte(g.r.IntN(256))
	}
	if g.r.IntN(2) == 0 {
		clear(b[6:12])
	}
	return netip.AddrFrom16(b).String()
}

func (g *generator) mac() string {
	hex := g.from("0123456789abcdef", 12)
	hex = hex[:1] + g.from("02468ace", 1) + hex[2:]
	if g.r.IntN(2) == 0 {
		hex = strings.ToUpper(hex)
	}
	return groups(hex, g.pick([]string{":", "-"}), 2)
}
