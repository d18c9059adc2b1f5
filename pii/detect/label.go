package detect

import (
	"strings"
	"sync"
)

// label is a set of meanings that words of keys and labels carry.
type label uint64

const (
	lPhone    label = 1 << iota // phone, mobile, fax
	lCall                       // words around phone numbers in sentences
	lNumber                     // number, no
	lSSN                        // social security
	lCard                       // payment card
	lBank                       // bank
	lAccount                    // account
	lRouting                    // bank routing
	lNPI                        // health care provider
	lMBI                        // Medicare
	lSIN                        // Canadian social insurance
	lNHS                        // UK health service
	lNINO                       // UK national insurance
	lPassport                   // passport
	lLicense                    // driving licence: needs lDriver, or stands alone in keys
	lDriver                     // driver, driving
	lVIN                        // vehicle
	lBirth                      // birth
	lTax                        // tax, itin
	lWallet                     // cryptocurrency
	lIBAN                       // iban
	lMail                       // e-mail
	lName                       // name
	lFullName                   // first name, surname: names of people only
	lPerson                     // customer, patient: words for people
	lAddress                    // address
	lStreet                     // street: postal addresses only
	lSecret                     // secret, token, key
	lPassword                   // password
	lAPI                        // api, access, private, auth: make a key a secret
	lID                         // id: a number under it is no card or phone
	lTrace                      // trace, span, hash
	lClock                      // times, durations and sizes
	lVersion                    // version
	lThing                      // things that have names and addresses, too
	lBlock                      // order, invoice: the number after it is theirs
	lPage                       // cursors, which look like secrets
	lTitle                      // Mr, Dr
	lOffice                     // office, home: after a phone number
	lHealth                     // medical, provider
	lNational                   // national, personal identity
	lLink                       // and, or: between values of one kind
)

// vetoes are labels under which a bare number is no card and no phone number.
const vetoes = lID | lTrace | lClock | lVersion

