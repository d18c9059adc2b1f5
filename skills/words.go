package skills

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/kljensen/snowball/english"
)

// stopWords are left out of tasks and skills beside those of package english:
// they are how people ask, not what for.
var stopWords = setOf(`please can could would will us me my our we you i want need like let lets
	s t d ll re ve whats hows wheres thing things stuff some any all every each across
	kindly help thanks hello hi just now also then with within using use via per vs versus
	develop developed going go did does do done have has had get gets got give gives
	create creating make making show showing find list tell build generate prepare produce provide write
	present put run compute calculate look see export save
	since until till during between before after ago together bring brings good out uploaded attached turn
	be been being so as at by for from in into of on onto or the to up was were
	how much many what which who whom whose when where why`)

// lightWords say little about which skill is meant, since most tasks hold some.
var lightWords = setOf(`data report analyze analyse analysis file dataset latest last recent current newest review check
	overall complete full detailed short quick brief good shop store business company database table tables
	record records numbers figures artifact markdown csv`)

// lightWeight is what a light word counts, next to 1 for others. 0.3 keeps three
// of them together below one word that says something.
const lightWeight = 0.3

// actWords are acts that change or send something. A skill that does not speak of
// them is never sure to be meant by a task that does, however well the rest fits.
var actWords = setOf(`send mail email deliver notify delete remove drop erase truncate update insert modify
	translate buy purchase pay refund book schedule cancel deploy install upload publish post tweet
	fix repair clean cleanse correct merge encrypt anonymize forecast predict train backup migrate rename`)

// negations turn a task into its opposite, or take something out of it, which no
// skill hears.
var negations = map[string]bool{"not": true, "don": true, "dont": true, "never": true, "without": true, "except": true, "excluding": true}

// tokenForm finds PII tokens in a task. Each stands for one value that no skill
// knows.
var tokenForm = regexp.MustCompile(`(?i)\[?[A-Z][A-Z0-9_]*_[0-9]+_[a-z0-9]{5}\]?`)

// valueTerm is the term that stands for a PII token.
const valueTerm = "\x00value"

// eMail makes one word of the two that the hyphen makes.
var eMail = regexp.MustCompile(`(?i)\be-?mail`)

// term is one word of a task, stemmed.
type term struct {
	stem   string
	weight float64
	act    bool
}

// setOf makes a set of the words of a text, stemmed as terms are.
func setOf(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		set[w], set[stem(w)] = true, true
	}
	return set
}

func stem(word string) string {
	// The British spelling, as in summarise, gets the other's stem.
	if i := strings.LastIndex(word, "is"); i > 3 {
		switch word[i:] {
		case "ise", "ised", "ises", "ising":
			word = word[:i] + "iz" + word[i+2:]
		}
	}
	s := english.Stem(word, false)
	if same, ok := synonyms[s]; ok {
		return same
	}
	return s
}

// synonyms are words that mean one thing where skills are asked for, by their stems.
var synonyms = sameStems(
	"customer client buyer shopper purchaser",
	"revenue turnover income earnings earn",
	"grow growth growing grew",
	"summarize summary",
	"repository repo",
	"excel xlsx workbook spreadsheet",
	"error wrong mistake exception failure",
	"statistics stats statistical statistic",
	"dedupe deduplicate",
	"differentiate derive derivative derivation",
	"integral integrate",
	"analyze analyse analysis",
)

// sameStems maps the stem of each word of a line to that of its first.
func sameStems(lines ...string) map[string]string {
	same := map[string]string{}
	for _, line := range lines {
		words := strings.Fields(line)
		first := english.Stem(words[0], false)
		for _, w := range words[1:] {
			same[english.Stem(w, false)] = first
		}
	}
	return same
}

// termsOf splits a text into terms, each once, without those that say nothing.
func termsOf(text string) []term {
	var terms []term
	seen := map[string]bool{}
	text = eMail.ReplaceAllString(text, "email")
	text = tokenForm.ReplaceAllString(text, " "+valueTerm+" ")
	for _, word := range splitWords(text) {
		t := term{stem: word, weight: 1}
		if negations[word] {
			terms = append(terms, term{stem: "\x00not", act: true})
			continue
		}
		if word != valueTerm {
			if english.IsStopWord(word) || stopWords[word] {
				continue
			}
			t.stem = stem(word)
		}
		if lightWords[t.stem] {
			t.weight = lightWeight
		}
		t.act = actWords[t.stem]
		if !seen[t.stem] {
			seen[t.stem] = true
			terms = append(terms, t)
		}
	}
	return terms
}

// Words of a task that tell a skill's inputs and not which skill is meant.
var (
	periods = regexp.MustCompile(`(?i)\b(?:` +
		`\d{4}-\d{2}(?:-\d{2})?` +
		`|(?:` + months + `)\.?(?:\s+\d{1,2}(?:st|nd|rd|th)?,?)?\s+(?:of\s+)?(?:19|20)\d{2}` +
		`|(?:in|for|of|since|until|during|from|to)\s+(?:` + months + `)` +
		`|q[1-4]|(?:first|second|third|fourth|1st|2nd|3rd|4th)\s+quarter` +
		`|(?:last|latest|past|previous|recent|this|current)\s+(?:\d+\s+|few\s+|two\s+|three\s+|four\s+|six\s+|twelve\s+|full\s+)?(?:day|week|month|quarter|year)s?` +
		`|(?:19|20)\d{2}|today|yesterday|year[\s-]to[\s-]date|ytd)\b`)
	counts = regexp.MustCompile(`(?i)\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|fifty)\b`)
)

const months = `jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?`

// withoutInputs drops from a task the periods and numbers that are inputs of the
// skill; package parameters drops the rest.
func withoutInputs(task string, inputs []declared) string {
	for _, in := range inputs {
		switch in.kind {
		case Date, Month:
			task = periods.ReplaceAllString(task, " ")
		case Integer, Number:
			// A year must not be taken for a number of things.
			task = counts.ReplaceAllStringFunc(task, func(n string) string {
				if len(n) == 4 && n[0] <= '9' {
					return n
				}
				return " "
			})
		}
	}
	return task
}

// splitWords splits a text into words in lower case: at everything that is neither
// letter nor digit, and within camelCase. An apostrophe ends a word.
func splitWords(text string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = word[:0]
		}
	}
	for _, r := range text {
		switch {
		case r == 0 || unicode.IsLetter(r) || unicode.IsDigit(r):
			if unicode.IsUpper(r) && len(word) > 0 && unicode.IsLower(word[len(word)-1]) {
				flush()
			}
			word = append(word, r)
		default:
			flush()
		}
	}
	flush()
	return words
}
