package detect

// Type names a kind of personal data, as it stands in tokens.
type Type string

// TypeInfo describes a type for people who choose among them.
type TypeInfo struct {
	Type        Type
	Description string
	On          bool   // found by this detector
	Pack        string // the pack that brings it, "" for the standard ones
}

// typeID numbers the built-in types, so that sets of them fit a word.
type typeID uint8

const (
	email typeID = iota
	phone
	ssn
	creditCard
	ip
	iban
	mac
	person
	address
	birth
	itin
	nhs
	nino
	passport
	aba
	npi
	mbi
	sin
	crypto
	vin
	license
	account
	secret
	standardTypes // the packs' types follow
)

// typeSet is a set of types.
type typeSet uint64

func (s typeSet) has(id typeID) bool { return s>>id&1 != 0 }

// standard describes the types that are on by default.
var standard = [standardTypes]struct {
	name        Type
	description string
}{
	email:      {"EMAIL", "e-mail address"},
	phone:      {"PHONE", "phone or fax number"},
	ssn:        {"US_SSN", "US social security number"},
	creditCard: {"CREDIT_CARD", "payment card number"},
	ip:         {"IP", "IP address or network, version 4 or 6"},
	iban:       {"IBAN", "international bank account number"},
	mac:        {"MAC", "hardware address of a network device"},
	person:     {"PERSON", "person's name under a key or label"},
	address:    {"ADDRESS", "postal address under a key or label"},
	birth:      {"DATE_OF_BIRTH", "date of birth under a key or label"},
	itin:       {"US_ITIN", "US individual taxpayer number"},
	nhs:        {"UK_NHS", "UK health service number beside a key or label"},
	nino:       {"UK_NINO", "UK national insurance number"},
	passport:   {"PASSPORT", "passport number beside a key or label"},
	aba:        {"US_ABA", "US bank routing number beside a key or label"},
	npi:        {"US_NPI", "US health care provider number beside a key or label"},
	mbi:        {"US_MBI", "US Medicare beneficiary number"},
	sin:        {"CA_SIN", "Canadian social insurance number beside a key or label"},
	crypto:     {"CRYPTO", "cryptocurrency address"},
	vin:        {"VIN", "vehicle identification number beside a key or label"},
	license:    {"DRIVER_LICENSE", "driving licence number"},
	account:    {"BANK_ACCOUNT", "bank account number beside a key or label"},
	secret:     {"SECRET", "API key, private key, signed token or password"},
}

// nameOf is the exported name of a built-in type.
func nameOf(id typeID) Type {
	if id < standardTypes {
		return standard[id].name
	}
	return packTypes[id-standardTypes].name
}
