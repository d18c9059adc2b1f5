package pii

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// view is a text as it reads when something is decoded, with the way back.
type view struct {
	text       []byte
	start, end []int // of each byte in the original; nil: the same
	decoded    bool  // bytes that stood for others are in it
}

func viewOf(s string) view { return view{text: []byte(s)} }

func (w view) begins(i int) int {
	if w.start == nil {
		return i
	}
	return w.start[i]
}

// ends is where the original of byte i ends.
func (w view) ends(i int) int {
	if w.end == nil {
		return i + 1
	}
	return w.end[i]
}

// add appends a byte that stands for text[start:end] of the view from.
func (w *view) add(from view, b byte, start, end int) {
	w.text = append(w.text, b)
	w.start = append(w.start, from.begins(start))
	w.end = append(w.end, from.ends(end-1))
}

// squeezed is what is left of a view: letters and digits, in lower case.
type squeezed struct {
	text []byte
	at   []int // in the view
}

func squeeze(of view) squeezed {
	s := squeezed{text: make([]byte, 0, len(of.text)), at: make([]int, 0, len(of.text))}
	for i := 0; i < len(of.text); {
		c := of.text[i]
		switch {
		case c >= utf8.RuneSelf:
			i += s.addRune(of.text[i:], i)
			continue
		case isAlnum(c):
			s.text = append(s.text, lower(c))
			s.at = append(s.at, i)
		}
		i++
	}
	return s
}

// addRune adds the character that text begins with, in lower case if it is as
// long then, and returns its length.
func (s *squeezed) addRune(text []byte, at int) int {
	r, n := utf8.DecodeRune(text)
	out := text[:n]
	if small := unicode.ToLower(r); small != r && utf8.RuneLen(small) == n {
		out = []byte(string(small))
	}
	for i, c := range out {
		s.text = append(s.text, c)
		s.at = append(s.at, at+i)
	}
	return n
}

// reversed reads a view backwards, by characters. What it finds there has its
// beginning and end the other way round.
func reversed(of view) view {
	r := view{decoded: of.decoded}
	for end := len(of.text); end > 0; {
		_, n := utf8.DecodeLastRune(of.text[:end])
		for i := end - n; i < end; i++ {
			r.add(of, of.text[i], i, i+1)
		}
		end -= n
	}
	return r
}

// unescaped decodes percent-encoding and the escapes of JSON; false means that
// there are none.
func unescaped(of view) (view, bool) {
	out := view{decoded: true}
	changed := false
	for i := 0; i < len(of.text); {
		b, n := decodeEscape(of.text[i:])
		changed = changed || n > 1
		for _, c := range b {
			out.add(of, c, i, i+n)
		}
		i += n
	}
	return out, changed
}

// decodeEscape decodes what s begins with, and how long it is.
func decodeEscape(s []byte) ([]byte, int) {
	if s[0] == '%' && len(s) >= 3 && hexDigit(s[1]) >= 0 && hexDigit(s[2]) >= 0 {
		return []byte{byte(hexDigit(s[1])<<4 | hexDigit(s[2]))}, 3
	}
	if s[0] == '\\' {
		if r, n := unescapeOne(string(s[:min(len(s), 12)])); n > 0 {
			return []byte(string(r)), n
		}
	}
	return s[:1], 1
}

// minRun is the shortest run of an encoding that is decoded: of four bytes.
const minRun = 8

// hexed decodes every run of hexadecimal digits, from its first digit and from
// its second: "626f62", "62:6f:62", `\x62\x6f\x62`.
func hexed(of view) []view {
	return runs(of, hexRun, 2, func(group []byte) []byte {
		return []byte{byte(hexDigit(group[0])<<4 | hexDigit(group[1]))}
	})
}

// based decodes every run of base64, either alphabet, from each of its first
// four characters.
func based(of view) []view {
	return runs(of, base64Run, 4, func(g []byte) []byte {
		n := base64Digit(g[0])<<18 | base64Digit(g[1])<<12 | base64Digit(g[2])<<6 | base64Digit(g[3])
		return []byte{byte(n >> 16), byte(n >> 8), byte(n)}
	})
}

// runs cuts of into runs of digits and decodes each, group by group, beginning at
// each of its first digits.
func runs(of view, run func(text []byte, at []int) ([]int, int), group int, decode func([]byte) []byte) []view {
	var views []view
	var at []int
	for i := 0; i < len(of.text); {
		var n int
		at, n = run(of.text[i:], at[:0])
		if len(at) >= minRun {
			for skip := 0; skip < group; skip++ {
				views = append(views, decodeRun(of, i, at[skip:], group, decode))
			}
		}
		i += max(n, 1)
	}
	return views
}

// decodeRun decodes the digits at the places at, counted from i. Base64 may end
// within a group.
func decodeRun(of view, i int, at []int, group int, decode func([]byte) []byte) view {
	out := view{decoded: true}
	digits := make([]byte, group)
	for len(at) >= group || len(at) >= 2 && group == 4 {
		n := min(group, len(at))
		for k := range digits {
			digits[k] = 'A'
			if k < n {
				digits[k] = of.text[i+at[k]]
			}
		}
		for _, b := range decode(digits)[:max(1, n-1)] {
			out.add(of, b, i+at[0], i+at[n-1]+1)
		}
		at = at[n:]
	}
	return out
}

// hexRun adds the places of the digits that text begins with, and returns how
// far the run goes. Bytes may be separated.
func hexRun(text []byte, at []int) ([]int, int) {
	i := 0
	for i < len(text) {
		switch {
		case hexDigit(text[i]) >= 0:
			at = append(at, i)
			i++
		case len(at) > 0 && len(at)%2 == 0 && hexSeparator(text[i:]) > 0:
			i += hexSeparator(text[i:])
		default:
			return at, i
		}
	}
	return at, i
}

// hexSeparator is the length of what s begins with between two bytes.
func hexSeparator(s []byte) int {
	for _, sep := range [...]string{`\x`, ", 0x", ",0x", " 0x", ":", " ", "-"} {
		if n := len(sep); len(s) > n && string(s[:n]) == sep && hexDigit(s[n]) >= 0 {
			return n
		}
	}
	return 0
}

// base64Run is the same for base64, whose lines may be wrapped.
func base64Run(text []byte, at []int) ([]int, int) {
	i := 0
	for i < len(text) {
		switch {
		case base64Digit(text[i]) >= 0:
			at = append(at, i)
		case len(at) > 0 && (text[i] == '\n' || text[i] == '\r'):
		default:
			return at, i
		}
		i++
	}
	return at, i
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// base64Digit is the value of c in either alphabet (RFC 4648), -1 for none.
func base64Digit(c byte) int {
	switch c {
	case '-':
		c = '+'
	case '_':
		c = '/'
	}
	return strings.IndexByte(base64Alphabet, c)
}
