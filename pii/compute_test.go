package pii

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// tokensOf tokenizes each value by itself as one list, and returns their tokens.
func tokensOf(t *testing.T, v *Vault, from Origin, values ...string) []Tokenized {
	t.Helper()
	var tokens []Tokenized
	for _, s := range strings.Split(tokenize(t, v, strings.Join(values, "\n"), from).String(), "\n") {
		tokens = append(tokens, v.FromModel(s))
	}
	return tokens
}

func TestAttr(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{Attributes: []Attribute{Domain, Country, Brand, Last4, Year}})
	for _, one := range []struct {
		value string
		name  Attribute
		want  string
	}{
		{"ada@Example.org", Domain, "example.org"},
		{"ada@example.co.uk", Country, "GB"},
		{"ada@example.org", Country, ""},
		{"4111 1111 1111 1111", Brand, "visa"},
		{"4111 1111 1111 1111", Last4, "1111"},
		{"5555 5555 5555 4444", Brand, "mastercard"},
		{"(415) 555-0132", Country, "US"},
		{"ada@example.org", Brand, ""},
		{"ada@example.org", Year, ""},
	} {
		got, err := v.Attr(tokensOf(t, v, OriginServer("crm"), one.value)[0], one.name)
		if err != nil || got != one.want {
			t.Errorf("%s of %s: got %q, %v, want %q", one.name, one.value, got, err, one.want)
		}
	}
}

func TestAttrTellsOnlyWhatPolicyReveals(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	card := tokensOf(t, v, OriginServer("crm"), "4111 1111 1111 1111")[0]
	for _, name := range []Attribute{Domain, Last4, Year, "value", ""} {
		if _, err := v.Attr(card, name); !errors.Is(err, ErrNotRevealed) {
			t.Errorf("%q: got %v", name, err)
		}
	}
	if got, err := v.Attr(card, Brand); err != nil || got != "visa" {
		t.Errorf("brand: %q, %v", got, err)
	}
}

func TestSameNormalizes(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	tok := tokensOf(t, v, OriginServer("crm"), "ada@example.org", "ADA@example.org", "bob@example.org", "(415) 555-0132", "415-555-0132")
	for _, one := range []struct {
		a, b int
		want bool
	}{{0, 1, true}, {0, 2, false}, {3, 4, true}, {0, 3, false}, {0, 0, true}} {
		if got, err := v.Same(tok[one.a], tok[one.b]); err != nil || got != one.want {
			t.Errorf("%s and %s: got %v, %v", tok[one.a], tok[one.b], got, err)
		}
	}
}

func TestComputeRefusesWhatIsNoToken(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{Rank: true})
	tok := tokensOf(t, v, OriginServer("crm"), "ada@example.org")[0]
	for _, text := range []string{"", "ada@example.org", tok.String() + " ", "x" + tok.String(), tok.String() + tok.String(), "[EMAIL_1_zzzz9]"} {
		raw := v.FromModel(text)
		if _, err := v.Attr(raw, Country); !errors.Is(err, ErrNotToken) {
			t.Errorf("attr of %q: %v", text, err)
		}
		if _, err := v.Same(tok, raw); !errors.Is(err, ErrNotToken) {
			t.Errorf("same as %q: %v", text, err)
		}
		if _, err := v.Rank([]Tokenized{raw, tok, tok, tok, tok}); !errors.Is(err, ErrNotToken) {
			t.Errorf("rank of %q: %v", text, err)
		}
	}
	var unknown *UnknownTokenError
	if _, err := v.Same(tok, v.FromModel("[EMAIL_7_k7q2f]")); !errors.As(err, &unknown) {
		t.Errorf("same as an unknown token: %v", err)
	}
}

func TestRankOrdersTheValuesOfOneResult(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{Rank: true})
	tok := tokensOf(t, v, OriginServer("crm"), "c@example.org", "a@example.org", "d@example.org", "b@example.org", "e@example.org", "a@example.org")
	got, err := v.Rank(tok)
	if want := []int{2, 0, 3, 1, 4, 0}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
}

// TestRankIsNoOracle tries what somebody would who wants to learn a value by
// comparing it with guesses.
func TestRankIsNoOracle(t *testing.T) {
	t.Parallel()
	guesses := []string{"a@example.org", "g@example.org", "m@example.org", "s@example.org", "z@example.org"}
	attacks := map[string]func(v *Vault, secret Tokenized) []Tokenized{
		"guesses that a script printed": func(v *Vault, secret Tokenized) []Tokenized {
			return append(tokensOf(t, v, OriginScript, guesses...), secret)
		},
		"guesses that the user typed": func(v *Vault, secret Tokenized) []Tokenized {
			return append(tokensOf(t, v, OriginUser, guesses...), secret)
		},
		"guesses that another tool echoes": func(v *Vault, secret Tokenized) []Tokenized {
			return append(tokensOf(t, v, OriginServer("echo"), guesses...), secret)
		},
		"guesses that a script passed to the tool that then returned them with the value": func(v *Vault, secret Tokenized) []Tokenized {
			tokensOf(t, v, OriginScript, guesses...)
			return tokensOf(t, v, OriginServer("crm"), append(slices.Clone(guesses), "secret@example.org")...)
		},
		"one guess, many times": func(v *Vault, secret Tokenized) []Tokenized {
			guess := tokensOf(t, v, OriginServer("crm"), "m@example.org", "secret@example.org")[0]
			return []Tokenized{guess, guess, guess, guess, guess, secret}
		},
		"fewer than five": func(v *Vault, secret Tokenized) []Tokenized {
			return append(tokensOf(t, v, OriginServer("crm"), "m@example.org", "secret@example.org"), secret)
		},
	}
	for name, attack := range attacks {
		v := testVault(t, VaultOptions{Rank: true})
		secret := tokensOf(t, v, OriginServer("crm"), "secret@example.org")[0]
		if got, err := v.Rank(attack(v, secret)); !errors.Is(err, ErrNotRevealed) {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
	}
}

func TestRankIsOffByDefaultAndBoundedWhenOn(t *testing.T) {
	t.Parallel()
	values := []string{"a@example.org", "b@example.org", "c@example.org", "d@example.org", "e@example.org"}
	off := testVault(t, VaultOptions{})
	if _, err := off.Rank(tokensOf(t, off, OriginServer("crm"), values...)); !errors.Is(err, ErrNotRevealed) {
		t.Errorf("off: %v", err)
	}
	on := testVault(t, VaultOptions{Rank: true})
	tok := tokensOf(t, on, OriginServer("crm"), values...)
	for i := range maxRankings {
		if _, err := on.Rank(tok); err != nil {
			t.Fatalf("call %d: %v", i+1, err)
		}
	}
	if _, err := on.Rank(tok); !errors.Is(err, ErrNotRevealed) {
		t.Errorf("one more: %v", err)
	}
}

func TestSameIsNoOracleForGuesses(t *testing.T) {
	t.Parallel()
	v := testVault(t, VaultOptions{})
	secret := tokensOf(t, v, OriginServer("crm"), "ada@example.org")[0]
	for i, guess := range []string{"ADA@example.org", "Ada@Example.org"} {
		tok := tokensOf(t, v, OriginScript, guess)[0]
		if same, err := v.Same(secret, tok); !errors.Is(err, ErrNotToken) {
			t.Errorf("guess %d: %v, %v", i, same, err)
		}
	}
}
