package database

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

type customer struct {
	id                                                 int
	name, email, phone, address, city, country, region string
	ssn, card, ip                                      string
	created                                            time.Time
}

func (c customer) values() []any {
	return []any{c.id, c.name, c.email, orNull(c.phone), c.address, c.city, c.country, c.region,
		orNull(c.ssn), c.card, orNull(c.ip), c.created.Format(time.DateOnly)}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// place is where customers live. A phone pattern's x are digits; the ranges are
// the ones that the countries' regulators keep for fiction.
type place struct {
	city, country, region, phone, street string
}

var places = []place{
	{"San Francisco", "United States", "North America", "+1-415-555-01xx", "%d Harbor Street"},
	{"Austin", "United States", "North America", "+1-512-555-01xx", "%d Prairie Avenue"},
	{"Chicago", "United States", "North America", "+1-312-555-01xx", "%d Lakeview Drive"},
	{"Boston", "United States", "North America", "+1-617-555-01xx", "%d Chestnut Street"},
	{"Seattle", "United States", "North America", "+1-206-555-01xx", "%d Cedar Avenue"},
	{"Toronto", "Canada", "North America", "+1-416-555-01xx", "%d Maple Road"},
	{"London", "United Kingdom", "Europe", "+44 20 7946 0xxx", "%d Orchard Lane"},
	{"Berlin", "Germany", "Europe", "+49 30 23125 xxx", "Lindenstraße %d"},
	{"Paris", "France", "Europe", "+33 1 99 00 xx xx", "%d Rue des Tilleuls"},
	{"Stockholm", "Sweden", "Europe", "+46 8 465 004 xx", "Björkgatan %d"},
	{"Sydney", "Australia", "Asia Pacific", "+61 2 5550 xxxx", "%d Banksia Street"},
	{"Melbourne", "Australia", "Asia Pacific", "+61 3 5550 xxxx", "%d Wattle Road"},
}

var (
	givenNames = strings.Fields(`Ada Alma Amir Anders Anya Bruno Carla Chen Clara Daniel Elif Elena Emil Farah Felix Freya Hana
Hugo Ines Ivan Jamal Jonas Julia Kofi Lars Leila Liam Lucia Maja Marco Mateo Mei Mina Nadia Nils Noah Nora Omar Oscar
Petra Priya Rafael Rosa Samir Sofia Tariq Teresa Tomas Vera Yusuf`)
	familyNames = strings.Fields(`Abbott Adler Almeida Andersson Bauer Becker Bennett Bergman Blanc Braun Carver Castillo Chandra
Costa Dubois Eriksen Farouk Fischer Fontaine Garcia Haddad Hansen Hoffman Ibrahim Jansen Kaya Keller Kowalski Larsen Laurent
Lindqvist Lopez Mercer Mensah Moreau Nakamura Novak Okafor Olsen Patel Petrov Quinn Rahman Reyes Rossi Schneider Silva
Sorensen Tanaka Thornton Varga Walsh Weber Whitfield Yilmaz Zhang Zimmermann`)
)

// makeCustomers leaves two flaws in, for scripts that look for them: about one
// in thirty has no phone, and eight registered twice with one address.
func makeCustomers(random *rand.Rand) []customer {
	customers := make([]customer, sampleCustomers)
	for i := range customers {
		customers[i] = makeCustomer(random, i+1)
	}
	for n := range 8 {
		first, again := &customers[n*17+3], &customers[n*17+230]
		again.name, again.email = first.name, first.email
	}
	return customers
}

func makeCustomer(random *rand.Rand, id int) customer {
	where := places[random.IntN(len(places))]
	given, family := pick(random, givenNames), pick(random, familyNames)
	c := customer{
		id: id, name: given + " " + family, city: where.city, country: where.country, region: where.region,
		email:   fmt.Sprintf("%s.%s%d@example.%s", strings.ToLower(given), strings.ToLower(family), id, pick(random, []string{"com", "org", "net"})),
		address: fmt.Sprintf(where.street, 1+random.IntN(240)),
		card:    cardNumber(random),
		ip:      documentationIP(random),
		created: time.Date(sampleYear-1, time.January, 1+random.IntN(700), 0, 0, 0, 0, time.UTC),
	}
	if random.IntN(30) > 0 {
		c.phone = digits(random, where.phone)
	}
	if where.country == "United States" && random.IntN(10) < 7 {
		c.ssn = socialSecurityNumber(random)
	}
	return c
}

func pick(random *rand.Rand, list []string) string { return list[random.IntN(len(list))] }

func digits(random *rand.Rand, pattern string) string {
	out := []byte(pattern)
	for i, c := range out {
		if c == 'x' {
			out[i] = byte('0' + random.IntN(10))
		}
	}
	return string(out)
}

// socialSecurityNumber stays in areas that were never given out before numbers
// became random in 2011, as no range is reserved for examples.
func socialSecurityNumber(random *rand.Rand) string {
	return fmt.Sprintf("%03d-%02d-%04d", 773+random.IntN(100), 1+random.IntN(99), 1+random.IntN(9999))
}

// testCards are beginnings of the numbers that payment providers give for tests.
var testCards = []string{"411111xxxxxxxxx", "424242xxxxxxxxx", "555555xxxxxxxxx", "510510xxxxxxxxx", "37828224631xxx"}

func cardNumber(random *rand.Rand) string {
	number := digits(random, pick(random, testCards))
	return number + string(luhnDigit(number))
}

// luhnDigit is the check digit of ISO/IEC 7812-1.
func luhnDigit(number string) byte {
	sum := 0
	for i := range len(number) {
		d := int(number[len(number)-1-i] - '0')
		if i%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return byte('0' + (10-sum%10)%10)
}

// documentationIP is an address of RFC 5737 or RFC 3849.
func documentationIP(random *rand.Rand) string {
	last := 1 + random.IntN(254)
	switch random.IntN(5) {
	case 0:
		return fmt.Sprintf("2001:db8:%x::%x", random.IntN(0xffff)+1, last)
	case 1:
		return fmt.Sprintf("192.0.2.%d", last)
	case 2:
		return fmt.Sprintf("198.51.100.%d", last)
	default:
		return fmt.Sprintf("203.0.113.%d", last)
	}
}
