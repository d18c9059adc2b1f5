package detect

import "slices"

const (
	minCardDigits = 12 // Maestro
	maxCardDigits = 19 // ISO/IEC 7812-1
)

// issuer is a range of issuer identification numbers, by their first digits, and
// the lengths its cards have, as bits.
type issuer struct {
	from, to int // six digits
	lengths  uint32
}

func lengths(ns ...int) (m uint32) {
	for _, n := range ns {
		m |= 1 << n
	}
	return m
}

var (
	l15    = lengths(15)
	l16    = lengths(16)
	l16to  = lengths(16, 17, 18, 19)
	l14to  = lengths(14, 15, 16, 17, 18, 19)
	lMaest = lengths(12, 13, 14, 15, 16, 17, 18, 19)
)

// issuers lists the ranges that the networks publish in their merchant and
// processor guides. ISO/IEC 7812-1 gives the first digit to an industry: 1 and 2
// to airlines, 3 to travel, 4 to 6 to banks.
var issuers = []issuer{
	{100000, 199999, l15}, // UATP
	{180000, 180099, l15}, // JCB, old
	{213100, 213199, l15}, // JCB, old
	{220000, 220599, l16to},
	{222100, 272099, l16}, // Mastercard's second series
	{300000, 305999, l14to},
	{309500, 309599, l14to},
	{340000, 349999, l15}, // American Express
	{352800, 358999, l16to},
	{360000, 369999, l14to},
	{370000, 379999, l15}, // American Express
	{380000, 399999, l14to},
	{400000, 499999, lengths(13, 16, 19)}, // Visa
	{60400, 60499, lMaest},
	{500000, 509999, lMaest},
	{510000, 559999, l16}, // Mastercard
	{560000, 589999, lMaest},
	{601100, 601199, l16to},  // Discover
	{606282, 606282, l16},    // Hipercard
	{600000, 609999, l16},    // RuPay
	{620000, 629999, l16to},  // UnionPay
	{630400, 630499, lMaest}, // Laser, Maestro
	{633400, 633499, l16to},  // Solo
	{636000, 639999, lMaest}, // InterPayment, Maestro
	{644000, 659999, l16to},  // Discover
	{670600, 670999, lMaest}, // Laser
	{675900, 677199, lMaest}, // Maestro
	{810000, 829999, l16to},  // UnionPay, RuPay
	{860000, 860099, l16},    // Uzcard
	{970400, 970499, l16to},  // NAPAS
	{979200, 979299, l16},    // Troy
	{986000, 986099, l16},    // Humo
}

// issued reports whether some network issues cards of n digits that start so.
func issued(first6, n int) bool {
	return slices.ContainsFunc(issuers, func(r issuer) bool {
		return first6 >= r.from && first6 <= r.to && r.lengths>>n&1 != 0
	})
}

// cardGroups finds payment cards: 13 to 19 digits, plain or in groups with one
// kind of separator, of a known issuer, whose check digit is right. Twelve digits
// need a word beside them, and a key such as trace_id forbids.
func (s *scanner) cardGroups() int {
	if !s.on.has(creditCard) {
		return 0
	}
	c := &s.cl
	if n := c.len(0); n >= minCardDigits {
		if n > maxCardDigits || !c.ends(1, 0) {
			return 0
		}
		return s.card(c.start[0], c.end[0], n, 0, false)
	}
	sep := c.sepAfter()
	if c.lens(0, 4, 4, 4, 4) && c.uniform(0, 4, sep) && (c.ends(4, 0) || c.n > 4 && c.sep[4] == ' ') {
		if e := s.card(c.start[0], c.end[3], 16, sep, true); e > 0 {
			return e
		}
	}
	n := 0
	for j := 0; j < c.n && (j == 0 || c.sep[j] == sep); j++ {
		if n += c.len(j); n > maxCardDigits || c.n > 1 && c.len(j) == 1 {
			return 0
		}
		if n >= minCardDigits && c.ends(j+1, sep) {
			return s.card(c.start[0], c.end[j], n, sep, false)
		}
	}
	return 0
}

// sepAfter is the separator that follows the first group, 0 for a single group.
func (c *cluster) sepAfter() byte {
	if c.n < 2 {
		return 0
	}
	return c.sep[1]
}

// card checks a candidate. One in the common four groups of four may stand among
// other numbers.
func (s *scanner) card(start, end, n int, sep byte, common bool) int {
	if sep != 0 && sep != ' ' && sep != '-' && sep != '.' || !s.starts(start, sep) && !(common && s.byteAt(start-1) == ' ') {
		return 0
	}
	var buf [maxCardDigits]byte
	d := compact(buf[:], s.b[start:end])
	if !luhn(d, 0) {
		return 0
	}
	// Networks open new ranges faster than tables follow: beside a word for cards
	// any bank's or traveller's number will do.
	known := issued(number3(d)*1000+number3(d[3:]), n) && n > minCardDigits
	ctx := s.contextOf(start)
	if ctx.veto || !known && !(ctx.has(lCard) && (d[0] >= '3' && d[0] <= '6' || n == minCardDigits)) {
		return 0
	}
	return s.add(start, end, creditCard)
}
