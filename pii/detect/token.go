package detect

// isWord reports the bytes that a token's core consists of.
func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

// touchesToken reports whether a token's core reaches into data[start:end].
func touchesToken(data []byte, start, end int) bool {
	for start > 0 && isWord(data[start-1]) {
		start--
	}
	for end < len(data) && isWord(data[end]) {
		end++
	}
	for i := start; i < end; {
		j := i
		for j < end && isWord(data[j]) {
			j++
		}
		if isToken(data[i:j]) {
			return true
		}
		i = j + 1
	}
	return false
}

// isToken recognises TYPE_N_nonce: upper-case type, number, five of a-z2-7 0-9.
func isToken(w []byte) bool {
	n := len(w)
	if n < 9 || w[n-6] != '_' || w[0] < 'A' || w[0] > 'Z' {
		return false
	}
	for _, c := range w[n-5:] {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	i := n - 7
	for i > 0 && w[i] >= '0' && w[i] <= '9' {
		i--
	}
	if i == n-7 || w[i] != '_' {
		return false
	}
	for _, c := range w[:i] {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return i > 0
}
