package discovery

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed words/synonyms.txt
var synonymsFile string

// maxPhrase is the longest phrase of the synonyms, in words.
const maxPhrase = 5

// thesaurus gives for a phrase, its stems parted by blanks, what else it may mean.
type thesaurus map[string][]string

// synonyms reads the table once.
var synonyms = sync.OnceValue(func() thesaurus { return readThesaurus(synonymsFile) })

func readThesaurus(text string) thesaurus {
	said := thesaurus{}
	words := newStemmer()
	phrase := func(s string) string { return strings.Join(words.stems(s), " ") }
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if meant, others, ok := strings.Cut(line, ":"); ok {
			for other := range strings.SplitSeq(others, ",") {
				said.add(phrase(other), phrase(meant))
			}
			continue
		}
		all := strings.Split(strings.Replace(line, "=", ",", 1), ",")
		for _, a := range all {
			for _, b := range all {
				if a != b {
					said.add(phrase(a), phrase(b))
				}
			}
		}
	}
	return said
}

func (t thesaurus) add(said, meant string) {
	if said != "" && meant != "" {
		t[said] = append(t[said], meant)
	}
}
