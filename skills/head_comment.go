package skills

import (
	"regexp"
	"strings"
)

// commentMarks are what surrounds a comment's text on its lines.
var commentMarks = regexp.MustCompile(`^\s*(/\*+|\*+/|\*|//+|#+|"""|''')?\s?`)

// labels are the lines of a head comment that say more than the description.
var labels = []struct {
	label string
	read  func(*header, string)
}{
	{"keywords:", func(h *header, rest string) { h.keywords = splitList(rest, maxKeywords) }},
	{"inputs:", func(h *header, rest string) { h.inputs = readInputList(rest) }},
	{"example:", func(h *header, rest string) { h.example = cutRunes(strings.TrimSpace(rest), maxScript/4) }},
	{"test:", func(h *header, rest string) { h.test = cutRunes(strings.TrimSpace(rest), maxScript/4) }},
}

// headComment reads the description from the comment that a single file begins
// with: its first paragraph. Lines such as "Keywords: a, b" and "Inputs: limit
// integer, from date" say more.
func headComment(code string) header {
	var h header
	var description []string
	done := false
	for _, line := range commentLines(code) {
		line = strings.TrimSpace(commentMarks.ReplaceAllString(line, ""))
		switch {
		case h.readLabel(line):
			done = true
		case line == "" || strings.HasPrefix(line, "@"):
			done = done || len(description) > 0
		case !done:
			description = append(description, line)
		}
	}
	h.description = cutRunes(strings.Join(strings.Fields(strings.Join(description, " ")), " "), maxDescription)
	return h
}

// commentLines are the lines of the comment at the head of a script, after blank
// lines, an interpreter line and "use strict".
func commentLines(code string) []string {
	var lines []string
	closing := "" // what ends the block comment we are in
	for line := range strings.Lines(code) {
		s := strings.TrimSpace(line)
		opened := 0
		if closing == "" && len(lines) == 0 {
			if skipped(s) {
				continue
			}
			closing, opened = blockStart(s)
		}
		switch {
		case closing != "":
			text, _, closes := strings.Cut(s[opened:], closing)
			lines = append(lines, s[:opened]+text)
			if closes {
				return lines
			}
		case strings.HasPrefix(s, "//"), strings.HasPrefix(s, "#"):
			lines = append(lines, s)
		default:
			return lines
		}
		if len(lines) > 100 {
			return lines
		}
	}
	return lines
}

// skipped are the lines that may stand before the comment.
func skipped(line string) bool {
	return line == "" || strings.HasPrefix(line, "#!") || strings.Trim(line, `'";`) == "use strict"
}

// blockStart tells what ends the block that a line opens, and the length of what
// opens it; "" if it opens none.
func blockStart(line string) (closing string, opening int) {
	for _, block := range []struct{ opens, closes string }{{"/*", "*/"}, {`"""`, `"""`}, {"'''", "'''"}} {
		if strings.HasPrefix(line, block.opens) {
			return block.closes, len(block.opens)
		}
	}
	return "", 0
}

func (h *header) readLabel(line string) bool {
	for _, l := range labels {
		if rest, found := cutPrefixFold(line, l.label); found {
			l.read(h, rest)
			return true
		}
	}
	return false
}

func splitList(s string, most int) []string {
	var kept []string
	for word := range strings.SplitSeq(s, ",") {
		if word = strings.TrimSpace(word); word != "" && len(kept) < most {
			kept = append(kept, cutRunes(word, 128))
		}
	}
	return kept
}

// readInputList reads "limit integer, region north|south": a name and a type, or
// the values it may have. What has another form is left out.
func readInputList(s string) []declared {
	var inputs []declared
	for _, item := range splitList(s, maxInputs) {
		name, kind, _ := strings.Cut(item, " ")
		in := declared{name: name, kind: InputType(strings.TrimSpace(kind))}
		if strings.Contains(kind, "|") {
			in.kind = String
			for value := range strings.SplitSeq(kind, "|") {
				in.enum = append(in.enum, strings.TrimSpace(value))
			}
		}
		if inputForm.MatchString(name) && inputTypes[in.kind] && len(in.enum) <= maxEnum {
			inputs = append(inputs, in)
		}
	}
	return inputs
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// cutRunes shortens a text to at most max characters.
func cutRunes(s string, max int) string {
	n := 0
	for i := range s {
		if n == max {
			return s[:i]
		}
		n++
	}
	return s
}