// labelWords says what words mean, in lower case.
var labelWords = []struct {
	means label
	words string
}{
	{lPhone, "phone phones telephone telephones tel tels mobile mobiles cell cellphone cellular fax msisdn whatsapp phonenumber mobilenumber telefon telefono telefone telephon handy mobil handynummer telefonnummer movil portable rufnummer sms hotline landline callback voicemail telepono tlf tfno gsm"},
	{lCall, "call calls calling called dial dialing ring reach contact answering message messages text texts texting registered"},
	{lNumber, "number numbers num no nr nummer numero nbr"},
	{lSSN, "ssn ssns social socialsecurity socialsecuritynumber ssnumber"},
	{lCard, "card cards cc creditcard credit debit visa mastercard amex pan ccnum cardnumber maestro kreditkarte tarjeta carte"},
	{lBank, "bank banks banking checking savings iban konto kontonummer"},
	{lAccount, "account accounts acct accountnumber bankaccount acc konto kontonummer"},
	{lRouting, "routing aba rtn abarouting routingnumber"},
	{lNPI, "npi npis"},
	{lMBI, "mbi medicare"},
	{lSIN, "sin sins"},
	{lNHS, "nhs"},
	{lNINO, "nino ninos ni insurance"},
	{lPassport, "passport passports passeport reisepass pasaporte passaporto passportnumber paspoort"},
	{lLicense, "license licence licenses licences licensenumber dln permit fuhrerschein"},
	{lDriver, "driver drivers driving dl dln driverlicense driverslicense"},
	{lVIN, "vin vins vehicle chassis"},
	{lBirth, "dob birth birthdate birthday born dateofbirth birthdt geburtsdatum geboren naissance nacimiento nascita"},
	{lTax, "itin itins tax taxpayer"},
	{lWallet, "wallet wallets btc bitcoin eth ethereum crypto ltc litecoin"},
	{lIBAN, "iban ibans"},
	{lMail, "email emails mail mails mailto"},
	{lName, "name names"},
	{lFullName, "firstname lastname fullname surname givenname familyname middlename forename maidenname fname lname vorname nachname apellido apellidos nombre prenom cognome cardholder cardholdername givennames realname"},
	{lFullName | lName, "first last full given family middle maiden legal"},
	{lPerson, "customer customers patient client employee contact person user member owner author assignee recipient sender holder beneficiary guest passenger student teacher doctor physician nurse spouse mother father parent guardian applicant tenant buyer seller manager signatory insured cardholder payee payer subscriber attendee participant candidate billing shipping"},
	{lAddress, "address addresses addr adresse direccion indirizzo endereco"},
	{lStreet, "street streetaddress mailingaddress homeaddress postaladdress strasse residence addressline streetname"},
	{lSecret, "secret secrets token tokens key keys apikey apisecret secretkey accesskey accesstoken authtoken privatekey clientsecret credential credentials bearer authorization"},
	{lPassword, "password passwords passwd pwd passphrase passcode pass pin"},
	{lAPI, "api access auth client signing private encryption refresh webhook bot master secret apikey apisecret secretkey accesskey accesstoken authtoken privatekey clientsecret session bearer authorization"},
	{lID, "id ids uid uuid guid oid pk rowid objectid node ean gtin upc barcode imei isbn asin sku"},
	{lTrace, "trace traces traceid spanid span hash sha md5 sha1 sha256 digest checksum etag commit revision parent correlation fingerprint integrity nonce signature snowflake"},
	{lClock, "ms ns us sec secs seconds millis time timestamp ts epoch at created updated expires expiry duration latency elapsed bytes size length offset count total seq sequence seed port unix iat exp nbf mtime ctime atime"},
	{lVersion, "version versions ver build release assembly v engine firmware kernel"},
	{lThing, "product file filename item tool server host hostname domain display company organization organisation org team project repo repository branch table column field class function method package module service event category brand model device app application group role tag topic queue index database schema bucket image container cluster namespace pod job task step plan metric parameter param variable var key type resource path folder directory skill channel city country state ip mac url web bind listen listener endpoint peer remote local memory contract wallet email network subnet gateway router zone menu page template"},
	{lBlock, "order orders invoice invoices ticket tickets case ref reference sku isbn zip serial tracking policy po issue bug pr row line page product item transaction txn batch claim node room flight"},
	{lPage, "page next continuation cursor sync csrf xsrf max prompt input output completion total usage count limit public"},
	{lTitle, "mr mrs ms miss dr prof sir madam herr frau"},
	{lOffice, "office home work fax mobile cell phone tel direct desk handy"},
	{lHealth, "provider medical physician"},
	{lNational, "national citizen identity personal"},
	{lLink, "and or und y et e"},
}

// labelTable knows the words of labels.
type labelTable struct {
	words   *wordTable
	endings [1 << 9]uint64 // the last three letters of words that need reading, as bits
}

var labels = sync.OnceValue(func() *labelTable {
	t := &labelTable{words: newWordTable(labelWordCount())}
	for _, row := range labelWords {
		for w := range strings.FieldsSeq(row.words) {
			t.words.add(w, uint64(row.means))
			if row.means&eagerLabels != 0 && len(w) > 2 {
				e := ending([]byte(w), len(w))
				t.endings[e>>6] |= 1 << (e & 63)
			}
		}
	}
	return t
})

func labelWordCount() (n int) {
	for _, row := range labelWords {
		n += len(strings.Fields(row.words))
	}
	return n
}

// of is what word means; its case does not matter.
func (t *labelTable) of(word []byte) label { return label(t.words.of(word)) }

// ofKey is what the words of an identifier mean: all of them, and the last.
// Words end where the case changes or at anything but a letter.
func (t *labelTable) ofKey(key []byte) (all, last label) {
	for i := 0; i < len(key); {
		if !isLetter(key[i]) {
			i++
			continue
		}
		j := keyWordEnd(key, i)
		if m := t.of(key[i:j]); m != 0 || j-i > 1 {
			all |= m
			last = m
		}
		i = j
	}
	return all, last
}

// keyWordEnd splits customerPhone and IPAddress after customer and IP.
func keyWordEnd(key []byte, i int) int {
	j := i + 1
	for j < len(key) && isLetter(key[j]) {
		if class[key[j]]&upper != 0 {
			if class[key[j-1]]&lower != 0 {
				break
			}
			if j+1 < len(key) && class[key[j+1]]&lower != 0 {
				break
			}
		}
		j++
	}
	return j
}
