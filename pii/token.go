package pii

import (
	"crypto/rand"
	"fmt"
	"strings"
)

// nonceLen is the length of the random part at the end of each token. It tells
// one session's tokens from another's, and from text that only looks like one.
const nonceLen = 5

// nonceAlphabet has no vowels and no look-alikes, so that a nonce spells no word
// and survives being read aloud or retyped.
const nonceAlphabet = "bcdfghjkmnpqrstvwxz23456789"

// newNonce draws a nonce that starts with a letter and holds a digit, so that it
// can be taken neither for a word nor for a number.
func newNonce() string {
	const letters, digits = 19, 8
	random := make([]byte, nonceLen)
	_, _ = rand.Read(random) // never fails: crypto/rand ends the program instead
	nonce := make([]byte, nonceLen)
	for i, b := range random {
		nonce[i] = nonceAlphabet[int(b)%len(nonceAlphabet)]
	}
	nonce[0] = nonceAlphabet[int(random[0])%letters]
	nonce[3] = nonceAlphabet[letters+int(random[3])%digits]
	return string(nonce)
}

// checkNonce refuses a nonce that token recognition would not find again.
func checkNonce(s string) error {
	if len(s) == nonceLen && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789") == "" {
		return nil
	}
	return fmt.Errorf("vault nonce %q: must be %d characters of a-z and 0-9", s, nonceLen)
}

// UnknownTokenError says that a text holds a token of this session that no value
// belongs to: a model or a script made it up, or changed its number.
type UnknownTokenError struct {
	// Token is the token without brackets.
	Token string
}

// Error names the token and says what to do about it.
func (e *UnknownTokenError) Error() string {
	return "unknown token " + e.Token + ": no value of this session has it; copy tokens exactly as they were shown, and never make up or renumber one"
}

// tokenMatch is one token found in a text: text[start:end] with its brackets.
// entry is nil when the vault does not know it; name is its core then.
type tokenMatch struct {
	start, end int
	entry      *entry
	name       string
}

// brackets are the pairs that may stand around a token: as we write it, as
// markdown escapes it, percent-encoded, and as JSON may escape it.
var brackets = [...]struct{ open, shut string }{
	{"[", "]"}, {`\[`, `\]`}, {`\\[`, `\\]`}, {"%5B", "%5D"}, {"%5b", "%5d"}, {`\u005b`, `\u005d`}, {`\u005B`, `\u005D`},
}

// maxTypeLen bounds the part of a token before its number.
const maxTypeLen = 64

// maxNumberLen bounds the digits of a token's number.
const maxNumberLen = 9

// nextToken finds the first token of this session in text that ends after from.
// Its brackets may begin no earlier than floor. The caller holds v.mu.
func (v *Vault) nextToken(text string, floor, from int) (tokenMatch, bool) {
	for i := from; ; i++ {
		at := strings.IndexByte(text[i:], '_')
		if at < 0 {
			return tokenMatch{}, false
		}
		i += at
		if v.nonceAt(text, i+1) {
			if m, ok := v.tokenEnding(text, floor, i); ok {
				return m, true
			}
		}
	}
}

// nonceAt reports whether the session's nonce stands at text[i:], in any case
// and as the end of a word.
func (v *Vault) nonceAt(text string, i int) bool {
	if len(text)-i < nonceLen {
		return false
	}
	for k := range nonceLen {
		c, n := text[i+k], v.nonce[k]
		if c != n && (n < 'a' || c != n-'a'+'A') {
			return false
		}
	}
	return i+nonceLen == len(text) || !isAlnum(text[i+nonceLen])
}

// tokenEnding reads a token backwards from the underscore before its nonce.
func (v *Vault) tokenEnding(text string, floor, underscore int) (tokenMatch, bool) {
	numberEnd := skipBackslashes(text, floor, underscore)
	numberStart, number := readNumber(text, floor, numberEnd)
	if number == 0 || numberStart == floor || text[numberStart-1] != '_' {
		return tokenMatch{}, false
	}
	typeEnd := skipBackslashes(text, floor, numberStart-1)
	var buf [maxTypeLen]byte
	word := readType(buf[:], text, floor, typeEnd)
	if len(word) == 0 {
		return tokenMatch{}, false
	}
	m := tokenMatch{end: underscore + 1 + nonceLen}
	name, e := v.lookup(word, number)
	if e == nil {
		m.name = fmt.Sprintf("%s_%d_%s", name, number, v.nonce)
	}
	m.entry = e
	m.start = typeStart(text, typeEnd, len(name))
	m.widen(text, floor)
	return m, true
}

// lookup finds the entry whose type ends word, the longest type first: what
// stands before it is the end of another word or of an escape such as \n.
func (v *Vault) lookup(word []byte, number int) (string, *entry) {
	best := v.series[Type(word)]
	if best == nil {
		best = v.longestEnding(string(word))
	}
	switch {
	case best == nil:
		return string(word), nil
	case number > len(best.entries):
		return best.name, nil
	}
	return best.name, best.entries[number-1]
}

func (v *Vault) longestEnding(word string) *series {
	var best *series
	for _, s := range v.series {
		if strings.HasSuffix(word, s.name) && (best == nil || len(s.name) > len(best.name)) {
			best = s
		}
	}
	return best
}

// widen takes a matching pair of brackets into the match.
func (m *tokenMatch) widen(text string, floor int) {
	for _, b := range brackets {
		if strings.HasPrefix(text[m.end:], b.shut) && strings.HasSuffix(text[floor:m.start], b.open) {
			m.start -= len(b.open)
			m.end += len(b.shut)
			return
		}
	}
}

// skipBackslashes steps over what markdown, and JSON around it, put before an
// underscore.
func skipBackslashes(text string, floor, end int) int {
	for end > floor && text[end-1] == '\\' {
		end--
	}
	return end
}

// readNumber reads the decimal number that ends at end; 0 means there is none.
func readNumber(text string, floor, end int) (start, number int) {
	start = end
	for start > floor && text[start-1] >= '0' && text[start-1] <= '9' {
		start--
	}
	if start == end || end-start > maxNumberLen || text[start] == '0' {
		return start, 0
	}
	for _, c := range []byte(text[start:end]) {
		number = number*10 + int(c-'0')
	}
	return start, number
}

// readType reads the word that ends at end into the end of buf: in upper case and
// without the backslashes before its underscores.
func readType(buf []byte, text string, floor, end int) []byte {
	n := len(buf)
	for end > floor && n > 0 {
		c := text[end-1]
		switch {
		case c == '_':
			end = skipBackslashes(text, floor, end-1)
		case isAlnum(c):
			end--
		default:
			return buf[n:]
		}
		if c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		n--
		buf[n] = c
	}
	return buf[n:]
}

// typeStart is where the last n characters of the type that ends at end begin.
func typeStart(text string, end, n int) int {
	for ; n > 0; n-- {
		end--
		if text[end] == '_' && n > 1 {
			end = skipBackslashes(text, 0, end)
		}
	}
	return end
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
