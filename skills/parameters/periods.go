package parameters

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// span is a period of whole days, both ends inclusive; a zero end is open.
type span struct{ from, to time.Time }

// periodRule reads one way of telling a period. read gets the groups of pattern
// and today; it may decline.
type periodRule struct {
	pattern *regexp.Regexp
	read    func(groups []string, today time.Time) (span, bool)
}

const (
	isoDate = `(\d{4}-\d{2}-\d{2})`
	month   = `(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	year    = `((?:19|20)\d{2})`
	until   = `\s*(?:to|until|till|through|and|–|—|-|\.\.)\s*`
	unit    = `(day|week|month|quarter|year)`
	earlier = `(?:last|past|previous|recent)`
)

// periodRules are tried in this order: what says more comes first.
var periodRules = []periodRule{
	{phrase(isoDate + until + isoDate), betweenDates},
	{phrase(`(since|from|starting|until|till|before|through|by)\s+` + isoDate), openDates},
	{phrase(isoDate), func(g []string, _ time.Time) (span, bool) { return dates(g[1], g[1]) }},
	{phrase(`q([1-4])[\s/-]*` + year), func(g []string, _ time.Time) (span, bool) { return quarters(g[1], g[2]) }},
	{phrase(year + `[\s/-]*q([1-4])`), func(g []string, _ time.Time) (span, bool) { return quarters(g[2], g[1]) }},
	{phrase(`(first|second|third|fourth|1st|2nd|3rd|4th)\s+quarter\s+(?:of\s+|in\s+)?` + year), ordinalQuarter},
	{phrase(month + until + month + `\s+` + year), monthsOfYear},
	{phrase(month + `\.?,?\s+(?:of\s+)?` + year), func(g []string, _ time.Time) (span, bool) { return months(g[1], g[1], g[2]) }},
	{phrase(`(\d{4})-(0[1-9]|1[0-2])`), numericMonth},
	{phrase(earlier + `\s+` + count + `\s+` + unit + `s?`), lastUnits},
	{phrase(`(last|past|previous|this|current)\s+` + unit), oneUnit},
	{phrase(`(today|yesterday)`), oneDay},
	{phrase(`(?:year[\s-]+to[\s-]+date|ytd)`), func(_ []string, today time.Time) (span, bool) {
		return span{unitStart("year", today), today}, true
	}},
	{phrase(`q([1-4])`), recentQuarter},
	{phrase(`(?:in|during|for|of|since)\s+` + month), recentMonth},
	{phrase(year + until + year), func(g []string, _ time.Time) (span, bool) { return years(g[1], g[2]) }},
	{phrase(`(since|until|before)\s+` + year), openYear},
	// Amounts may look like years: "over 2000", "$1999", "2000.50".
	{regexp.MustCompile(`(?i)(over|under|than|least|most|about|exactly|[$€£#]|\b)\s*` + year + `\b([.,-]\d|\s*[%€£])?`), singleYear},
}

// phrase matches whole words of any case.
func phrase(pattern string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b` + pattern + `\b`) }

// takePeriod moves the first period that is told from the text to the input.
func takePeriod(text string, now time.Time, input map[string]any) string {
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	for _, rule := range periodRules {
		for _, at := range rule.pattern.FindAllStringSubmatchIndex(text, -1) {
			period, ok := rule.read(groups(text, at), today)
			if !ok {
				continue
			}
			input["period"] = strings.TrimSpace(text[at[0]:at[1]])
			period.put(input)
			return text[:at[0]] + " " + text[at[1]:]
		}
	}
	return text
}

func groups(text string, at []int) []string {
	found := make([]string, len(at)/2)
	for i := range found {
		if at[2*i] >= 0 {
			found[i] = strings.ToLower(text[at[2*i]:at[2*i+1]])
		}
	}
	return found
}

func (s span) put(input map[string]any) {
	if !s.from.IsZero() {
		input["from"] = s.from.Format(time.DateOnly)
	}
	if !s.to.IsZero() {
		input["to"] = s.to.Format(time.DateOnly)
	}
	y := s.from.Year()
	if !s.from.IsZero() && s.from.Equal(newYear(y)) && s.to.Equal(newYear(y+1).AddDate(0, 0, -1)) {
		input["year"] = y
	}
}

func newYear(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }

func dates(first, last string) (span, bool) {
	from, err := time.Parse(time.DateOnly, first)
	if err != nil {
		return span{}, false
	}
	to, err := time.Parse(time.DateOnly, last)
	if err != nil {
		return span{}, false
	}
	if to.Before(from) {
		from, to = to, from
	}
	return span{from, to}, true
}

func betweenDates(g []string, _ time.Time) (span, bool) { return dates(g[1], g[2]) }

func openDates(g []string, _ time.Time) (span, bool) {
	s, ok := dates(g[2], g[2])
	return opened(s, g[1]), ok
}

// opened leaves the end of s open that word does not tell.
func opened(s span, word string) span {
	switch word {
	case "since", "from", "starting":
		return span{from: s.from}
	case "before":
		return span{to: s.from.AddDate(0, 0, -1)}
	default:
		return span{to: s.to}
	}
}

func quarters(quarter, year string) (span, bool) {
	q, y := number(quarter), number(year)
	from := time.Date(y, time.Month(3*q-2), 1, 0, 0, 0, 0, time.UTC)
	return span{from, from.AddDate(0, 3, -1)}, true
}

var ordinals = map[string]string{
	"first": "1", "1st": "1", "second": "2", "2nd": "2", "third": "3", "3rd": "3", "fourth": "4", "4th": "4",
}

func ordinalQuarter(g []string, _ time.Time) (span, bool) {
	return quarters(ordinals[g[1]], g[2])
}

// recentQuarter is the last such quarter that has begun.
func recentQuarter(g []string, today time.Time) (span, bool) {
	s, ok := quarters(g[1], strconv.Itoa(today.Year()))
	if s.from.After(today) {
		s, ok = quarters(g[1], strconv.Itoa(today.Year()-1))
	}
	return s, ok
}

// monthNames are the first three letters of the months' names, in order.
const monthNames = "janfebmaraprmayjunjulaugsepoctnovdec"

func monthStart(name string, year int) time.Time {
	return time.Date(year, time.Month(strings.Index(monthNames, name[:3])/3+1), 1, 0, 0, 0, 0, time.UTC)
}

func months(first, last, year string) (span, bool) {
	from, end := monthStart(first, number(year)), monthStart(last, number(year))
	if end.Before(from) {
		from = from.AddDate(-1, 0, 0)
	}
	return span{from, end.AddDate(0, 1, -1)}, true
}

func monthsOfYear(g []string, _ time.Time) (span, bool) { return months(g[1], g[2], g[3]) }

func numericMonth(g []string, _ time.Time) (span, bool) {
	from := time.Date(number(g[1]), time.Month(number(strings.TrimPrefix(g[2], "0"))), 1, 0, 0, 0, 0, time.UTC)
	return span{from, from.AddDate(0, 1, -1)}, true
}

// recentMonth is the last such month that has begun.
func recentMonth(g []string, today time.Time) (span, bool) {
	from := monthStart(g[1], today.Year())
	if from.After(today) {
		from = from.AddDate(-1, 0, 0)
	}
	return span{from, from.AddDate(0, 1, -1)}, true
}

// unitStart is the first day of the unit that day is in; weeks begin on Mondays.
func unitStart(unit string, day time.Time) time.Time {
	switch unit {
	case "week":
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case "month":
		return time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
	case "quarter":
		return time.Date(day.Year(), (day.Month()-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
	case "year":
		return newYear(day.Year())
	default:
		return day
	}
}

// add moves a day by n units.
func add(day time.Time, unit string, n int) time.Time {
	switch unit {
	case "week":
		return day.AddDate(0, 0, 7*n)
	case "month":
		return day.AddDate(0, n, 0)
	case "quarter":
		return day.AddDate(0, 3*n, 0)
	case "year":
		return day.AddDate(n, 0, 0)
	default:
		return day.AddDate(0, 0, n)
	}
}

// lastUnits are the days up to today: "last 30 days", "past three months".
func lastUnits(g []string, today time.Time) (span, bool) {
	n := number(g[1])
	if n == 0 {
		return span{}, false
	}
	return span{add(today, g[2], -n).AddDate(0, 0, 1), today}, true
}

// oneUnit is the whole calendar unit before this one, or this one.
func oneUnit(g []string, today time.Time) (span, bool) {
	from := unitStart(g[2], today)
	if g[1] != "this" && g[1] != "current" {
		from = add(from, g[2], -1)
	}
	return span{from, add(from, g[2], 1).AddDate(0, 0, -1)}, true
}

func oneDay(g []string, today time.Time) (span, bool) {
	if g[1] == "yesterday" {
		today = today.AddDate(0, 0, -1)
	}
	return span{today, today}, true
}

func years(first, last string) (span, bool) {
	y, z := number(first), number(last)
	return span{newYear(min(y, z)), newYear(max(y, z)+1).AddDate(0, 0, -1)}, true
}

func openYear(g []string, _ time.Time) (span, bool) {
	s, ok := years(g[2], g[2])
	return opened(s, g[1]), ok
}

func singleYear(g []string, _ time.Time) (span, bool) {
	if g[1] != "" || g[3] != "" {
		return span{}, false
	}
	return years(g[2], g[2])
}
