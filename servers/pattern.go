package servers

import "strings"

// matches reports whether s has the form of pattern, in which * stands for any
// run of characters and ? for one. Nothing else is special, a slash included.
func matches(pattern, s string) bool {
	star, mark := -1, 0
	p, i := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p, i = p+1, i+1
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

func matchesAny(patterns []string, s string) bool {
	for _, p := range patterns {
		if matches(p, s) {
			return true
		}
	}
	return false
}

// literals counts the characters that a pattern fixes: the more, the more
// specific it is.
func literals(pattern string) int {
	return len(pattern) - strings.Count(pattern, "*") - strings.Count(pattern, "?")
}
