// Package parameters reads from the text of a task what a skill wants to know.
//
// Told reads what every task may tell:
//
//	from, to  the period, ISO dates, both inclusive; either may be missing
//	year      if the period is one calendar year
//	period    the words that told the period: "last month", "Q1 2024"
//	by        the grouping: day, week, month, quarter, year, or another dimension
//	limit     the number of "top 5", "10 largest", "limit to 20"
//	names     what stands in quotes, in order
//
// Task.Read gives each input that a skill declares a value by its type and name. Both
// read texts whose personal values are tokens, and know no personal data.
package parameters

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Told reads the parameters that the package's comment lists. What is not told is
// not there.
func Told(task string, now time.Time) map[string]any {
	input := map[string]any{}
	rest := takeNames(task, input)
	rest = takeLimit(rest, input)
	rest = takePeriod(rest, now, input)
	takeGrouping(rest, input)
	return input
}

var quotes = []*regexp.Regexp{
	regexp.MustCompile(`"([^"\n]{1,100})"`),
	regexp.MustCompile(`“([^”\n]{1,100})”`),
	regexp.MustCompile("`([^`\n]{1,100})`"),
	// Apostrophes within and after words do not quote.
	regexp.MustCompile(`(?:^|[\s(])'([^'\n]{1,100})'(?:$|[\s).,;:!?])`),
}

// takeNames moves what stands in quotes from the text to the input.
func takeNames(text string, input map[string]any) string {
	var names []string
	for _, quote := range quotes {
		text = quote.ReplaceAllStringFunc(text, func(match string) string {
			names = append(names, quote.FindStringSubmatch(match)[1])
			return " "
		})
	}
	if names != nil {
		input["names"] = names
	}
	return text
}

const (
	count       = `(\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|fifty|hundred)`
	superlative = `(?:top|best|biggest|largest|highest|most|worst|lowest|smallest|bottom)`
)

// limits are tried in turn. A unit of time after the number makes it a period.
var limits = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:` + superlative + `|first)[\s-]+` + count + `\b(\s+(?:days?|weeks?|months?|quarters?|years?)\b)?`),
	regexp.MustCompile(`(?i)\b` + count + `\s+` + superlative + `\b()`),
	regexp.MustCompile(`(?i)\blimit(?:ed)?(?:\s+(?:it\s+)?to)?\s+` + count + `\b()`),
}

var numbers = map[string]int{
	"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20, "fifty": 50, "hundred": 100,
}

// number reads digits or a word that count matches.
func number(s string) int {
	if n, ok := numbers[strings.ToLower(s)]; ok {
		return n
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// takeLimit moves the number of things wanted from the text to the input.
func takeLimit(text string, input map[string]any) string {
	for _, limit := range limits {
		at := limit.FindStringSubmatchIndex(text)
		if at == nil || at[4] < at[5] {
			continue
		}
		if n := number(text[at[2]:at[3]]); n > 0 {
			input["limit"] = n
			return text[:at[0]] + " " + text[at[1]:]
		}
	}
	return text
}

// groupings are tried in turn: a unit of time tells more than what else the task
// groups by, since "the monthly trend by region" is still a trend.
var groupings = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(?:by|per|each|every)\s+(day|week|month|quarter|year)\b`),
	regexp.MustCompile(`(?i)\b(daily|weekly|monthly|quarterly|yearly|annual(?:ly)?)\b`),
	regexp.MustCompile(`(?i)\b(?:by|per|each|every)\s+(region|category|product|customer|country|city)\b`),
}

// adverbs whose unit is not the word without its "ly".
var adverbs = map[string]string{"daily": "day", "annual": "year", "annually": "year"}

func takeGrouping(text string, input map[string]any) {
	for _, grouping := range groupings {
		m := grouping.FindStringSubmatch(text)
		if m == nil {
			continue
		}
		by := strings.ToLower(m[1])
		if unit, ok := adverbs[by]; ok {
			by = unit
		}
		input["by"] = strings.TrimSuffix(by, "ly")
		return
	}
}
