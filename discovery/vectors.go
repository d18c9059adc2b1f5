package discovery

import (
	_ "embed"
	"math"
	"sync"
)

// The vectors of common words; words/README.md says where they come from.
//
//go:embed words/vectors.bin
var vectorsFile []byte

// dimensions is the length of a vector.
const dimensions = 64

// vector is the meaning of a word: the cosine of two vectors is high when the
// words are used alike.
type vector [dimensions]float32

// lexicon holds the vectors of words, by stem.
type lexicon struct {
	at     map[string]int
	packed []byte // dimensions bytes a word
	rarity []byte // by word: 0 for the commonest of English, 255 for the rarest
}

// words reads the lexicon once. It is made by words/generate and never malformed.
var wordVectors = sync.OnceValue(func() *lexicon { return readLexicon(vectorsFile) })

// readLexicon reads, for each word, the length of its stem in one byte, the stem,
// the rarity in one byte and the vector in signed bytes.
func readLexicon(data []byte) *lexicon {
	lx := &lexicon{at: make(map[string]int, len(data)/(dimensions+8))}
	for len(data) > 0 {
		n := int(data[0])
		if len(data) < n+2+dimensions {
			break
		}
		lx.at[string(data[1:n+1])] = len(lx.rarity)
		lx.rarity = append(lx.rarity, data[n+1])
		lx.packed = append(lx.packed, data[n+2:n+2+dimensions]...)
		data = data[n+2+dimensions:]
	}
	return lx
}

// vector is the unit vector of a stem.
func (lx *lexicon) vector(stem string) (vector, bool) {
	i, ok := lx.at[stem]
	if !ok {
		return vector{}, false
	}
	var v vector
	for d := range v {
		v[d] = float32(int8(lx.packed[i*dimensions+d])) //nolint:gosec // the bytes are signed
	}
	return v.unit(), true
}

// commonness lowers the weight of words that everybody uses in every question.
func (lx *lexicon) commonness(stem string) float64 {
	i, ok := lx.at[stem]
	if !ok {
		return 1
	}
	return float64(lx.rarity[i]) / 255
}

func (v vector) unit() vector {
	length := float32(math.Sqrt(float64(v.dot(&v))))
	if length == 0 {
		return v
	}
	for d := range v {
		v[d] /= length
	}
	return v
}

// dot is written for four sums side by side, which is twice as fast as one.
func (v *vector) dot(w *vector) float32 {
	var a, b, c, d float32
	for i := 0; i < dimensions; i += 4 {
		a += v[i] * w[i]
		b += v[i+1] * w[i+1]
		c += v[i+2] * w[i+2]
		d += v[i+3] * w[i+3]
	}
	return a + b + c + d
}

func (v *vector) addScaled(w *vector, by float32) {
	for d := range v {
		v[d] += w[d] * by
	}
}
