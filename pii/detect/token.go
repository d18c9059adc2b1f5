package detect

import "bytes"

// maxToken is more than a token's core has: a type's name, a number, a nonce.
const maxToken = 64

// nonceLen is the length of a token's last part.
const nonceLen = 5

// touchesToken reports whether a token's core reaches into data[start:end].
func touchesToken(data []byte, start, end int) bool {
	for least := max(0, start-maxToken); start > least && isWord(data[start-1]); {
		start--
	}
	end = wordEnd(data[:min(len(data), end+maxToken)], end)
	for i := start; i < end; {
		// A core has an underscore; without one there is nothing to look at.
		u := bytes.IndexByte(data[i:end], '_')
		if u < 0 {
			return false
		}
		s, e := i+u, wordEnd(data, i+u)
		for s > start && isWord(data[s-1]) {
			s--
		}
		if isToken(data[s:e]) {
			return true
		}
		i = e
	}
	return false
}

// isToken recognises a whole word TYPE_N_nonce.
func isToken(w []byte) bool { return tokenType(w) > 0 }

// tokenType is the length of the type's name in a token's core, 0 for anything
// else: upper-case type, number, five characters of a-z and digits.
func tokenType(w []byte) int {
	mark := len(w) - nonceLen - 1
	if mark < 3 || w[mark] != '_' || class[w[0]]&upper == 0 {
		return 0
	}
	if classesOf(w[mark+1:])&^(digit|letter|lower) != 0 {
		return 0
	}
	i := mark - 1
	for i > 0 && isDigit(w[i]) {
		i--
	}
	if i == mark-1 || w[i] != '_' || classesOf(w[:i])&lower != 0 {
		return 0
	}
	return i
}

// tokenBefore reports whether a bracketed token ends right before i.
func tokenBefore(b []byte, i int) bool {
	if i < 1 || b[i-1] != ']' {
		return false
	}
	start := i - 1
	for least := max(0, start-maxToken); start > least && isWord(b[start-1]); {
		start--
	}
	return start > 0 && b[start-1] == '[' && isToken(b[start:i-1])
}

// tokenAt reports whether a bracketed token starts at i.
func tokenAt(b []byte, i int) bool {
	if i >= len(b) || b[i] != '[' {
		return false
	}
	end := wordEnd(b[:min(len(b), i+maxToken)], i+1)
	return end < len(b) && b[end] == ']' && isToken(b[i+1:end])
}
