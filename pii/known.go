package pii

import (
	"strings"
	"sync"
)

// known is an index of a vault's values that finds them in any case and however
// they are split: by their letters and digits alone, in lower case. It grows with
// the vault and is brought up to date when it is used.
type known struct {
	mu      sync.Mutex // guards all below
	indexed int        // how many of the vault's entries are in
	values  map[string]*entry
	lengths map[uint32][]int // of the values that begin with those four bytes
	heads   [1 << 10]uint64  // a bit for each of these, for a quick no
}

// minSqueezed is the fewest letters and digits that a value is searched by.
const minSqueezed = 4

// selfIdentifying are the types whose values tell who is meant wherever they
// stand. Values of other types are searched from six bytes on, as whole words.
var selfIdentifying = map[Type]bool{
	"EMAIL": true, "PHONE": true, "US_SSN": true, "US_ITIN": true, "CREDIT_CARD": true, "IP": true, "IBAN": true,
	"MAC": true, "CRYPTO": true, "SECRET": true, "UK_NINO": true, "US_MBI": true, "VIN": true,
}

func newKnown() *known { return &known{values: map[string]*entry{}, lengths: map[uint32][]int{}} }

// update takes in the entries that came since the last time. The caller holds
// k.mu and at least v.mu for reading.
func (k *known) update(v *Vault) {
	for ; k.indexed < len(v.all); k.indexed++ {
		k.add(v.all[k.indexed])
	}
}

func (k *known) add(e *entry) {
	s := squeeze(viewOf(e.forms[0])).text
	if len(s) < minSqueezed || k.values[string(s)] != nil {
		return
	}
	k.values[string(s)] = e
	head := head(s)
	k.heads[head*headHash>>22] |= 1 << (head * headHash >> 16 & 63)
	for _, n := range k.lengths[head] {
		if n == len(s) {
			return
		}
	}
	k.lengths[head] = append(k.lengths[head], len(s))
}

// headHash spreads four bytes (Knuth's multiplicative constant for 32 bits).
const headHash = 2654435769

func head(s []byte) uint32 {
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// mayBegin reports whether a value may begin with that head.
func (k *known) mayBegin(head uint32) bool {
	return k.heads[head*headHash>>22]>>(head*headHash>>16&63)&1 != 0
}

// mayHold reports whether a value may be in text, read in either direction.
func (k *known) mayHold(text []byte) bool {
	var fore, back uint32
	n := 0
	for _, c := range text {
		if !isAlnum(c) && c < 0x80 {
			continue
		}
		c := uint32(lower(c))
		fore, back = fore>>8|c<<24, back<<8|c
		if n++; n >= minSqueezed && (k.mayBegin(fore) || k.mayBegin(back)) {
			return true
		}
	}
	return false
}

// sighting is a value found in text[start:end], in some form.
type sighting struct {
	start, end int
	entry      *entry
}

// find adds the values that are in a view of a text.
func (k *known) find(dst []sighting, of view) []sighting {
	s := squeeze(of)
	for i := 0; i+minSqueezed <= len(s.text); {
		n := k.longest(of, s, i)
		if n == 0 {
			i++
			continue
		}
		e := k.values[string(s.text[i:i+n])]
		first, last := s.at[i], s.at[i+n-1]
		dst = append(dst, sighting{
			start: min(of.begins(first), of.begins(last)), // a view may read backwards
			end:   max(of.ends(first), of.ends(last)),
			entry: e,
		})
		i += n
	}
	return dst
}

// longest is the length of the longest value at s.text[i:] that counts there.
func (k *known) longest(of view, s squeezed, i int) int {
	longest := 0
	head := head(s.text[i:])
	if !k.mayBegin(head) {
		return 0
	}
	for _, n := range k.lengths[head] {
		if n <= longest || i+n > len(s.text) {
			continue
		}
		if e := k.values[string(s.text[i:i+n])]; e != nil && counts(e, of, s.at[i], s.at[i+n-1]+1, n) {
			longest = n
		}
	}
	return longest
}

// counts reports whether of.text[start:end] may be taken for the value of e, of
// which it has the n letters and digits.
func counts(e *entry, of view, start, end, n int) bool {
	const surely = 8 // letters and digits that do not meet by chance across words
	value := e.forms[0]
	literal := strings.EqualFold(string(of.text[start:end]), value)
	whole := !isWordByte(of.text, start-1) && !isWordByte(of.text, end)
	if selfIdentifying[e.typ] {
		return n >= surely || literal && !of.decoded || whole && (literal || n >= 6)
	}
	scattered := end-start >= 2*n-1 // every letter by itself
	return len(value) >= 6 && whole && (literal || n >= surely || n >= 5 && scattered)
}

// isWordByte reports whether text[i] is part of a word.
func isWordByte(text []byte, i int) bool {
	return i >= 0 && i < len(text) && (isAlnum(text[i]) || text[i] >= 0x80)
}
