package detect

import (
	"encoding/binary"
	"strings"
	"sync"
)

// longestWord bounds the words of a wordTable, in bytes.
const longestWord = 22

// wordTable maps words of ASCII letters and underscores to bits, whatever their
// case. It is an open hash table over words packed into integers: a look-up costs a
// few loads and compares, allocates nothing, and is exact.
type wordTable struct {
	slots []wordSlot // a power of two, at most half of them full
}

type wordSlot struct {
	word  packedWord
	means uint64
}

// packedWord is a word in lower case. Loads overlap, as the length tells words apart
// that would be packed alike.
type packedWord struct {
	a, b, c uint64
	n       int
}

// newWordTable makes a table with room for this many words.
func newWordTable(words int) *wordTable {
	size := 64
	for size < 2*words {
		size *= 2
	}
	return &wordTable{slots: make([]wordSlot, size)}
}

// lazyWords makes a table of a list on first use.
func lazyWords(list string) func() *wordTable {
	return sync.OnceValue(func() *wordTable {
		words := strings.Fields(list)
		t := newWordTable(len(words))
		for _, w := range words {
			t.add(w, 1)
		}
		return t
	})
}

// add adds bits to what a word means.
func (t *wordTable) add(word string, means uint64) {
	p := pack([]byte(word))
	s := t.slot(&p)
	s.word, s.means = p, s.means|means
}

// of is what word means, 0 if it is not in the table.
func (t *wordTable) of(word []byte) uint64 {
	if uint(len(word)-1) >= longestWord {
		return 0
	}
	p := pack(word)
	return t.slot(&p).means
}

// has reports whether word is in the table.
func (t *wordTable) has(word []byte) bool { return t.of(word) != 0 }

// slot is where the word is, or would be put.
func (t *wordTable) slot(p *packedWord) *wordSlot {
	mask := len(t.slots) - 1
	for i := int(p.hash()) & mask; ; i = (i + 1) & mask {
		if s := &t.slots[i]; s.word == *p || s.word.n == 0 {
			return s
		}
	}
}

// hash mixes by multiplication with odd constants, of which the high bits are best.
func (p *packedWord) hash() uint64 {
	h := (p.a+uint64(p.n))*0x9e3779b97f4a7c15 ^ p.b*0xc2b2ae3d27d4eb4f ^ p.c*0x165667b19e3779f9
	return h >> 32 & (1<<31 - 1)
}

// pack packs a word of 1 to 24 bytes.
func pack(w []byte) packedWord {
	const fold = 0x2020202020202020
	switch n := len(w); {
	case n >= 16:
		return packedWord{load8(w) | fold, load8(w[8:]) | fold, load8(w[n-8:]) | fold, n}
	case n >= 8:
		return packedWord{a: load8(w) | fold, c: load8(w[n-8:]) | fold, n: n}
	case n >= 4:
		return packedWord{a: (uint64(binary.LittleEndian.Uint32(w)) | uint64(binary.LittleEndian.Uint32(w[n-4:]))<<32) | fold, n: n}
	default:
		return packedWord{a: (uint64(w[0]) | uint64(w[n/2])<<8 | uint64(w[n-1])<<16) | fold, n: n}
	}
}
