package detect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
)

// seeds are texts that lead a fuzzer to the branches.
var seeds = []string{
	"", "call (415) 555-0132 or +44 (0)20 7946 0958 ext. 12", "card 4111 1111 1111 1111, iban GB29 NWBK 6016 1331 9268 19",
	`{"phone":4155550123,"cards":[4111111111111111,"378282246310005"],"name":"Nadia Quintero","ssn":536221234}`,
	`{"text":"{\"phone\":4155550123,\"email\":\"a@b.example\"}"}`, "mail a\u0303@b.example, ４１１１１１１１１１１１１１１１",
	"4111111111111111", "[-4111111111111111]", `{"a":": 4155550132,"}`, "10.0.0.1 fe80::1%eth0/64 00:1a:2b:3c:4d:5e",
	"?email=a%40b.example&tel=212%2D555%2D0147", "[EMAIL_1_k7q2f] PHONE_22_ab2c3@x.example", "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----",
	"Name: Ada Byron\nAddress: 12 Main St, Springfield\nDOB: 5 May 1990", "AA 12 34 56 B 1EG4-TE5-MK73 sk-abcdefghij0123456789",
	"https://u:pa55word@h.example/", `"\u0061\u0040b.example"`, "2026-01-15T12:00:00.123Z 12:34:56 1.2.3.4.5",
	"00phone\"00000000\":00000000", "CAll0 000(00(00 0000 000", "0600000e+6000000",
}

func FuzzSpansAreExact(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	d := newDetector(f, Options{Packs: allPacks(), Custom: map[string]string{"CODE": `[a-z]\d{3,}`}})
	f.Fuzz(func(t *testing.T, data []byte) {
		spans, err := d.Find(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		checkSpans(t, data, spans)
	})
}

func checkSpans(t *testing.T, data []byte, spans []Span) {
	t.Helper()
	end := 0
	for _, s := range spans {
		if s.Start < end || s.End <= s.Start || s.End > len(data) {
			t.Fatalf("span %+v after %d in %q", s, end, data)
		}
		if touchesToken(data, s.Start, s.End) {
			t.Fatalf("span %+v touches a token in %q", s, data)
		}
		end = s.End
	}
}

// replaceAll does what a vault does.
func replaceAll(data []byte, spans []Span) []byte {
	var out bytes.Buffer
	end := 0
	for i, s := range spans {
		out.Write(data[end:s.Start])
		quote := ""
		switch s.Kind {
		case JSONNumber:
			quote = `"`
		case NestedNumber:
			quote = string(bytes.Repeat([]byte(`\`), int(s.Escape))) + `"`
		}
		fmt.Fprintf(&out, "%s[%s_%d_k7q2f]%s", quote, s.Type, i+1, quote)
		end = s.End
	}
	out.Write(data[end:])
	return out.Bytes()
}

func FuzzValidJSONStaysValid(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	d := newDetector(f, Options{Packs: allPacks(), Custom: map[string]string{"CODE": `[a-z:{,]+\d{3,}`, "TRUE": "true"}})
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		spans, err := d.Find(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		if out := replaceAll(data, spans); !json.Valid(out) {
			t.Fatalf("%q became %q", data, out)
		}
	})
}

func FuzzNothingIsFoundTwice(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	d := newDetector(f, Options{Packs: allPacks()})
	f.Fuzz(func(t *testing.T, data []byte) {
		spans, err := d.Find(nil, data)
		if err != nil {
			t.Fatal(err)
		}
		out := replaceAll(data, spans)
		again, err := d.Find(nil, out)
		if err != nil {
			t.Fatal(err)
		}
		if len(again) > 0 {
			t.Fatalf("%q became %q, in which %+v is found", data, out, again[0])
		}
	})
}

// allPacks names every pack.
func allPacks() (names []string) {
	seen := map[string]bool{}
	for _, t := range packTypes {
		if !seen[t.pack] {
			seen[t.pack] = true
			names = append(names, t.pack)
		}
	}
	return names
}
