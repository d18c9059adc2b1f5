package discovery

import (
	"math"
	"strings"

	"github.com/kljensen/snowball/english"
)

const (
	maxQuestion = 4096 // bytes of a question that are read
	maxConcepts = 48   // that one search looks for; no honest question has more
)

// How much finding something else than the word of the question counts. Chosen
// with those parts of testdata/questions.tsv that may be looked at.
const (
	synonymLikeness  = 0.9
	minCosine        = 0.4  // below it two words are strangers
	cosineLikeness   = 0.8  // of words with the cosine 1
	meaningPart      = 0.2  // of the score
	serverPart       = 0.05 // of the score
	namePart         = 0.08 // of the score
	wholeFrequency   = 0.5  // from here on a stem belongs wholly to what a tool means
	mismatch         = 0.75 // is left of the score of a tool that does another kind of thing
	tellingFrequency = 0.25 // a stem with less in every tool is in passing only
	phraseWeight     = 0.7  // of words that a phrase has explained
	misspelling      = 0.15 // lost by each slip
	unknownRarity    = 0.8  // of a word in no tool, as part of the highest
)

// asked is what a question looks for.
type asked struct {
	concepts []concept
	weight   float64 // of all concepts
	meaning  vector
	meant    float64 // the weight of the words that meaning is made of
	intent   intent
}

// concept is one word or phrase of a question with all that it may mean.
type concept struct {
	weight       float64
	alternatives []alternative
}

// alternative is an indexed stem that answers for a concept, or several that do so
// together.
type alternative struct {
	stem     int
	likeness float64 // 1 for the word itself
	also     []int   // stems that a tool must have too
}

// word is one word of a question.
type word struct {
	stem   string
	idle   bool    // says nothing by itself: a stop word
	weight float64 // how much it tells
}

func (r *ranking) read(question string) asked {
	a := asked{intent: intentOf(question)}
	said := synonyms()
	words := r.words(question)
	explained := make([]bool, len(words))
	for from := range words {
		meant, places := said.at(words[from:])
		if meant == nil {
			continue
		}
		c := concept{}
		for _, i := range places {
			c.weight = max(c.weight, words[from+i].weight) // as the heaviest word
			explained[from+i] = true
		}
		c.addMeant(r, meant, 1)
		for _, m := range meant { // whose tool may use yet another word
			c.addMeant(r, said.words[m], synonymLikeness)
		}
		a.take(c)
	}
	for i, w := range words {
		if w.idle || len(a.concepts) == maxConcepts {
			continue
		}
		if explained[i] {
			w.weight *= phraseWeight
		}
		a.addWord(r, w, said.words[w.stem])
	}
	a.meaning = a.meaning.unit()
	return a
}

// words reads the words of a question, each stem once unless it is idle.
func (r *ranking) words(question string) []word {
	var all []word
	seen := map[string]bool{}
	stems, lx := newStemmer(), wordVectors()
	for _, text := range splitWords(question) {
		stem := stems.stem(text)
		w := word{stem: stem, idle: english.IsStopWord(text) || seen[stem]}
		seen[stem] = true
		w.weight = unknownRarity * r.highestRarity()
		if i, ok := r.number[stem]; ok {
			w.weight = r.rarity(i)
		}
		w.weight *= lx.commonness(stem)
		all = append(all, w)
	}
	return all
}

func (r *ranking) highestRarity() float64 { return math.Log(1 + (float64(len(r.lengths))+0.5)/1.5) }

func (a *asked) addWord(r *ranking, w word, meant []string) {
	c := concept{weight: w.weight}
	if i, ok := r.number[w.stem]; ok {
		c.alternatives = append(c.alternatives, alternative{stem: i, likeness: 1})
	}
	c.addMeant(r, meant, synonymLikeness)
	v, known := wordVectors().vector(w.stem)
	if !known && len(c.alternatives) == 0 {
		c.addMisspelt(r, w.stem)
	}
	if known {
		a.meaning.addScaled(&v, 1)
		a.meant += w.weight
		unit := v.unit()
		c.addLikes(r, &unit)
	}
	a.take(c)
}

func (a *asked) take(c concept) {
	a.weight += c.weight
	if len(c.alternatives) > 0 {
		a.concepts = append(a.concepts, c)
	}
}

// addMeant adds the stems of synonyms. A tool must have all words of a phrase.
func (c *concept) addMeant(r *ranking, meant []string, likeness float64) {
	for _, phrase := range meant {
		var numbers []int
		for stem := range strings.FieldsSeq(phrase) {
			i, ok := r.number[stem]
			if !ok {
				numbers = nil
				break
			}
			numbers = append(numbers, i)
		}
		if len(numbers) > 0 {
			c.alternatives = append(c.alternatives, alternative{stem: numbers[0], likeness: likeness, also: numbers[1:]})
		}
	}
}

// addLikes adds the stems that are used like a word.
func (c *concept) addLikes(r *ranking, v *vector) {
	for i := range r.meanings {
		m := &r.meanings[i]
		if cosine := float64(v.dot(&m.vector)); cosine > minCosine {
			c.alternatives = append(c.alternatives, alternative{stem: m.stem, likeness: cosineLikeness * (cosine - minCosine) / (1 - minCosine)})
		}
	}
}

// minMisspelt is the shortest word that is taken for a misspelt one.
const minMisspelt = 4

// addMisspelt adds the stems that an unknown word is one slip away from, or two
// when it is long. The first letter is seldom wrong, and comparing only stems that
// share it bounds the work.
func (c *concept) addMisspelt(r *ranking, stem string) {
	slips := 1
	if len(stem) >= 8 {
		slips = 2
	}
	if len(stem) < minMisspelt {
		return
	}
	for i, other := range r.stems {
		if other[0] != stem[0] || len(other) < minMisspelt || len(other)-len(stem) > slips || len(stem)-len(other) > slips {
			continue
		}
		if d := editDistance(stem, other); d <= slips {
			c.alternatives = append(c.alternatives, alternative{stem: i, likeness: 1 - misspelling*float64(d)})
		}
	}
}
