package detect

import "bytes"

// addressValue reports data[start:end] under a key or label for addresses when it
// looks like a postal one: words, and for the bare key "address" a number. Addresses
// of networks, mail and memory are none.
func (s *scanner) addressValue(start, end int, all label) {
	if !s.on.has(address) || all&(lMail|lWallet) != 0 || all&lThing != 0 && all&lStreet == 0 || touchesToken(s.b, start, end) {
		return
	}
	v := s.b[start:end]
	if len(v) < 5 || len(v) > 250 || bytes.IndexByte(v, '@') >= 0 || bytes.Contains(v, []byte("://")) {
		return
	}
	letters, spaces, digits := 0, 0, countDigits(v)
	for _, c := range v {
		if class[c]&letter != 0 || c >= 0x80 {
			letters++
		} else if c == ' ' {
			spaces++
		}
	}
	if letters < 3 || spaces == 0 || digits == 0 && (all&lStreet == 0 || spaces > 6) || bytes.ContainsAny(v, "{}<>=[]") {
		return
	}
	s.add(start, end, address)
}
