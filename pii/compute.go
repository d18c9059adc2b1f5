package pii

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Attribute is something about a value that may be told without the value.
type Attribute string

// The attributes. Only brand and country are told unless VaultOptions.Attributes
// says otherwise: the others narrow a value down.
const (
	Domain  Attribute = "domain"  // of an e-mail address
	Country Attribute = "country" // of a phone number, an IBAN or an e-mail address
	Brand   Attribute = "brand"   // of a payment card
	Last4   Attribute = "last4"   // digits of a card, an account, a phone number
	Year    Attribute = "year"    // of a date
)

// ErrNotToken says that something other than one token of this session was given:
// text in clear would make an answer a way to test guesses.
var ErrNotToken = errors.New("not a token of this session: pass tokens exactly as they were returned, never text")

// ErrNotRevealed says that policy keeps something about values to itself.
var ErrNotRevealed = errors.New("not revealed in this session: work with the tokens instead, equal values have equal tokens")

// Bounds of Rank: with fewer, or with values of the asker's choosing, an order
// tells a value by halving.
const (
	minRanked   = 5
	maxRankings = 10
)

// Attr tells something about the value of a token, empty if the value has no such
// attribute.
func (v *Vault) Attr(token Tokenized, name Attribute) (string, error) {
	if !slices.Contains(v.attributes, name) {
		return "", fmt.Errorf("attribute %q: %w", name, ErrNotRevealed)
	}
	v.mu.RLock()
	defer v.mu.RUnlock()
	e, err := v.single(token)
	if err != nil {
		return "", err
	}
	return attribute(e, name), nil
}

// Same reports whether two tokens stand for the same once case, spaces and
// punctuation are left aside. Values that a script brought in itself are refused.
func (v *Vault) Same(a, b Tokenized) (bool, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	x, err := v.single(a)
	if err != nil {
		return false, err
	}
	y, err := v.single(b)
	if err != nil {
		return false, err
	}
	if x.guessed() || y.guessed() {
		return false, fmt.Errorf("compare: %w", ErrNotToken)
	}
	return x == y || x.typ == y.typ && normal(x) == normal(y), nil
}

// Rank returns for each token its place in the order of the values, from 0, equal
// ones alike. All have to come from one tool result, at least five, and a session
// may ask ten times; it is off unless VaultOptions.Rank is set.
func (v *Vault) Rank(tokens []Tokenized) ([]int, error) {
	if !v.rank {
		return nil, fmt.Errorf("rank: %w", ErrNotRevealed)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	entries, err := v.rankable(tokens)
	if err != nil {
		return nil, fmt.Errorf("rank: %w", err)
	}
	if v.rankings >= maxRankings {
		return nil, fmt.Errorf("rank: %d times is all a session may ask: %w", maxRankings, ErrNotRevealed)
	}
	v.rankings++
	return order(entries), nil
}

// rankable returns the entries of tokens if their order may be told.
func (v *Vault) rankable(tokens []Tokenized) ([]*entry, error) {
	var entries, distinct []*entry
	for _, t := range tokens {
		e, err := v.single(t)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
		if !slices.Contains(distinct, e) {
			distinct = append(distinct, e)
		}
	}
	if len(distinct) < minRanked {
		return nil, fmt.Errorf("%d different values, at least %d are needed: %w", len(distinct), minRanked, ErrNotRevealed)
	}
	for _, e := range entries {
		if e.typ != entries[0].typ || e.guessed() {
			return nil, fmt.Errorf("values of different types or of a script's own: %w", ErrNotRevealed)
		}
	}
	if !sharedResult(entries) {
		return nil, fmt.Errorf("values from different tool results: %w", ErrNotRevealed)
	}
	return entries, nil
}

// sharedResult reports whether one tool result held all.
func sharedResult(entries []*entry) bool {
	for _, result := range entries[0].results {
		if result != 0 && !slices.ContainsFunc(entries, func(e *entry) bool { return !slices.Contains(e.results[:], result) }) {
			return true
		}
	}
	return false
}

// single returns the entry of a text that is one token and nothing else. The
// caller holds v.mu.
func (v *Vault) single(t Tokenized) (*entry, error) {
	if v.erased {
		return nil, ErrErased
	}
	text := t.String()
	m, ok := v.nextToken(text, 0, 0)
	switch {
	case !ok || m.start != 0 || m.end != len(text):
		return nil, ErrNotToken
	case m.entry == nil:
		return nil, &UnknownTokenError{Token: m.name}
	}
	return m.entry, nil
}

// guessed reports whether a script brought the value in, whoever else did too: it
// may have been a guess.
func (e *entry) guessed() bool { return slices.Contains(e.origins, OriginScript) }

// order ranks entries: numbers by size, all else as text.
func order(entries []*entry) []int {
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = rankKey(e.forms[0])
	}
	sorted := slices.Compact(slices.Sorted(slices.Values(keys)))
	ranks := make([]int, len(keys))
	for i, k := range keys {
		ranks[i], _ = slices.BinarySearch(sorted, k)
	}
	return ranks
}

// rankKey makes whole numbers compare by size, as text.
func rankKey(s string) string {
	if n := digits(s); n > 0 && n == len(s) {
		s = strings.TrimLeft(s, "0")
		return fmt.Sprintf("%08d%s", len(s), s)
	}
	return strings.ToLower(s)
}

// normal is a value without case, spaces and punctuation.
func normal(e *entry) string {
	keep := func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return unicode.ToLower(r)
		}
		return -1
	}
	return strings.Map(keep, e.forms[0])
}
