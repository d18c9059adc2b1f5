package detect

import "bytes"

// addressValue reports data[start:end] under a key or label for addresses when it
// looks like a postal one: words, and for the bare key "address" a number. Addresses
// of networks, mail and memory are none. In prose, where a sentence may follow the
// word, most words have to be names or numbers.
func (s *scanner) addressValue(start, end int, all label, prose bool) {
	if !s.on.has(address) || all&(lMail|lWallet) != 0 || all&lThing != 0 && all&lStreet == 0 || touchesToken(s.b, start, end) {
		return
	}
	v := s.b[start:end]
	if len(v) < 5 || len(v) > 250 || bytes.IndexByte(v, '@') >= 0 || bytes.Contains(v, []byte("://")) {
		return
	}
	p := partsOf(v)
	if p.letters < 3 || p.words < 2 || p.numbers == 0 && (all&lStreet == 0 || p.words > 7) || bytes.ContainsAny(v, "{}<>=[]`") {
		return
	}
	if prose && p.small > 2*(p.words-p.small) {
		return
	}
	s.add(start, end, address)
}

// parts counts what an address consists of.
type parts struct {
	letters int
	words   int
	numbers int // words that begin with a digit: house numbers, codes
	small   int // words that begin with a small letter
}

func partsOf(v []byte) (p parts) {
	for i, c := range v {
		if class[c]&letter != 0 || c >= 0x80 {
			p.letters++
		}
		if c == ' ' || i > 0 && isWord(v[i-1]) && !escaped(v, i-1) {
			continue
		}
		if i == 0 || v[i-1] == ' ' {
			p.words++
			p.small += int(class[c]&lower) / lower
		}
		p.numbers += int(class[c] & digit)
	}
	return p
}
