package detect

import (
	"regexp"
	"slices"
)

type seedType struct {
	Type
	description string
	pattern     *regexp.Regexp
	valid       func([]byte) bool
}

var seedTypes = []seedType{
	{"EMAIL", "e-mail address", regexp.MustCompile(`[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}`), nil},
	{"PHONE", "phone number", regexp.MustCompile(`\+\d{1,3}[ -]?\(?\d{1,4}\)?(?:[ .-]?\d{2,5}){1,4}\b|\(\d{3}\) ?\d{3}-\d{4}\b|\b\d{3}[-. ]\d{3}[-. ]\d{4}\b`), nil},
	{"US_SSN", "US social security number", regexp.MustCompile(`\b\d{3}-\d{2}-\d{4}\b`), nil},
	{"CREDIT_CARD", "payment card number", regexp.MustCompile(`\b[3-6]\d{3}(?:[ .-]?\d{2,6}){2,5}\b`), luhnText},
	{"IP", "IP address", regexp.MustCompile(`\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b`), nil},
}

func luhnText(b []byte) bool {
	sum, n := 0, 0
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < '0' || b[i] > '9' {
			continue
		}
		v := int(b[i] - '0')
		if n++; n%2 == 0 {
			if v *= 2; v > 9 {
				v -= 9
			}
		}
		sum += v
	}
	return n >= 13 && n <= 19 && sum%10 == 0
}

func (d *Detector) standard(dst []Span, data []byte) []Span {
	for _, t := range seedTypes {
		if slices.Contains(d.disabled, t.Type) {
			continue
		}
		for _, m := range t.pattern.FindAllIndex(data, -1) {
			if t.valid == nil || t.valid(data[m[0]:m[1]]) {
				dst = append(dst, Span{Start: m[0], End: m[1], Type: t.Type, Kind: kindOf(data, m[0], m[1])})
			}
		}
	}
	return dst
}

// kindOf is JSONNumber for a bare number between JSON punctuation.
func kindOf(data []byte, start, end int) Kind {
	for _, c := range data[start:end] {
		if c < '0' || c > '9' {
			return Text
		}
	}
	for start > 0 && (data[start-1] == ' ' || data[start-1] == '\n') {
		start--
	}
	for end < len(data) && (data[end] == ' ' || data[end] == '\n') {
		end++
	}
	before := start > 1 && data[start-1] == ':' && data[start-2] == '"' || start > 0 && data[start-1] == '['
	after := end < len(data) && (data[end] == ',' || data[end] == '}' || data[end] == ']')
	if before && after {
		return JSONNumber
	}
	return Text
}
