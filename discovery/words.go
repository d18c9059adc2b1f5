package discovery

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kljensen/snowball/english"
)

// maxWord is the longest word that is indexed, in bytes: longer ones are data,
// such as base64 in an example.
const maxWord = 40

// stemmer turns text into the stems of its words. It remembers stems, since the
// descriptions of a thousand tools use few different words. Not for concurrent use.
type stemmer struct{ known map[string]string }

func newStemmer() *stemmer { return &stemmer{known: map[string]string{}} }

// stems lists the stems of all words in text, in order, repeated as they occur.
func (s *stemmer) stems(text string) []string {
	var all []string
	for _, word := range splitWords(text) {
		all = append(all, s.stem(word))
	}
	return all
}

func (s *stemmer) stem(word string) string {
	if stem, ok := s.known[word]; ok {
		return stem
	}
	stem := english.Stem(word, true)
	s.known[word] = stem
	return stem
}

// splitWords cuts text into lower-case words, and identifiers into their parts:
// "listPullRequests" gives list, pull, requests and also listpullrequests, so
// that "github" finds GitHub and "pull" finds it too.
func splitWords(text string) []string {
	var words []string
	for _, run := range wordRuns(text) {
		parts := lowerParts(run)
		words = append(words, parts...)
		if len(parts) > 1 {
			words = append(words, strings.ToLower(run))
		}
	}
	return words
}

// splitName is splitWords without whole identifiers.
func splitName(name string) []string {
	var words []string
	for _, run := range wordRuns(name) {
		words = append(words, lowerParts(run)...)
	}
	return words
}

// wordRuns lists the runs of letters and digits that may be words.
func wordRuns(text string) []string {
	runs := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.DeleteFunc(runs, func(run string) bool { return len(run) > maxWord })
}

func lowerParts(run string) []string {
	parts := splitIdentifier(run)
	for i, p := range parts {
		parts[i] = strings.ToLower(p)
	}
	return parts
}

// splitIdentifier cuts where a capital begins a word: "HTTPServer" is HTTP and
// Server. Digits stay with what they follow, as in s3 and k8s.
func splitIdentifier(s string) []string {
	var parts []string
	runes, begin := []rune(s), 0
	for i := 1; i < len(runes); i++ {
		afterLower := unicode.IsUpper(runes[i]) && !unicode.IsUpper(runes[i-1])
		lastOfCapitals := unicode.IsUpper(runes[i-1]) && unicode.IsUpper(runes[i]) &&
			i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if afterLower || lastOfCapitals {
			parts = append(parts, string(runes[begin:i]))
			begin = i
		}
	}
	return append(parts, string(runes[begin:]))
}

// head is the beginning of s, at most max bytes of whole runes.
func head(s string, max int) string {
	if len(s) <= max {
		return s
	}
	for max > 0 && !utf8.RuneStart(s[max]) {
		max--
	}
	return s[:max]
}
