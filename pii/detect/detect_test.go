package detect

import (
	"errors"
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

func TestFindsTheFirstFiveTypes(t *testing.T) {
	t.Parallel()
	d := newDetector(t, Options{})
	for text, want := range map[string]string{
		"mail ada@example.org now":                "EMAIL=ada@example.org",
		"call (415) 555-0132":                     "PHONE=(415) 555-0132",
		"ssn 536-22-1234":                         "US_SSN=536-22-1234",
		"card 4111 1111 1111 1111":                "CREDIT_CARD=4111 1111 1111 1111",
		"from 198.51.100.23":                      "IP=198.51.100.23",
		"[EMAIL_1_k7q2f] and PHONE_12_ab2c3":      "",
		"EMAIL_1_k7q2f@example.org is not a name": "",
	} {
		if got := strings.Join(find(t, d, text), "|"); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
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
