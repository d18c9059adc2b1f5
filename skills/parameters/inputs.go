package parameters

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kljensen/snowball/english"
)

// Input is a value that a skill declares to take.
type Input struct {
	// Name is the field of the skill's argument, Type one of package skills' types.
	Name, Type string
	// Enum are the values it may have; any if there are none.
	Enum     []string
	Required bool
}

// Task is a task's text and what Told finds in it. It may be read concurrently.
type Task struct {
	text   string
	told   map[string]any
	quoted []string
}

// Of reads a task once, for all skills.
func Of(task string, now time.Time) *Task {
	return &Task{text: task, told: Told(task, now), quoted: quotedTexts(task)}
}

// Read finds the values of a skill's inputs, and the names of those that are required
// and not told. A skill that declares none is given everything that Told finds. The
// values must not be changed.
func (t *Task) Read(inputs []Input) (values map[string]any, missing []string) {
	if len(inputs) == 0 {
		return t.told, nil
	}
	told := t.told
	r := &reader{task: t.text, told: told, inputs: inputs, quoted: slices.Clone(t.quoted)}
	values = map[string]any{}
	for _, in := range r.inOrder() {
		value, ok := r.value(in)
		switch {
		case ok:
			values[in.Name] = value
		case in.Required:
			missing = append(missing, in.Name)
		}
	}
	if period, ok := told["period"]; ok && values["from"] != nil || ok && values["to"] != nil {
		values["period"] = period
	}
	return values, missing
}

// Without is the task less what Read takes for the values of these inputs that no
// word of a skill could match: formulas, and what stands in quotes. A file becomes
// words for its kind, or, where none of the inputs takes one, the word unknown. It
// reports whether the task holds a file or a formula that is an input.
func Without(task string, inputs []Input, unknown string) (rest string, found bool) {
	takesFile := slices.ContainsFunc(inputs, func(in Input) bool { return in.Type == "file" })
	task = fileName.ReplaceAllStringFunc(task, func(name string) string {
		if !takesFile {
			return " " + unknown + " "
		}
		found = true
		return " " + kinds[strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])] + " file "
	})
	for _, in := range inputs {
		switch {
		case in.Type == "formula":
			if f := formula(task); f != "" {
				found = true
				// What is left of it beside, as in "as x approaches 0".
				task = mathLeft.ReplaceAllString(strings.ReplaceAll(task, f, " "), " ")
			}
			task = withoutQuotes(task)
		case in.Type == "string" && len(in.Enum) == 0:
			task = withoutQuotes(task)
		}
	}
	return task, found
}

// kinds are the words for a file by its ending.
var kinds = map[string]string{"csv": "csv", "tsv": "csv", "log": "log", "xlsx": "excel", "json": "json", "jsonl": "json"}

var mathLeft = regexp.MustCompile(`\b(?:[A-Za-z]|\d+)\b`)

func withoutQuotes(task string) string {
	for _, quote := range quotes {
		task = quote.ReplaceAllString(task, " ")
	}
	return task
}

// reader reads one task.
type reader struct {
	task   string
	told   map[string]any
	inputs []Input
	quoted []string // texts in quotes that no input has taken yet
}

// inOrder puts files and formulas first, so that a quoted one is not taken for a
// name, and "names" last, which takes all that is left.
func (r *reader) inOrder() []Input {
	rank := func(in Input) int {
		switch {
		case in.Type == "file" || in.Type == "formula":
			return 0
		case in.Name == "names":
			return 2
		}
		return 1
	}
	sorted := slices.Clone(r.inputs)
	slices.SortStableFunc(sorted, func(a, b Input) int { return rank(a) - rank(b) })
	return sorted
}

func (r *reader) value(in Input) (any, bool) {
	switch in.Type {
	case "string":
		return r.text(in)
	case "integer", "number":
		return r.number(in)
	case "boolean":
		return r.flag(in)
	case "date":
		return r.date(in)
	case "month":
		return r.month()
	case "file":
		return r.file()
	case "formula":
		return r.formula()
	}
	return nil, false
}

func (r *reader) text(in Input) (any, bool) {
	switch {
	case len(in.Enum) > 0:
		return r.choice(in)
	case in.Name == "names":
		return r.quoted, len(r.quoted) > 0
	case r.told[in.Name] != nil:
		return r.told[in.Name], true
	case len(r.quoted) > 0:
		first := r.quoted[0]
		r.quoted = r.quoted[1:]
		return first, true
	}
	return nil, false
}

// choice is the value that the task has a word of, or that Told found.
func (r *reader) choice(in Input) (any, bool) {
	if told, ok := r.told[in.Name].(string); ok && slices.Contains(in.Enum, told) {
		return told, true
	}
	said := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(r.task), func(c rune) bool { return !isWord(c) }) {
		said[english.Stem(word, false)] = true
	}
	var found []string
	for _, value := range in.Enum {
		if said[english.Stem(strings.ToLower(value), false)] {
			found = append(found, value)
		}
	}
	// Two values of which one is meant: better none than a guess.
	if len(found) != 1 {
		return nil, false
	}
	return found[0], true
}

