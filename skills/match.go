package skills

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"airlock/ident"
	"airlock/pii"
	"airlock/skills/parameters"
)

// What confidences mean. They order the skills for one task and say how safe it is
// to run the best one unasked; they are no probabilities.
const (
	// Confident is the confidence from which a skill may be run unasked: the task
	// names what the skill is for and asks for little else.
	Confident = 0.6
	// Possible is the confidence from which a skill is worth naming: something of
	// the task fits, something else does not. Below it, nothing does.
	Possible = 0.3
)

// cap for skills that fit but may not be run unasked: a user's single file that
// does not say what it is for, or one whose tools have changed since it was saved.
const unaskedCap = 0.5

// Match is a skill and how well it fits a task.
type Match struct {
	Skill
	Confidence float64
	// Input is a JSON object of what the task tells of its inputs, Missing the names
	// of those that it requires and the task does not tell.
	Input   []byte
	Missing []string
}

// Match ranks the user's skills and those of all for a task, best first. All are
// there, also those that have nothing to do with it, with confidence 0.
//
// A skill's keywords, each a phrase that names what it is for, and its name are
// its anchors. The words of all anchors that occur whole in the task, in any
// order, say how surely the skill is meant: 0.65 for one word that says something,
// 0.88 for two, 0.96 for three. That is lowered by the part of the task's words
// that the skill does not speak of at all: they ask for something else, or for a
// part that the skill would ignore. Beside a file or a formula that the skill takes
// they count little, since they name what is in it. Periods and numbers do not count against a skill
// that declares inputs for them. Words are compared by their stems.
//
// The user's skills are those of the session's copy, as they are there: what
// another session has saved since it was checked out is not listed, so that what is
// listed is what runs.
func (s *Store) Match(userKey string, session ident.Session, task pii.Tokenized, tools Lookup) ([]Match, error) {
	from, err := s.copyOf(userKey, session)
	if err != nil {
		return nil, fmt.Errorf("match skills: %w", err)
	}
	all, err := s.view(userKey, tools, from)
	if err != nil {
		return nil, fmt.Errorf("match skills: %w", err)
	}
	return rank(all, task, time.Now())
}

// Search ranks all of a user's skills for a text, like Match.
func (s *Store) Search(userKey string, text pii.Tokenized, tools Lookup) ([]Match, error) {
	all, err := s.all(userKey, tools)
	if err != nil {
		return nil, fmt.Errorf("search skills: %w", err)
	}
	return rank(all, text, time.Now())
}

func rank(all []parsed, task pii.Tokenized, now time.Time) ([]Match, error) {
	found, told := make([]Match, len(all)), parameters.Of(task.String(), now)
	for i, p := range all {
		inputs := p.parameters()
		values, missing := told.Read(inputs)
		input, err := json.Marshal(values)
		if err != nil {
			return nil, fmt.Errorf("match skills: encode the inputs: %w", err)
		}
		found[i] = Match{Skill: p.Skill, Confidence: p.confidence(task.String(), inputs), Input: input, Missing: missing}
	}
	// Stable, so that equal ones stay in the order library, shared, user.
	slices.SortStableFunc(found, func(a, b Match) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return found, nil
}

// parameters are the inputs as package parameters reads them.
func (p parsed) parameters() []parameters.Input {
	var inputs []parameters.Input
	for _, in := range p.words.inputs {
		inputs = append(inputs, parameters.Input{Name: in.name, Type: string(in.kind), Enum: in.enum, Required: in.required})
	}
	return inputs
}

func (p parsed) confidence(task string, inputs []parameters.Input) float64 {
	rest, given := parameters.Without(task, inputs, valueTerm)
	c := p.words.confidence(termsOf(withoutInputs(rest, p.words.inputs)), given)
	if p.words.vague || len(p.Stale) > 0 {
		c = math.Min(c, unaskedCap)
	}
	return c
}

// vocabulary is what a skill says about itself, as stems.
type vocabulary struct {
	anchors [][]term
	// strong are the words of name and keywords, weak those of the description.
	strong, weak map[string]bool
	inputs       []declared
	// vague says that it gives no description.
	vague bool
}

func newVocabulary(h header) *vocabulary {
	v := &vocabulary{strong: map[string]bool{}, weak: map[string]bool{}, vague: h.description == "", inputs: h.inputs}
	for _, phrase := range append([]string{h.name}, h.keywords...) {
		anchor := termsOf(phrase)
		// Words that most tasks hold name nothing by themselves.
		if weigh(anchor, nil) >= 1 {
			v.anchors = append(v.anchors, anchor)
		}
		for _, t := range anchor {
			v.strong[t.stem] = true
		}
	}
	said := []string{h.description}
	for _, in := range h.inputs {
		said = append(append(said, in.name), in.enum...)
	}
	for _, t := range termsOf(strings.Join(said, " ")) {
		v.weak[t.stem] = true
	}
	return v
}

// weigh adds up the weights of terms, each by a factor if there is one.
func weigh(terms []term, factor func(term) float64) float64 {
	sum := 0.0
	for _, t := range terms {
		w := t.weight
		if factor != nil {
			w *= factor(t)
		}
		sum += w
	}
	return sum
}

// nothingElse is the exponent by which words that the skill does not know lower
// its confidence: with 1.5, one of three leaves 0.54 of it, so that "the weather
// for our best customers" is not taken for a question about customers.
const nothingElse = 1.5

// besideValue is what a word counts that the skill does not know, where the task
// holds a file or a formula that the skill takes: that says more than words, most of
// which name what is in it.
const besideValue = 0.15

func (v *vocabulary) confidence(terms []term, given bool) float64 {
	known := weigh(terms, v.knows)
	unknown := weigh(terms, func(t term) float64 { return 1 - v.knows(t) })
	if given {
		unknown *= besideValue
	}
	if known+unknown == 0 {
		return 0
	}
	covered := known / (known + unknown)
	named := v.named(terms)
	if named == 0 {
		// Only the description has words of it: never more than a possibility.
		return 0.25 * covered
	}
	c := (1 - math.Pow(0.35, named)) * math.Pow(covered, nothingElse)
	if slices.ContainsFunc(terms, func(t term) bool { return t.act && v.knows(t) == 0 }) {
		c = math.Min(c, 0.4)
	}
	return c
}

// knows is 1 for words of name and keywords, a little less for those of the
// description, 0 for others.
func (v *vocabulary) knows(t term) float64 {
	switch {
	case v.strong[t.stem]:
		return 1
	case v.weak[t.stem]:
		return 0.9
	}
	return 0
}

// named is the weight of the task's words that complete an anchor.
func (v *vocabulary) named(terms []term) float64 {
	in := map[string]bool{}
	for _, t := range terms {
		in[t.stem] = true
	}
	hit := map[string]bool{}
	for _, anchor := range v.anchors {
		if !slices.ContainsFunc(anchor, func(t term) bool { return !in[t.stem] }) {
			for _, t := range anchor {
				hit[t.stem] = true
			}
		}
	}
	return weigh(terms, func(t term) float64 {
		if hit[t.stem] {
			return 1
		}
		return 0
	})
}
