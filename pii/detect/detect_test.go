package detect

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// find returns what d finds in text as "TYPE=value" strings.
func find(t *testing.T, d *Detector, text string) []string {
	t.Helper()
	spans, err := d.Find(nil, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range spans {
		got = append(got, string(s.Type)+"="+text[s.Start:s.End])
	}
	return got
}

func newDetector(t testing.TB, o Options) *Detector {
	t.Helper()
	d, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// found has one text a line and what is found in it.
var found = []struct{ name, text, want string }{
	{"address with tag", "john.doe+tag@sub.example.co.uk, <jane@example.com>", "EMAIL=john.doe+tag@sub.example.co.uk|EMAIL=jane@example.com"},
	{"international addresses", "müller@bücher.example 用户@例子.中国", "EMAIL=müller@bücher.example|EMAIL=用户@例子.中国"},
	{"host without a dot beside a key", `{"email":"root@mailhost"} root@mailhost`, "EMAIL=root@mailhost"},
	{"packages and images", "lodash@4.17.21 react@18.2.0-beta.1 @types/node@20.1.0 icon@2x.png", ""},
	{"after an escape", `{"text":"to\nann@example.com"}`, "EMAIL=ann@example.com"},
	{"North American phones", "415-555-0132 or (415) 555 0132 ext. 45. Tel.: 4155550132", "PHONE=415-555-0132|PHONE=(415) 555 0132 ext. 45|PHONE=4155550132"},
	{"international phones", "+44 20 7946 0958, +49 (0)30 901820, 0049 30 901820, +33 1 42 68 53 00", "PHONE=+44 20 7946 0958|PHONE=+49 (0)30 901820|PHONE=0049 30 901820|PHONE=+33 1 42 68 53 00"},
	{"international phones with a group of 00", "+46 8 465 004 23 or +44 20 7946 0046, 0044 20 7946 0047", "PHONE=+46 8 465 004 23|PHONE=+44 20 7946 0046|PHONE=0044 20 7946 0047"},
	{"phones in lists", `{"phone_numbers":["4155550132","4155550133"],"order_ids":["4155550134"]}`, "PHONE=4155550132|PHONE=4155550133"},
	{"numbers that are no phones", "Order 123-4567890-1234567 $1,234,567.89 3.14159265358979 12,345,678 zip 10001-1234", ""},
	{"identifiers of documents", "doi 10.1016/j.cell.2020.01.021 ISBN 978-3-16-148410-0 EAN 4006381333931 IMEI 356938035643809", ""},
	{"social security", "row 536221234: 536-22-1234, 536 22 1234", "US_SSN=536-22-1234|US_SSN=536 22 1234"},
	{"a list after a label", "SSN 536221234, 536221235", "US_SSN=536221234|US_SSN=536221235"},
	{"cards", "4111 1111 1111 1111 12/27, 3782-822463-10005, 6011000990139424", "CREDIT_CARD=4111 1111 1111 1111|CREDIT_CARD=3782-822463-10005|CREDIT_CARD=6011000990139424"},
	{"card number under an id", `{"order_id":"4111111111111111","card":"4111111111111111"}`, "CREDIT_CARD=4111111111111111"},
	{"addresses of networks", "10.0.0.0/8 192.168.1.1:8080 [2001:db8::1]:80 fe80::1%eth0 http://192.168.0.12/x", "IP=10.0.0.0/8|IP=192.168.1.1|IP=2001:db8::1|IP=fe80::1%eth0|IP=192.168.0.12"},
	{"versions", "Version 1.2.3.4; v2.3.4.5; Chrome/131.0.0.0 foo-1.2.3.4.jar 1.2.3.4.5", ""},
	{"times and hashes", "12:34:56.789 2026-01-15 12:00:00,123 +0200 3f786850e387550fdab836ed7e6dc881de23001b", ""},
	{"hardware", "00:1A:2B:3C:4D:5E AA-BB-CC-DD-EE-FF 0012.3456.789a", "MAC=00:1A:2B:3C:4D:5E|MAC=AA-BB-CC-DD-EE-FF|MAC=0012.3456.789a"},
	{"bank account", "DE89 3704 0044 0532 0130 00, routing 021000021 account number 123456789012", "IBAN=DE89 3704 0044 0532 0130 00|US_ABA=021000021|BANK_ACCOUNT=123456789012"},
	{"labelled numbers", "NHS 943 476 5919; passport number C01234567; driver's license D1234567; VIN: 1HGCM82633A004352", "UK_NHS=943 476 5919|PASSPORT=C01234567|DRIVER_LICENSE=D1234567|VIN=1HGCM82633A004352"},
	{"wallets", "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq wallet 0x52908400098527886E0F7030069857D2E4169EE7", "CRYPTO=bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq|CRYPTO=0x52908400098527886E0F7030069857D2E4169EE7"},
	{"people under keys", `{"first_name":"maria","last_name":"de la cruz","customer_name":"Jane Doe","file_name":"Jane Doe.pdf","host":"Foo Bar"}`, "PERSON=maria|PERSON=de la cruz|PERSON=Jane Doe"},
	{"products and tools have names", `[{"name":"Wireless Mouse","price":20},{"name":"README.md"},{"name":"get_weather","description":"x"}]`, ""},
	{"a name among personal keys", `{"name":"Alice","email":"alice@x.example"}`, "PERSON=Alice|EMAIL=alice@x.example"},
	{"labels in prose", "Patient: John Smith DOB: 01/02/1980", "PERSON=John Smith|DATE_OF_BIRTH=01/02/1980"},
	{"no name in prose", "Name: Build and Test", ""},
	{"postal addresses", `{"address":"12 Main St, Springfield","ip_address":"10.1.2.3"}`, "ADDRESS=12 Main St, Springfield|IP=10.1.2.3"},
	{"births", `{"dob":"1990-05-01","created":"1990-05-01","birth_date":"May 5, 1990"}`, "DATE_OF_BIRTH=1990-05-01|DATE_OF_BIRTH=May 5, 1990"},
	{"JSON in JSON", `{"a":"{\"phone\":4155550123,\"name\":\"Ada Lovelace\"}"}`, "PHONE=4155550123|PERSON=Ada Lovelace"},
	{"keys of issuers", "AKIAIOSFODNN7EXAMPLE sk-proj-abcdefghijklmnopqrstuvwx1234", "SECRET=AKIAIOSFODNN7EXAMPLE|SECRET=sk-proj-abcdefghijklmnopqrstuvwx1234"},
	{"secrets under keys", `{"api_key":"abcdEFGH1234567890","password":"hunter2","next_page_token":"abcdEFGH1234567890"}`, "SECRET=abcdEFGH1234567890|SECRET=hunter2"},
	{"a password in a URL", "postgres://admin:s3cr3tpw@db.internal:5432/app", "SECRET=s3cr3tpw"},
	{"a private key", "-----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----\nrest", "SECRET=-----BEGIN EC PRIVATE KEY-----\nMHcC\n-----END EC PRIVATE KEY-----"},
	{"in disguise", "a%40b.example c\\u0040d.example e\u200b@f.example", "EMAIL=a%40b.example|EMAIL=c\\u0040d.example|EMAIL=e\u200b@f.example"},
	{"tokens stay", "[EMAIL_1_k7q2f] and PHONE_12_ab2c3, EMAIL_1_k7q2f@example.org", ""},
}

func TestFinds(t *testing.T) {
	t.Parallel()
	d := newDetector(t, Options{})
	for _, c := range found {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := strings.Join(find(t, d, c.text), "|"); got != c.want {
				t.Errorf("%q:\n got %q\nwant %q", c.text, got, c.want)
			}
		})
	}
}

