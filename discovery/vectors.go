package discovery

import (
	_ "embed"
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"sync"
)

// The vectors of common words; words/README.md says where they come from.
//
//go:embed words/vectors.tsv
var vectorsFile string

// dimensions is the length of a vector.
const dimensions = 96

// vector is the meaning of a word or, as a sum, of a text: the cosine of two is high
// when they mean alike. The length of a word's says how much the word tells.
type vector [dimensions]float32

// lexicon holds the vectors of words, by stem.
type lexicon struct {
	at     map[string]int
	packed []byte // dimensions bytes a word
	rarity []byte // by word: 0 for the commonest of English, 255 for the rarest
}

// words reads the lexicon once. It is made by words/generate and never malformed.
var wordVectors = sync.OnceValue(func() *lexicon { return readLexicon(vectorsFile) })

// readLexicon reads a line for each word: its stem, its rarity and its vector, as
// signed bytes in base64, with tabs between. A line of another form is passed over.
func readLexicon(table string) *lexicon {
	lx := &lexicon{at: make(map[string]int, strings.Count(table, "\n"))}
	for line := range strings.Lines(table) {
		stem, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		rarity, coded, _ := strings.Cut(rest, "\t")
		rare, err := strconv.ParseUint(rarity, 10, 8)
		packed, badBase64 := base64.StdEncoding.DecodeString(coded)
		if err != nil || badBase64 != nil || len(packed) != dimensions {
			continue
		}
		lx.at[stem] = len(lx.rarity)
		lx.rarity = append(lx.rarity, byte(rare))
		lx.packed = append(lx.packed, packed...)
	}
	return lx
}

// vector is the vector of a stem.
func (lx *lexicon) vector(stem string) (vector, bool) {
	i, ok := lx.at[stem]
	if !ok {
		return vector{}, false
	}
	var v vector
	for d := range v {
		v[d] = float32(int8(lx.packed[i*dimensions+d])) //nolint:gosec // the bytes are signed
	}
	return v, true
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
