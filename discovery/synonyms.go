package discovery

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed words/synonyms.txt
var synonymsFile string

// maxSkipped is how many words may stand within a phrase: "turn the lights on" is
// "turn on".
const maxSkipped = 2

// thesaurus gives for words and phrases, all as stems, what else they may mean.
type thesaurus struct {
	words   map[string][]string
	phrases map[string][]phrase // by their first stem
}

type phrase struct {
	stems []string
	meant []string
}

// synonyms reads the table once.
var synonyms = sync.OnceValue(func() thesaurus { return readThesaurus(synonymsFile) })

func readThesaurus(text string) thesaurus {
	t := thesaurus{words: map[string][]string{}, phrases: map[string][]phrase{}}
	words := newStemmer()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if meant, others, ok := strings.Cut(line, ":"); ok {
			for other := range strings.SplitSeq(others, ",") {
				t.add(words.stems(other), words.stems(meant))
			}
			continue
		}
		all := strings.Split(strings.Replace(line, "=", ",", 1), ",")
		for _, a := range all {
			for _, b := range all {
				if a != b {
					t.add(words.stems(a), words.stems(b))
				}
			}
		}
	}
	return t
}

func (t thesaurus) add(said, meant []string) {
	to := strings.Join(meant, " ")
	switch {
	case len(said) == 0 || to == "":
		return
	case len(said) == 1:
		t.words[said[0]] = append(t.words[said[0]], to)
		return
	}
	for i, p := range t.phrases[said[0]] {
		if slices.Equal(p.stems, said) {
			t.phrases[said[0]][i].meant = append(p.meant, to)
			return
		}
	}
	t.phrases[said[0]] = append(t.phrases[said[0]], phrase{said, []string{to}})
}

// at finds the longest phrase that begins with the first of words, and where its
// words stand.
func (t thesaurus) at(words []word) (meant []string, places []int) {
	for _, p := range t.phrases[words[0].stem] {
		if found := p.places(words); len(found) > len(places) {
			meant, places = p.meant, found
		}
	}
	return meant, places
}

func (p phrase) places(words []word) []int {
	var found []int
	for i := 0; i < len(words) && i < len(p.stems)+maxSkipped; i++ {
		if words[i].stem == p.stems[len(found)] {
			if found = append(found, i); len(found) == len(p.stems) {
				return found
			}
		}
	}
	return nil
}