func TestNumbersInJSONAreMarked(t *testing.T) {
	t.Parallel()
	d := newDetector(t, Options{})
	for _, c := range []struct {
		text   string
		kind   Kind
		escape uint8
	}{
		{`{"phone":4155550123}`, JSONNumber, 0},
		{`{"phone":"4155550123"}`, Text, 0},
		{`{"phones":[ 4155550123 ]}`, JSONNumber, 0},
		{`{"a":"{\"phone\":4155550123}"}`, NestedNumber, 1},
		{`{"a":"[{\"phones\":[4155550123]}]"}`, NestedNumber, 1},
		{`4111111111111111`, JSONNumber, 0},
		{`card 4111111111111111`, Text, 0},
		{`{"a":": 4111111111111111,"}`, Text, 0},
		{`phone: 4155550123, `, Text, 0},
	} {
		spans, err := d.Find(nil, []byte(c.text))
		if err != nil || len(spans) != 1 || spans[0].Kind != c.kind || spans[0].Escape != c.escape {
			t.Errorf("%s: got %+v, %v; want kind %d, escape %d", c.text, spans, err, c.kind, c.escape)
		}
	}
}

func TestANegativeNumberIsTakenWhole(t *testing.T) {
	t.Parallel()
	text := `[-4111111111111111]`
	if got := find(t, newDetector(t, Options{}), text); len(got) != 1 || got[0] != "CREDIT_CARD=-4111111111111111" {
		t.Errorf("got %q", got)
	}
}

func TestDisabledTypesAndPacks(t *testing.T) {
	t.Parallel()
	text := "mail a@b.example, PESEL 44051401458"
	if got := find(t, newDetector(t, Options{Disabled: []Type{"EMAIL"}, Packs: []string{"pl"}}), text); len(got) != 1 || got[0] != "PL_PESEL=44051401458" {
		t.Errorf("got %q", got)
	}
	if _, err := New(Options{Packs: []string{"atlantis"}}); err == nil || !strings.Contains(err.Error(), "atlantis") {
		t.Errorf("unknown pack: %v", err)
	}
	if _, err := New(Options{Disabled: []Type{"NOPE"}}); err == nil || !strings.Contains(err.Error(), "NOPE") {
		t.Errorf("unknown type: %v", err)
	}
}

