package detect

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
)

// ErrPatternTimeout says that a custom pattern took too long, so that the text is
// not known to be clean.
var ErrPatternTimeout = errors.New("custom pattern timed out")

// defaultCustomTimeout bounds one search for one match.
const defaultCustomTimeout = 50 * time.Millisecond

// maxCustomMatches bounds how long a backtracking pattern can go on in total,
// since its timeout is per match.
const maxCustomBudget = 20

// checkPeriod makes a timeout of some milliseconds exact: with the library's own
// 100 ms, one of 10 ms was measured to take 200.
var checkPeriod = sync.OnceFunc(func() { regexp2.SetTimeoutCheckPeriod(time.Millisecond) })

// customPattern is one pattern of the operator's. linear is set when the standard
// library can run it, backtrack otherwise.
type customPattern struct {
	name      Type
	linear    *regexp.Regexp
	backtrack *regexp2.Regexp
	timeout   time.Duration
}

func compileCustom(patterns map[string]string, timeout time.Duration) ([]customPattern, error) {
	if timeout < 0 {
		return nil, fmt.Errorf("custom pattern timeout %v: must not be negative", timeout)
	}
	if timeout == 0 {
		timeout = defaultCustomTimeout
	}
	var all []customPattern
	for name, expr := range patterns {
		p, err := compileOne(name, expr, timeout)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b customPattern) int { return strings.Compare(string(a.name), string(b.name)) })
	return all, nil
}

// compileOne never shows the expression: it may be made of the values it looks for.
func compileOne(name, expr string, timeout time.Duration) (customPattern, error) {
	if !validTypeName(name) {
		return customPattern{}, fmt.Errorf("custom pattern %q: name must be 1 to 32 upper-case letters, digits and underscores, and start with a letter", name)
	}
	p := customPattern{name: Type(name), timeout: timeout}
	if re, err := regexp.Compile(expr); err == nil {
		p.linear = re
		return p, nil
	}
	re, err := regexp2.Compile(expr)
	if err != nil {
		return customPattern{}, fmt.Errorf("custom pattern %q: neither Go's regexp nor regexp2 can read the expression", name)
	}
	checkPeriod()
	re.MatchTimeout = timeout
	p.backtrack = re
	return p, nil
}

func validTypeName(s string) bool {
	if len(s) == 0 || len(s) > 32 || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}

func (p *customPattern) find(dst []Span, data []byte) ([]Span, error) {
	if p.linear != nil {
		for _, m := range p.linear.FindAllIndex(data, -1) {
			dst = appendCustom(dst, m[0], m[1], p.name)
		}
		return dst, nil
	}
	return p.findBacktracking(dst, data)
}

// findBacktracking works on runes, because regexp2 does. Invalid UTF-8 counts as
// one rune a byte, so that offsets stay exact.
func (p *customPattern) findBacktracking(dst []Span, data []byte) ([]Span, error) {
	runes, offsets := decodeRunes(data)
	deadline := time.Now().Add(maxCustomBudget * p.timeout)
	late := false
	err := p.backtrack.FindRunesMatches(runes, 0, func(m regexp2.MatchView) bool {
		if start, length, ok := m.GroupRange(0); ok {
			dst = appendCustom(dst, offsets[start], offsets[start+length], p.name)
		}
		late = time.Now().After(deadline)
		return !late
	})
	if err != nil || late {
		return dst, fmt.Errorf("pattern %q: %w; simplify it or raise its time limit", p.name, ErrPatternTimeout)
	}
	return dst, nil
}

func decodeRunes(data []byte) (runes []rune, offsets []int) {
	runes = make([]rune, 0, len(data))
	offsets = make([]int, 0, len(data)+1)
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		runes, offsets = append(runes, r), append(offsets, i)
		i += n
	}
	return runes, append(offsets, len(data))
}

func appendCustom(dst []Span, start, end int, t Type) []Span {
	if start == end {
		return dst
	}
	return append(dst, Span{Start: start, End: end, Type: t})
}
