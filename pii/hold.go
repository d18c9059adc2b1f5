package pii

import "strings"

// maxHold bounds what is held back of a stream: a token with everything a model
// may put into and around it.
const maxHold = 256

// mayGoOn reports whether what follows m in text is too little to tell where the
// token ends, and where it may begin then.
func (m tokenMatch) mayGoOn(text string, floor int) (int, bool) {
	rest := text[m.end:]
	start := max(m.start, floor)
	more := rest == "" && isAlnum(text[m.end-1]) || m.entry != nil && m.entry.number && beginsQuote(rest)
	if isAlnum(text[m.end-1]) && m.start >= floor {
		for _, b := range brackets {
			if len(rest) < len(b.shut) && strings.HasPrefix(b.shut, rest) && strings.HasSuffix(text[floor:m.start], b.open) {
				start, more = min(start, m.start-len(b.open)), true
			}
		}
	}
	return start, more
}

// beginsQuote reports whether s is the beginning of a quote, at any depth, that
// may go on.
func beginsQuote(s string) bool {
	return strings.Trim(s, `\`) == "" && len(s) < len(quotes[maxDepth-1])
}

// holdFrom returns where the longest end of text[at:] begins that may be the
// beginning of a token of this session, with the quote before it. The caller
// holds v.mu.
func (v *Vault) holdFrom(text string, at int) int {
	for i := max(at, len(text)-maxHold); i < len(text); i++ {
		if v.mayBegin(text[i:]) {
			return quoteBefore(text, at, i)
		}
	}
	return quoteBefore(text, at, len(text))
}

// quoteBefore moves i to before the quote that ends there, if one does.
func quoteBefore(text string, at, i int) int {
	if i > at && text[i-1] == '"' {
		return skipBackslashes(text, max(at, i-len(quotes[maxDepth-1])), i-1)
	}
	return i
}

// mayBegin reports whether s is the beginning of a token as a model may write it.
func (v *Vault) mayBegin(s string) bool {
	for _, b := range brackets {
		if strings.HasPrefix(b.open, s) {
			return true
		}
		if rest, ok := strings.CutPrefix(s, b.open); ok && v.beginsCore(rest) {
			return true
		}
	}
	return strings.Trim(s, `\`) == "" || v.beginsCore(s)
}

// beginsCore reports whether s is the beginning of a token without brackets.
func (v *Vault) beginsCore(s string) bool {
	if s == "" {
		return true
	}
	if !v.beginsType(s[0]) {
		return false
	}
	plain := plainCore(s)
	for _, series := range v.series {
		if strings.HasPrefix(series.name, plain) {
			return true
		}
		if rest, ok := strings.CutPrefix(plain, series.name); ok && v.beginsNumber(rest) {
			return true
		}
	}
	return false
}

// beginsType reports whether the name of a type begins with c, in any case.
func (v *Vault) beginsType(c byte) bool {
	for _, series := range v.series {
		if lower(series.name[0]) == lower(c) {
			return true
		}
	}
	return false
}

// plainCore writes a core as we do: in upper case, without backslashes before
// underscores or at its end. Any other character ends in a NUL, which no core has.
func plainCore(s string) string {
	plain := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\' && escapesUnderscore(s[i:]):
			continue
		case c >= 'a' && c <= 'z':
			c -= 'a' - 'A'
		case !isAlnum(c) && c != '_':
			c = 0
		}
		plain = append(plain, c)
	}
	return string(plain)
}

// escapesUnderscore reports whether nothing but backslashes stands before the
// next underscore or the end.
func escapesUnderscore(s string) bool {
	s = strings.TrimLeft(s, `\`)
	return s == "" || s[0] == '_'
}

// beginsNumber reports whether s is the beginning of _N_nonce, in upper case.
func (v *Vault) beginsNumber(s string) bool {
	if s == "" {
		return true
	}
	if s[0] != '_' {
		return false
	}
	n := digits(s[1:])
	if n > maxNumberLen {
		return false
	}
	s = s[1+n:]
	return s == "" || n > 0 && strings.HasPrefix("_"+strings.ToUpper(v.nonce), s)
}
