package discovery

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// The constants of Okapi BM25: how fast repeating a word stops to count, and how
// much a long text is held against its tool.
const (
	saturation = 2.0
	lengthPart = 0.5
)

// ranking is an inverted index: for each stem the tools that have it, and the
// meanings of stems and tools.
type ranking struct {
	number   map[string]int // of stems
	stems    []string
	postings [][]posting // by stem
	lengths  []float64   // by tool
	average  float64     // of lengths
	meanings []meaning   // of the stems that stand in names and first sentences
	tools    []vector    // by tool
	servers  []int       // by tool
	sizes    []int       // of servers, in tools
	intents  []intent    // by tool
	called   [][]int     // by tool: the stems of its name, but for what all of its server share
}

type posting struct {
	tool      int
	frequency float64 // weighted by field; after finish, saturated to 0..1
}

// meaning is the vector of an indexed stem.
type meaning struct {
	stem int
	vector
}

// add enters the next tool with its weighted stem counts. Tools of one server come
// one after the other.
func (r *ranking) add(counts map[string]float64, newServer bool) {
	if newServer {
		r.sizes = append(r.sizes, 0)
	}
	r.servers = append(r.servers, len(r.sizes)-1)
	r.sizes[len(r.sizes)-1]++
	if r.number == nil {
		r.number = map[string]int{}
	}
	tool, length := len(r.lengths), 0.0
	for _, stem := range slices.Sorted(maps.Keys(counts)) { // sums of floats depend on their order
		n := counts[stem]
		i, ok := r.number[stem]
		if !ok {
			i = len(r.stems)
			r.number[stem] = i
			r.stems = append(r.stems, stem)
			r.postings = append(r.postings, nil)
		}
		r.postings[i] = append(r.postings[i], posting{tool, n})
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
	for _, found := range r.postings {
		for i, p := range found {
			relative := 1 - lengthPart + lengthPart*r.lengths[p.tool]/r.average
			found[i].frequency = p.frequency * (1 + saturation) / (p.frequency + saturation*relative) / (1 + saturation)
		}
	}
	r.learnMeanings()
}

// learnMeanings finds the vectors of the stems, and for each tool the sum of the
// vectors of its stems by how much each tells about it.
func (r *ranking) learnMeanings() {
	lx := wordVectors()
	r.tools = make([]vector, len(r.lengths))
	for i, stem := range r.stems {
		v, ok := lx.vector(stem)
		if !ok {
			continue
		}
		telling := false
		for _, p := range r.postings[i] {
			telling = telling || p.frequency >= tellingFrequency
			r.tools[p.tool].addScaled(&v, float32(min(1, p.frequency/wholeFrequency)))
		}
		if telling {
			r.meanings = append(r.meanings, meaning{i, v.unit()})
		}
	}
	slices.SortFunc(r.meanings, func(a, b meaning) int { return cmp.Compare(r.stems[a.stem], r.stems[b.stem]) })
	for t := range r.tools {
		r.tools[t] = r.tools[t].unit()
	}
}

// rarity is how much a stem tells by being in few tools (the idf of BM25).
func (r *ranking) rarity(stem int) float64 {
	n := float64(len(r.postings[stem]))
	return math.Log(1 + (float64(len(r.lengths))-n+0.5)/(n+0.5))
}

// relevantPart of the best score is what a match must have more than to be told.
const relevantPart = 0.5

// Search ranks the tools for a question in plain words or a part of a name, best
// first and by name among equals, at most limit of them. Tools that answer it
// far less well than the best are left out; that one may still be a guess: see
// Fits.
func (ix *Index) Search(question string, limit int) []Match {
	scores := ix.ranks.scores(ix.ranks.read(head(question, maxQuestion)))
	if tool, named := slices.BinarySearch(ix.names, question); named {
		scores[tool] = 1 // no other can have: a word of a tool counts less than wholly
	}
	var found []int
	least := relevantPart * slices.Max(append(scores, 0))
	for tool, score := range scores {
		if score > least {
			found = append(found, tool)
		}
	}
	slices.SortFunc(found, func(a, b int) int {
		if c := cmp.Compare(scores[b], scores[a]); c != 0 {
			return c
		}
		return a - b // tools are numbered by name
	})
	found = found[:min(max(limit, 0), len(found))]
	matches := make([]Match, 0, len(found))
	for _, tool := range found {
		matches = append(matches, Match{Name: ix.names[tool], Score: scores[tool]})
	}
	return matches
}

// scores says for each tool how well it answers, from 0 to 1: how much of what was
// asked its words explain, and how alike the two are as a whole.
func (r *ranking) scores(asked asked) []float64 {
	scores, best := make([]float64, len(r.lengths)), make([]float64, len(r.lengths))
	if asked.weight == 0 {
		return scores
	}
	for _, c := range asked.concepts {
		clear(best)
		for _, alternative := range c.alternatives {
			for _, p := range r.postings[alternative.stem] {
				best[p.tool] = max(best[p.tool], alternative.likeness*r.together(p, alternative.also))
			}
		}
		for tool, b := range best {
			scores[tool] += c.weight * b
		}
	}
	fitting := r.fittingServers(scores)
	likeness := r.likenesses(asked)
	meaning := meaningPart * min(1, asked.meant/asked.weight)
	for tool, explained := range scores {
		if explained == 0 {
			continue
		}
		scores[tool] = (1-meaningPart-serverPart-namePart)*explained/asked.weight +
			meaning*max(0, float64(asked.meaning.dot(&r.tools[tool]))) +
			serverPart*fitting[r.servers[tool]] +
			namePart*r.covered(tool, likeness)
		scores[tool] *= agreement(asked.intent, r.intents[tool])
	}
	return scores
}

// fittingServers says for each server, from 0 to 1, how well its tools explain the
// question on average, beside those of the server that do best: among tools that
// answer alike, one whose server is about the matter is more likely meant.
func (r *ranking) fittingServers(explained []float64) []float64 {
	fitting := make([]float64, len(r.sizes))
	for tool, e := range explained {
		fitting[r.servers[tool]] += e / float64(r.sizes[r.servers[tool]])
	}
	if best := slices.Max(append(fitting, 0)); best > 0 {
		for i := range fitting {
			fitting[i] /= best
		}
	}
	return fitting
}

// likenesses says for each stem how well it answers for a word of the question.
func (r *ranking) likenesses(asked asked) []float64 {
	all := make([]float64, len(r.stems))
	for _, c := range asked.concepts {
		for _, a := range c.alternatives {
			all[a.stem] = max(all[a.stem], a.likeness)
			for _, stem := range a.also {
				all[stem] = max(all[stem], a.likeness)
			}
		}
	}
	return all
}

// covered says how much of a tool's name was asked for: of create_collection and
// create_collection_comment the first is meant by who wants a collection.
func (r *ranking) covered(tool int, likeness []float64) float64 {
	sum, all := 0.0, 0.0
	for _, stem := range r.called[tool] {
		weight := r.rarity(stem)
		sum += weight * likeness[stem]
		all += weight
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

// together is the mean frequency of a stem and of others that the same tool has, or
// 0 if it lacks one.
func (r *ranking) together(p posting, also []int) float64 {
	sum := p.frequency
	for _, stem := range also {
		found := r.postings[stem]
		i, ok := slices.BinarySearchFunc(found, p.tool, func(q posting, tool int) int { return q.tool - tool })
		if !ok {
			return 0
		}
		sum += found[i].frequency
	}
	return sum / float64(1+len(also))
}
