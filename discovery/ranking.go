package discovery

import (
	"cmp"
	"math"
	"slices"

	"github.com/kljensen/snowball/english"
)

// The constants of Okapi BM25 at their usual values: how fast repeating a word
// stops to count, and how much a long text is held against its tool.
const (
	saturation = 1.2
	lengthPart = 0.75
)

// ranking is an inverted index: for each stem the tools that have it.
type ranking struct {
	postings map[string][]posting
	lengths  []float64 // by tool
	average  float64   // of lengths
}

type posting struct {
	tool      int
	frequency float64 // weighted by field
}

// add enters the next tool with its weighted stem counts.
func (r *ranking) add(counts map[string]float64) {
	if r.postings == nil {
		r.postings = map[string][]posting{}
	}
	tool, length := len(r.lengths), 0.0
	for stem, n := range counts {
		r.postings[stem] = append(r.postings[stem], posting{tool, n})
		length += n
	}
	r.lengths = append(r.lengths, length)
}

// finish is called once, after the last add.
func (r *ranking) finish() {
	total := 0.0
	for _, n := range r.lengths {
		total += n
	}
	if total > 0 {
		r.average = total / float64(len(r.lengths))
	}
}

// term is one stem that a question asks for, and how much finding it counts: 1
// for a word of the question itself.
type term struct {
	stem   string
	weight float64
}

// terms reads a question. Words that could be meant, such as synonyms and
// corrected typos, belong here: as further terms of a lower weight.
func terms(question string) []term {
	var all []term
	seen := map[string]bool{}
	words := newStemmer()
	for _, word := range splitWords(question) {
		stem := words.stem(word)
		if english.IsStopWord(word) || seen[stem] || len(all) == maxTerms {
			continue
		}
		seen[stem] = true
		all = append(all, term{stem, 1})
	}
	return all
}

// maxTerms bounds the work of one search; no honest question has more words.
const maxTerms = 64

// maxQuestion bounds the bytes of a question that are read.
const maxQuestion = 4096

// Search ranks the tools for a question in plain words or a part of a name, best
// first and by name among equals, at most limit of them. Tools that share no
// word with the question are left out.
func (ix *Index) Search(question string, limit int) []Match {
	scores := ix.ranks.scores(terms(head(question, maxQuestion)))
	matches := make([]Match, 0, len(scores))
	for tool, score := range scores {
		matches = append(matches, Match{Name: ix.names[tool], Score: score})
	}
	slices.SortFunc(matches, func(a, b Match) int {
		return cmp.Or(exactFirst(question, a.Name, b.Name), cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name))
	})
	return slices.Clip(matches[:min(max(limit, 0), len(matches))])
}

// exactFirst puts the tool whose very name was asked for before all others.
func exactFirst(question, a, b string) int {
	switch question {
	case a:
		return -1
	case b:
		return 1
	}
	return 0
}

// scores sums up, in the order of the terms so that equal questions give equal
// sums, what each term says for each tool that has it.
func (r *ranking) scores(asked []term) map[int]float64 {
	scores := map[int]float64{}
	for _, t := range asked {
		found := r.postings[t.stem]
		rarity := math.Log(1 + (float64(len(r.lengths)-len(found))+0.5)/(float64(len(found))+0.5))
		for _, p := range found {
			relative := 1 - lengthPart + lengthPart*r.lengths[p.tool]/r.average
			scores[p.tool] += t.weight * rarity * p.frequency * (saturation + 1) / (p.frequency + saturation*relative)
		}
	}
	return scores
}
