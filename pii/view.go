package pii

import (
	"bytes"
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

// newView makes one for n decoded bytes.
func newView(n int) view {
	return view{text: make([]byte, 0, n), start: make([]int, 0, n), end: make([]int, 0, n), decoded: true}
}

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
	r := newView(len(of.text))
	r.decoded = of.decoded
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
	if bytes.IndexByte(of.text, '%') < 0 && bytes.IndexByte(of.text, '\\') < 0 {
		return view{}, false
	}
	out := newView(len(of.text))
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

// encoding is a way to write bytes by groups of digits.
type encoding struct {
	group int // digits
	// run adds the places of the digits that text begins with, and returns how
	// far they go.
	run    func(text []byte, at []int) ([]int, int)
	decode func(dst, group []byte) []byte
}

// encodings are those that a view is searched for: hexadecimal digits, as in
// "626f62", "62:6f:62" or `+"`\x62\x6f\x62`"+`, and base64 in either alphabet.
var encodings = [...]encoding{
	{2, hexRun, func(dst, g []byte) []byte { return append(dst, byte(hexDigit(g[0])<<4|hexDigit(g[1]))) }},
	{4, base64Run, func(dst, g []byte) []byte {
		n := base64Digits[g[0]]<<18 | base64Digits[g[1]]<<12 | base64Digits[g[2]]<<6 | base64Digits[g[3]]
		return append(dst, byte(n>>16), byte(n>>8), byte(n))
	}},
}

// decoded calls yield with what every run of an encoding reads as, from each of
// the digits that a group may begin with. wanted is asked first.
func (e encoding) decoded(of view, wanted func([]byte) bool, yield func(view)) {
	var at []int
	var plain []byte
	for i := 0; i < len(of.text); {
		var n int
		at, n = e.run(of.text[i:], at[:0])
		for skip := 0; skip < e.group && len(at) >= minRun; skip++ {
			plain = e.text(plain[:0], of.text[i:], at[skip:], nil)
			if wanted(plain) {
				out := newView(len(plain))
				e.text(nil, of.text[i:], at[skip:], func(b byte, first, last int) { out.add(of, b, i+first, i+last+1) })
				yield(out)
			}
		}
		i += max(n, 1)
	}
}

// text decodes the digits of text at the places at, and tells each where every
// byte is from. Base64 may end within a group.
func (e encoding) text(dst, text []byte, at []int, each func(b byte, first, last int)) []byte {
	var group [4]byte
	for len(at) >= e.group || len(at) >= 2 && e.group == 4 {
		n := min(e.group, len(at))
		for k := range group {
			group[k] = 'A'
			if k < n {
				group[k] = text[at[k]]
			}
		}
		from := len(dst)
		dst = e.decode(dst, group[:])
		dst = dst[:from+max(1, n-1)]
		if each != nil {
			for _, b := range dst[from:] {
				each(b, at[0], at[n-1])
			}
		}
		at = at[n:]
	}
	return dst
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
		case base64Digits[text[i]] >= 0:
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

// base64Digits holds the value of each digit, in either alphabet (RFC 4648, 4
// and 5), and -1 for what is none.
var base64Digits = func() (t [256]int32) {
	for c := range t {
		t[c] = int32(strings.IndexByte(base64Alphabet, byte(c)))
	}
	t['-'], t['_'] = t['+'], t['/']
	return t
}()