func TestTypesDescribesEveryType(t *testing.T) {
	t.Parallel()
	for _, info := range newDetector(t, Options{Packs: []string{"de"}, Custom: map[string]string{"MINE": "x"}}).Types() {
		if want := info.Pack == "" || info.Pack == "de" || info.Pack == "custom"; info.Description == "" || info.On != want {
			t.Errorf("%+v", info)
		}
	}
}

func TestFindAppendsAndAllocatesNothing(t *testing.T) {
	d := newDetector(t, Options{})
	data := []byte(`{"name":"Ada Lovelace","phone":4155550123,"note":"card 4111 1111 1111 1111 ａ@b.example"}`)
	dst, err := d.Find([]Span{{Start: 1, End: 2, Type: "OLD"}}, data)
	if err != nil || dst[0].Type != "OLD" || len(dst) < 4 {
		t.Fatalf("got %+v, %v", dst, err)
	}
	if raceEnabled {
		return // the race detector's pools forget on purpose
	}
	if n := testing.AllocsPerRun(100, func() { dst, _ = d.Find(dst[:0], data) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCustomPatterns(t *testing.T) {
	t.Parallel()
	d := newDetector(t, Options{Custom: map[string]string{"EMPLOYEE": `E\d{5}`, "BADGE": `(?<=badge )\w+`}})
	if got := strings.Join(find(t, d, "E12345 has badge k9"), "|"); got != "EMPLOYEE=E12345|BADGE=k9" {
		t.Errorf("got %q", got)
	}
}

func TestCustomPatternTimeoutFailsClosedAndKeepsTheInputOut(t *testing.T) {
	t.Parallel()
	d := newDetector(t, Options{Custom: map[string]string{"SLOW": `(?=(a+)+$)(a+)+b`}, CustomTimeout: 5 * time.Millisecond})
	input := strings.Repeat("a", 5000) + "!"
	_, err := d.Find(nil, []byte(input))
	if !errors.Is(err, ErrPatternTimeout) || !strings.Contains(err.Error(), "SLOW") || strings.Contains(err.Error(), "aaa") {
		t.Errorf("got error %v", err)
	}
}

func TestBadPatternIsNamedAndNotShown(t *testing.T) {
	t.Parallel()
	_, err := New(Options{Custom: map[string]string{"BROKEN": `secret(`}})
	if err == nil || !strings.Contains(err.Error(), "BROKEN") || strings.Contains(err.Error(), "secret(") {
		t.Errorf("got error %v", err)
	}
}

// TestPhonesOfTheWorld has numbers as they are written where they are from.
func TestPhonesOfTheWorld(t *testing.T) {
	t.Parallel()
	d := newDetector(t, Options{})
	for _, number := range []string{
		"+(370) 23667127", "(+57)3297543231", "(+358) 252760189", "+54 9 3323 6671", "8 (529) 170-34-23", "8 (955) 597-9711",
		"05403/13721590", "97/543-2319", "(71)/049-7465", "06-55/597 9711", "(06)36/671-2768", "(07).5979.7114",
		"+৮৮০-১০৪-৯৭৪-৬৫০", "+46.7.156.784.35", "415.555.0132", "+65.92347353",
	} {
		for _, text := range []string{"They do not answer the phone at " + number + " now.", "the phone (" + number + ") rings"} {
			if got := find(t, d, text); !slices.Equal(got, []string{"PHONE=" + number}) {
				t.Errorf("%q gives %q", text, got)
			}
		}
	}
}

// TestPacksReadNumbersAsTheyAreWritten has the ways that the countries write theirs.
func TestPacksReadNumbersAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pack, text, want string }{
		{"de", "Steuer-ID 12 345 678 903", "DE_TAX_ID=12 345 678 903"},
		{"es", "DNI 12345678-Z, NIE X-1234567-L", "ES_NIF=12345678-Z|ES_NIE=X-1234567-L"},
		{"fi", "131052-308T", "FI_PERSONAL_IDENTITY_CODE=131052-308T"},
		{"fr", "NIR 1841276451089 46 et 1 84 12 76 451 089 46", "FR_NIR=1841276451089 46|FR_NIR=1 84 12 76 451 089 46"},
		{"nl", `BSN 1112.22.333, {"bsn":111222333}`, "NL_BSN=1112.22.333|NL_BSN=111222333"},
		{"se", "811228-9874 och 19811228-9874", "SE_PERSONNUMMER=811228-9874|SE_PERSONNUMMER=19811228-9874"},
		{"in", "3123-4567-8909", "IN_AADHAAR=3123-4567-8909"},
		{"br", `{"cpf":"529.982.247-25"} 52998224725`, "BR_CPF=529.982.247-25|BR_CPF=52998224725"},
		{"za", "800101 5009 087", "ZA_ID_NUMBER=800101 5009 087"},
		{"th", "1-2345-67890-12-1", "TH_TNIN=1-2345-67890-12-1"},
	} {
		if got := strings.Join(find(t, newDetector(t, Options{Packs: []string{c.pack}}), c.text), "|"); got != c.want {
			t.Errorf("%q gives %q, want %q", c.text, got, c.want)
		}
	}
}