func isWord(c rune) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c > 127 }

// limitNames are inputs that the number of "top 5" is meant for.
var limitNames = []string{"limit", "top", "count", "max", "most"}

func (r *reader) number(in Input) (any, bool) {
	if slices.Contains(limitNames, in.Name) && r.told["limit"] != nil {
		return r.told["limit"], true
	}
	name := regexp.QuoteMeta(strings.ReplaceAll(in.Name, "_", " "))
	const digits = `(-?\d+(?:\.\d+)?)`
	for _, form := range []string{`(?i)\b` + name + `s?\s*(?:of|is|to|=|:)?\s*` + digits + `\b`, `(?i)` + digits + `\s+` + name + `s?\b`} {
		if m := regexp.MustCompile(form).FindStringSubmatch(r.task); m != nil {
			return asNumber(m[1], in.Type)
		}
	}
	return nil, false
}

func asNumber(text, kind string) (any, bool) {
	if kind == "integer" {
		n, err := strconv.Atoi(text)
		return n, err == nil
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil
}

// flag is true where the task names it, false where it says "without" or "no".
func (r *reader) flag(in Input) (any, bool) {
	name := regexp.QuoteMeta(strings.ReplaceAll(in.Name, "_", " "))
	m := regexp.MustCompile(`(?i)(?:\b(without|no|not)\s+(?:the\s+|any\s+|an?\s+)?)?\b` + name + `s?\b`).FindStringSubmatch(r.task)
	if m == nil {
		return nil, false
	}
	return m[1] == "", true
}

// ends are the names of inputs that begin and end a period.
var ends = map[string]string{
	"from": "from", "since": "from", "start": "from", "begin": "from", "after": "from",
	"to": "to", "until": "to", "end": "to", "before": "to",
}

func (r *reader) date(in Input) (any, bool) {
	if end, ok := ends[in.Name]; ok {
		return r.told[end], r.told[end] != nil
	}
	// One day, if the task tells one and not a longer period.
	if from := r.told["from"]; from != nil && (from == r.told["to"] || r.told["to"] == nil) {
		return from, true
	}
	return nil, false
}

func (r *reader) month() (any, bool) {
	from, begins := r.told["from"].(string)
	to, ends := r.told["to"].(string)
	if !begins || !ends || len(from) < 7 || len(to) < 7 || from[:7] != to[:7] {
		return nil, false
	}
	return from[:7], true
}

// fileName finds the name or path of a file by its ending.
var fileName = regexp.MustCompile(`(?i)(?:[\w.-]*/)*[\w.-]*\w\.(?:csv|tsv|xlsx|json|jsonl|log|txt|md|xml|html|ya?ml)\b`)

func (r *reader) file() (any, bool) {
	name := fileName.FindString(r.task)
	if name == "" {
		return nil, false
	}
	r.quoted = slices.DeleteFunc(r.quoted, func(q string) bool { return q == name })
	return name, true
}

func (r *reader) formula() (any, bool) {
	if len(r.quoted) > 0 {
		all := strings.Join(r.quoted, "; ")
		r.quoted = nil
		return all, true
	}
	f := formula(r.task)
	return f, f != ""
}

var (
	// mathWord is a word that a formula may be made of: numbers, names of one letter
	// or of a function, operators and brackets.
	mathWord = regexp.MustCompile(`^(?:(?:sin|cos|tan|asin|acos|atan|sinh|cosh|tanh|log|ln|exp|sqrt|abs|pi)\b|[A-Za-z](?:[^A-Za-z]|$)|[0-9.^*/+=(),-])+$`)
	// strongWord is one that only a formula has.
	strongWord = regexp.MustCompile(`[\^*=+()]|[0-9][A-Za-z]|[A-Za-z0-9]/[A-Za-z0-9]`)
)

// formula is the longest run of words that only a formula is made of; empty if
// there is none.
func formula(task string) string {
	best, begin := "", -1
	close := func(end int) {
		if begin < 0 {
			return
		}
		run := strings.Trim(task[begin:end], " \t\n,;:")
		closed := strings.Count(run, "(") == strings.Count(run, ")")
		if closed && strongWord.MatchString(run) && len(run) > len(best) {
			best = run
		}
		begin = -1
	}
	for _, at := range words.FindAllStringIndex(task, -1) {
		word := strings.TrimRight(task[at[0]:at[1]], ".,;:?!")
		if !isMath(word) {
			close(at[0])
			continue
		}
		if begin < 0 {
			begin = at[0]
		}
		if len(word) < at[1]-at[0] { // a sentence ends here
			close(at[0] + len(word))
		}
	}
	close(len(task))
	return best
}

var words = regexp.MustCompile(`\S+`)

func isMath(word string) bool {
	return word != "" && word != "a" && word != "I" && mathWord.MatchString(word)
}

func quotedTexts(task string) []string {
	input := map[string]any{}
	takeNames(task, input)
	names, _ := input["names"].([]string)
	return names
}
