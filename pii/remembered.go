package pii

import (
	"cmp"
	"slices"
	"strings"

	"airlock/pii/detect"
)

// remembered finds values again that the detector knows by their context only: a
// person who stood under a key and is named in a sentence later. It holds values
// that do not occur by chance, of two words or of many digits, and finds them as
// they are, as whole words.
type remembered struct {
	first   [256]bool        // bytes that values begin with
	lengths map[uint32][]int // of those with the same first four bytes, longest first
	types   map[string]Type  // by value; nil for those that the vault holds
}

// minDigits is how many digits do not occur by chance.
const minDigits = 8

// byThemselves are the types that need no context, and dates, which stand for
// many things.
var byThemselves = map[Type]bool{
	"EMAIL": true, "IP": true, "MAC": true, "IBAN": true, "CREDIT_CARD": true, "US_SSN": true, "DATE_OF_BIRTH": true,
}

// maxMemorable bounds the length of what is remembered: names and addresses.
const maxMemorable = 128

// isMemorable reports whether a value is to be found again.
func isMemorable(t Type, value string) bool {
	if len(value) < 6 || len(value) > maxMemorable || byThemselves[t] || isDelicate(value) || !isWord(value[0]) || !isWord(value[len(value)-1]) {
		return false
	}
	if strings.ContainsFunc(value, isLetter) {
		first, rest, ok := strings.Cut(value, " ")
		return ok && strings.ContainsFunc(first, isLetter) && strings.ContainsFunc(rest, isLetter)
	}
	return len(onlyDigits(value)) >= minDigits
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80 }

func isWord(c byte) bool { return isAlnum(c) || c >= 0x80 }

// add takes in a value that isMemorable.
func (m *remembered) add(value string) {
	if m.lengths == nil {
		m.lengths = map[uint32][]int{}
	}
	m.first[value[0]] = true
	head := head([]byte(value[:minSqueezed]))
	at, ok := slices.BinarySearchFunc(m.lengths[head], len(value), func(n, target int) int { return target - n })
	if !ok {
		m.lengths[head] = slices.Insert(m.lengths[head], at, len(value))
	}
}

// recall finds remembered values in text that the detector did not, those that it
// found elsewhere in the text included.
func (v *Vault) recall(w *work, text string) []sighting {
	v.mu.RLock()
	defer v.mu.RUnlock()
	here := v.memorable(w.spans, text)
	if v.memory.lengths == nil && here.lengths == nil {
		return nil
	}
	var found []sighting
	spans, first := w.spans, v.memory.first
	for c, begins := range here.first {
		first[c] = first[c] || begins
	}
	for i := 0; i+minSqueezed <= len(text); i++ {
		if !first[text[i]] || i > 0 && isWord(text[i-1]) {
			continue
		}
		for len(spans) > 0 && spans[0].End <= i {
			spans = spans[1:]
		}
		if len(spans) > 0 && spans[0].Start <= i {
			i = spans[0].End - 1
			continue
		}
		if n, t := v.recallAt(text, i, &here); n > 0 && !besideToken(w.tokens, i, i+n) {
			found = append(found, sighting{start: i, end: i + n, entry: &entry{typ: t}})
			i += n - 1
		}
	}
	return found
}

// memorable collects what the detector found in text and the vault does not hold
// yet. The caller holds v.mu.
func (v *Vault) memorable(spans []detect.Span, text string) remembered {
	var here remembered
	for _, s := range spans {
		value := text[s.Start:s.End]
		if v.texts[value] == nil && isMemorable(s.Type, value) {
			if here.types == nil {
				here.types = map[string]Type{}
			}
			here.types[value] = s.Type
			here.add(value)
		}
	}
	return here
}

// recallAt is the length and the type of the longest value at text[i:].
func (v *Vault) recallAt(text string, i int, here *remembered) (int, Type) {
	head := head([]byte(text[i : i+minSqueezed]))
	best, of := 0, Type("")
	for _, lengths := range [...][]int{v.memory.lengths[head], here.lengths[head]} {
		for _, n := range lengths {
			if end := i + n; n > best && end <= len(text) && (end == len(text) || !isWord(text[end])) {
				if e := v.texts[text[i:end]]; e != nil && isMemorable(e.typ, text[i:end]) {
					best, of = n, e.typ
				} else if t, ok := here.types[text[i:end]]; ok {
					best, of = n, t
				}
			}
		}
	}
	return best, of
}

// besideToken reports whether a token begins or ends where a value ends or
// begins: the value was part of a longer word before the rest was replaced.
func besideToken(tokens []tokenMatch, start, end int) bool {
	at, _ := slices.BinarySearchFunc(tokens, start, func(m tokenMatch, start int) int { return cmp.Compare(m.end, start) })
	return at < len(tokens) && tokens[at].start <= end
}
