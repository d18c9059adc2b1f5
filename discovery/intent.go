package discovery

import "strings"

// intent is what kind of thing a question wants done, or a tool does.
type intent int

const (
	anyIntent    intent = iota // not known
	readIntent                 // to learn something
	writeIntent                // to make or to change something
	deleteIntent               // to get rid of something
)

// The first words of a question, and the words in a tool's name, that tell. Verbs
// that do either, such as run and start, are left out.
var (
	readWords   = wordSet("get list find search show read describe query count view fetch retrieve check see look tell what which who whose where when why is are was were did does do has have how many much compare inspect")
	writeWords  = wordSet("create make add update set edit write insert post put patch publish unpublish rename move approve resolve upload register install merge transfer send push change new save mark raise assign append modify turn switch invite give open book propose increase lower fix replace restore copy fork duplicate")
	deleteWords = wordSet("delete remove drop erase destroy kill forget clear uninstall discard purge clean unregister terminate throw evict cancel revoke disconnect")
)

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// maxPolite is how many words may stand before the one that tells.
const maxPolite = 6

// intentOf reads what a question wants. "How do I" and "I need to" say nothing.
func intentOf(question string) intent {
	words := splitWords(question)
	text := " " + strings.Join(words, " ") + " "
	for _, phrase := range []string{" get rid of ", " throw away ", " take out ", " take away ", " kick out ", " shut down "} {
		if strings.Contains(text, phrase) {
			return deleteIntent
		}
	}
	for i, w := range words[:min(len(words), maxPolite)] {
		switch {
		case w == "how" && i+1 < len(words) && (words[i+1] == "do" || words[i+1] == "can" || words[i+1] == "to"):
			return intentOf(strings.Join(words[i+2:], " "))
		case deleteWords[w]:
			return deleteIntent
		case writeWords[w]:
			return writeIntent
		case readWords[w]:
			return readIntent
		}
	}
	return anyIntent
}

// intentOfTool reads what a tool does from its name.
func intentOfTool(name string) intent {
	found := anyIntent
	for _, w := range splitWords(name) {
		switch {
		case deleteWords[w]:
			return deleteIntent
		case writeWords[w] && found == anyIntent:
			found = writeIntent
		case readWords[w] && found == anyIntent:
			found = readIntent
		}
	}
	return found
}

// agreement is what is left of a tool's score, by what is wanted and what it does.
func agreement(wanted, does intent) float64 {
	if wanted == anyIntent || does == anyIntent || wanted == does {
		return 1
	}
	return mismatch
}
