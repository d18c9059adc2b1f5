package mix

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Value is one personal value, made by the rules of its own standard and of no
// detector.
type Value struct {
	Type string // as detectors name it
	Text string
	// Key and Label say what the value is, in JSON and in prose. A type that
	// identifies by itself is found without.
	Key, Label string
	// Alone says that the value identifies by itself.
	Alone bool
}

// kind makes values of one type.
type kind struct {
	name  string
	make  func(*generator) string
	alone bool
	keys  string // words, any of which may be the key
	label []string
}

// kinds are the types that every detector here finds by default.
var kinds = []kind{
	{"EMAIL", (*generator).anyEmail, true, "email mail contact_email userEmail", []string{"e-mail", "Email"}},
	{"PHONE", (*generator).anyPhone, true, "phone mobile phoneNumber contact_phone", []string{"phone", "Tel.", "mobile"}},
	{"CREDIT_CARD", (*generator).card, true, "card card_number creditCard", []string{"card", "credit card number"}},
	{"IBAN", (*generator).iban, true, "iban bank_iban", []string{"IBAN"}},
	{"US_SSN", (*generator).ssn, true, "ssn social_security_number", []string{"SSN"}},
	{"US_ITIN", (*generator).itin, true, "itin", []string{"ITIN"}},
	{"IP", (*generator).anyIP, true, "ip client_ip ipAddress", []string{"IP", "client ip"}},
	{"MAC", (*generator).mac, true, "mac mac_address", []string{"MAC"}},
	{"CRYPTO", (*generator).wallet, true, "wallet btc_address", []string{"wallet"}},
	{"UK_NINO", (*generator).nino, false, "nino national_insurance_number", []string{"NI number"}},
	{"US_MBI", (*generator).mbi, true, "mbi medicare_id", []string{"Medicare number"}},
	{"SECRET", (*generator).secret, true, "api_key apiKey access_token", []string{"api key"}},
	{"PERSON", (*generator).person, false, "full_name customer_name contactName patient_name", []string{"Patient", "Customer name", "Full name"}},
	{"ADDRESS", (*generator).address, false, "address street_address shippingAddress", []string{"Address", "Shipping address"}},
	{"DATE_OF_BIRTH", (*generator).birth, false, "dob date_of_birth birthDate", []string{"DOB", "Date of birth"}},
	{"UK_NHS", (*generator).nhs, false, "nhs_number nhsNumber", []string{"NHS number"}},
	{"PASSPORT", (*generator).passport, false, "passport passport_number passportNo", []string{"passport number", "Passport"}},
	{"US_ABA", (*generator).aba, false, "routing_number aba_routing", []string{"routing number"}},
	{"US_NPI", (*generator).npi, false, "npi provider_npi", []string{"NPI"}},
	{"CA_SIN", (*generator).sin, false, "sin social_insurance_number", []string{"SIN"}},
	{"VIN", (*generator).vin, false, "vin vehicle_vin", []string{"VIN"}},
	{"DRIVER_LICENSE", (*generator).licence, false, "drivers_license driver_license_number", []string{"driver's license", "driving licence"}},
	{"BANK_ACCOUNT", (*generator).account, false, "account_number bank_account_number", []string{"account number", "bank account number"}},
}

// Kinds is how many types Values goes round.
const Kinds = 23

// Values are n values; every type comes in its turn. The same seed gives the same.
func Values(seed uint64, n int) []Value {
	g := &generator{r: rand.New(rand.NewPCG(seed, 5))}
	all := make([]Value, n)
	for i := range all {
		k := kinds[i%len(kinds)]
		all[i] = Value{Type: k.name, Text: k.make(g), Key: g.pick(strings.Fields(k.keys)), Label: g.pick(k.label), Alone: k.alone}
	}
	return all
}

// Sentence is prose that holds v: in any words if it identifies by itself, or else
// after its label.
func (v Value) Sentence(seed uint64) string {
	g := &generator{r: rand.New(rand.NewPCG(seed, 6))}
	before, after := g.sentence(2+g.r.IntN(5)), g.sentence(2+g.r.IntN(5))
	before = strings.ReplaceAll(before, "release", "notice") // what follows is a version
	if v.Alone && g.r.IntN(2) == 0 {
		around := g.pick([]string{"%s %s %s", "%s (%s) %s", "%s: %s, %s", "%s %s. %s", "%s <%s> %s", "%s '%s' %s", "%s %s; %s"})
		return fmt.Sprintf(around, before, v.Text, after)
	}
	return fmt.Sprintf("%s.\n%s: %s\n%s.", before, v.Label, v.Text, after)
}

// digits are n decimal digits.
func (g *generator) digits(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = '0' + byte(g.r.IntN(10))
	}
	return string(b)
}

// from are n characters of an alphabet.
func (g *generator) from(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[g.r.IntN(len(alphabet))]
	}
	return string(b)
}

// groups cuts text into groups of these lengths, with sep between; the last
// length goes on for the rest.
func groups(text, sep string, lengths ...int) string {
	var parts []string
	for i := 0; text != ""; i++ {
		n := min(lengths[min(i, len(lengths)-1)], len(text))
		parts, text = append(parts, text[:n]), text[n:]
	}
	return strings.Join(parts, sep)
}

// draw repeats make until ok.
func draw(make func() string, ok func(string) bool) string {
	for {
		if s := make(); ok(s) {
			return s
		}
	}
}
