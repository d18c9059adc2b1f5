package bridge

import (
	"fmt"
	"slices"
	"strings"
)

// Scope says which tools may be used: patterns of full tool names, separated by
// spaces, in which * stands for any run of characters. A tool is allowed when one
// of them matches it exactly, case included. The empty scope allows nothing.
//
// Scopes that were joined by And are separated by " & "; each must allow the tool.
// The text is also what the session token says.
type Scope string

// ScopeAll allows every tool that the caller's catalog allows.
const ScopeAll Scope = "*"

// maxScope bounds a scope, since it travels in the session token of each request.
const maxScope = 4096

const scopeAnd = " & "

// ScopeOf makes a scope of patterns such as "database__*".
func ScopeOf(patterns ...string) (Scope, error) {
	for _, p := range patterns {
		if p == "" || strings.ContainsFunc(p, func(r rune) bool { return r <= ' ' || r > '~' || r == '&' }) {
			return "", fmt.Errorf("scope pattern %q: write a tool's name such as database__query, with * for any characters", p)
		}
	}
	s := Scope(strings.Join(patterns, " "))
	return s, s.check()
}

// And allows what both allow.
func (s Scope) And(other Scope) Scope {
	switch {
	case s == other || other == ScopeAll:
		return s
	case s == ScopeAll:
		return other
	}
	return s + scopeAnd + other
}

// Allows reports whether the scope covers a tool.
func (s Scope) Allows(fullName string) bool {
	for part := range strings.SplitSeq(string(s), scopeAnd) {
		if !slices.ContainsFunc(strings.Fields(part), func(p string) bool { return matchesName(p, fullName) }) {
			return false
		}
	}
	return true
}

func (s Scope) check() error {
	if len(s) > maxScope {
		return fmt.Errorf("scope of %d bytes: at most %d; use fewer patterns with *", len(s), maxScope)
	}
	return nil
}

// matchesName compares without backtracking more than one star, so that no
// pattern takes more than the product of the lengths.
func matchesName(pattern, name string) bool {
	star, mark, p, i := -1, 0, 0, 0
	for i < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == name[i]:
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
