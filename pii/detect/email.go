package detect

// RFC 5321 lets a local part have 64 octets and a domain 255. Longer local parts
// occur, and are read up to this many.
const (
	maxLocal  = 256
	maxDomain = 255
)

// at finds the address around the '@' at i. Domains may be under any top-level
// domain, internal or internationalised; a single label needs a key or word.
func (s *scanner) at(i int) int {
	start := s.localStart(i)
	if start == i {
		return i + 1
	}
	end := s.domainEnd(i + 1)
	if end == 0 {
		if end = s.hostEnd(i + 1); end == 0 || !s.contextOf(start).has(lMail) {
			return i + 1
		}
	}
	if s.userinfo(start, i) {
		return i + 1
	}
	if !s.on.has(email) || end-i > maxDomain {
		return i + 1
	}
	s.floor = max(s.floor, end)
	return s.add(start, end, email)
}

// localStart is where the local part before the '@' at i starts. Text in scripts
// that write no spaces ends before it; Latin letters with marks belong to it.
func (s *scanner) localStart(i int) int {
	b, start := s.b, i
	limit := max(0, i-maxLocal, s.emailFloor(i))
	foreign := i > 0 && b[i-1] >= 0x80
	for start > limit && (isLocal(b[start-1]) || b[start-1] >= 0x80 && (foreign || latinMark(b, start-1))) {
		start--
	}
	if start > 0 && start < i && b[start-1] == '\\' {
		start += escapeLen(b[start:i])
	}
	for start < i && (class[b[start]] == 0 && b[start] < 0x80 && b[start] != '+') {
		start++
	}
	for start < i && b[start] >= 0x80 && b[start] < 0xC0 {
		start++ // never within a rune
	}
	if start < i && (b[i-1] == '.' || b[i-1] == '\'') {
		return i
	}
	return start
}

// emailFloor keeps the address at i from reaching into one found before.
func (s *scanner) emailFloor(i int) int {
	if s.emailEnd <= i {
		return s.emailEnd
	}
	return 0
}

// escapeLen is how much of b, which follows a backslash, belongs to a JSON escape.
func escapeLen(b []byte) int {
	if b[0] == 'u' && len(b) >= 5 && hexEnd(b, 1) >= 5 {
		return 5
	}
	if isEscapeLetter(b[0]) {
		return 1
	}
	return 0
}

// isLocal reports the characters of RFC 5322's atoms and the dot, without those
// that separate addresses from other text in URLs, paths and code.
func isLocal(c byte) bool {
	return class[c] != 0 || c == '.' || c == '+' || c == '-' || c == '\'' || c == '~' || c == '!' || c == '#' || c == '$' || c == '*' || c == '^'
}

// latinMark reports a byte of a Latin letter of U+00C0 to U+024F.
func latinMark(b []byte, i int) bool {
	if b[i] >= 0xC3 && b[i] <= 0xC9 {
		return i+1 < len(b) && b[i+1] >= 0x80 && b[i+1] < 0xC0
	}
	return b[i] < 0xC0 && i > 0 && b[i-1] >= 0xC3 && b[i-1] <= 0xC9
}

// domainEnd is the end of a domain of two labels and more at i, 0 for none. What
// follows the last label that can be a top-level domain is left out.
func (s *scanner) domainEnd(i int) int {
	b, best, labels := s.b, 0, 0
	if isDigit(s.byteAt(i)) && s.numericDomain(i) {
		return 0
	}
	for start := i; start-i <= maxDomain; {
		end := labelEnd(b, start)
		if end == start || b[start] == '-' {
			break
		}
		labels++
		if tld := topLevelEnd(b[start:end]); labels > 1 && tld > 0 {
			best = start + tld
			if tld < end-start {
				break
			}
		}
		if end+1 >= len(b) || b[end] != '.' {
			break
		}
		start = end + 1
	}
	if best > 0 && isImage(b, i, best) {
		return 0
	}
	return best
}

// numericDomain reports package@1.2.3 and icon@2x.png.
func (s *scanner) numericDomain(i int) bool {
	e := digitsEnd(s.b, i)
	return s.byteAt(e) == '.' && isDigit(s.byteAt(e+1)) || s.byteAt(e) == 'x' && s.byteAt(e+1) == '.' && e-i == 1
}

func isImage(b []byte, start, end int) bool {
	return start+2 < end && b[start+1] == 'x' && b[start+2] == '.' && isDigit(b[start])
}

func labelEnd(b []byte, i int) int {
	for i < len(b) && (class[b[i]]&(digit|letter) != 0 || b[i] == '-' || b[i] >= 0x80) {
		i++
	}
	return i
}

// topLevelEnd is how much of a label can be a top-level domain: two ASCII letters
// and more, punycode, or letters of another script only.
func topLevelEnd(l []byte) int {
	if len(l) > 4 && sameFold(l[:4], "xn--") {
		return len(l)
	}
	n := 0
	for n < len(l) && isLetter(l[n]) {
		n++
	}
	switch {
	case n == 0 && l[0] >= 0x80:
		for n < len(l) && l[n] >= 0x80 {
			n++
		}
		return n
	case n < 2 || n < len(l) && (isDigit(l[n]) || l[n] == '-' && n+1 < len(l) && isWord(l[n+1])):
		return 0
	}
	return n
}

// hostEnd is the end of a single host name at i.
func (s *scanner) hostEnd(i int) int {
	e := labelEnd(s.b, i)
	if e == i || e-i > 63 || !isLetter(s.b[i]) || s.byteAt(e) == '.' && isWord(s.byteAt(e+1)) || s.byteAt(e) == '.' {
		return 0
	}
	for s.b[e-1] == '-' {
		e--
	}
	return e
}
