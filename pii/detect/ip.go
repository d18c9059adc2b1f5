package detect

// ipv4 finds an IPv4 address, or network with /bits, at start. Loopback and
// unspecified addresses are nobody's; rows of five numbers and more, and versions,
// are no addresses.
func (s *scanner) ipv4(start int) int {
	end := ipv4End(s.b, start)
	if end == 0 {
		return s.dottedRun(start)
	}
	s.floor = end
	if p := s.byteAt(start - 1); p == '.' && (isWord(s.byteAt(start-2)) || tokenBefore(s.b, start-1)) || tokenBefore(s.b, start) {
		return end
	}
	if !s.on.has(ip) || s.b[start] == '0' || hasPrefix(s.b, start, "127.") || s.isVersion(start, end) {
		return end
	}
	return s.add(start, s.prefixEnd(end, 32), ip)
}

// dottedRun skips numbers joined by dots, at least two of them, that are no address.
func (s *scanner) dottedRun(start int) int {
	i, dots := start, 0
	for {
		i = digitsEnd(s.b, i)
		if s.byteAt(i) != '.' || !isDigit(s.byteAt(i+1)) {
			break
		}
		i, dots = i+1, dots+1
	}
	if dots < 4 || s.b[start] == '0' && dots == 4 && i-start == 14 {
		return 0 // or a phone number as the French write it
	}
	s.floor = i
	return i
}

// ipv4End is the end of four decimal octets at i that nothing is joined to.
func ipv4End(b []byte, i int) int {
	for part := 0; ; part++ {
		e := digitsEnd(b, i)
		if e == i || e-i > 3 || e-i > 1 && b[i] == '0' || e-i == 3 && number3(b[i:e]) > 255 {
			return 0
		}
		if part == 3 {
			if e < len(b) && (isLetterOrDigit(b[e]) || b[e] == '.' && e+1 < len(b) && isDigit(b[e+1])) {
				return 0
			}
			return e
		}
		if e+1 >= len(b) || b[e] != '.' {
			return 0
		}
		i = e + 1
	}
}

// prefixEnd is the end of /bits at i, if bits is at most most.
func (s *scanner) prefixEnd(i, most int) int {
	if s.byteAt(i) != '/' {
		return i
	}
	e := digitsEnd(s.b, i+1)
	if e == i+1 || e-i > 4 || isLetterOrDigit(s.byteAt(e)) || s.byteAt(e) == '.' && isDigit(s.byteAt(e+1)) {
		return i
	}
	bits := 0
	for _, c := range s.b[i+1 : e] {
		bits = bits*10 + int(c-'0')
	}
	if bits > most {
		return i
	}
	return e
}

// isVersion reports four numbers that count releases: under a version key, after
// the word, in Product/1.2.0.0, or in a file name.
func (s *scanner) isVersion(start, end int) bool {
	p, q := s.byteAt(start-1), s.byteAt(start-2)
	if p == '/' && isLetter(q) && s.b[end-1] == '0' && s.b[end-2] == '.' {
		return true
	}
	if p == '-' && isWord(q) && s.byteAt(end) == '.' && isLetter(s.byteAt(end+1)) {
		return true
	}
	if start, ok := s.keyed(start); ok && start >= 0 {
		_, last := s.keyLabels()
		return last&lVersion != 0
	}
	if p != ' ' && p != '=' && p != ':' && p != '"' && p != '\'' {
		return false
	}
	e := start - 1
	for e > 0 && (isSpace(s.b[e-1]) || s.b[e-1] == ':' || s.b[e-1] == '=') && start-e < 4 {
		e--
	}
	w := e
	for w > 0 && isLetter(s.b[w-1]) && e-w <= longestWord {
		w--
	}
	return s.labels.of(s.b[w:e])&lVersion != 0
}

// hexColons finds an IPv6 address or a MAC in the run of hex digits and colons
// that the word at start begins. It gives 0 when there is none.
func (s *scanner) hexColons(start int) int {
	if start < s.hexRun || !s.hexBoundary(start) {
		return 0
	}
	if e := clockEnd(s.b, start); e > 0 {
		s.hexRun = e
		return e
	}
	if e := s.macColons(start); e > 0 {
		return e
	}
	end, ok := ipv6End(s.b, start)
	s.hexRun = end
	if !ok || !s.on.has(ip) || !(worthwhile(s.b[start:end]) || s.byteAt(end) == '/' && end-start > 4) || isLetterOrDigit(s.byteAt(end)) || s.byteAt(end) == '(' || tokenInRun(s.b, end) {
		return 0
	}
	end = s.prefixEnd(s.zoneEnd(end), 128)
	s.floor = max(s.floor, end)
	return s.add(start, end, ip)
}

// tokenInRun reports a token after a colon at the end of a run: what it stands for
// was a further group.
func tokenInRun(b []byte, end int) bool {
	if end < len(b) && b[end] == ':' {
		end++
	}
	return end > 0 && b[end-1] == ':' && tokenAt(b, end)
}

// hexBoundary reports whether an address may start at start: after nothing joined
// to it, or after a label such as "IPv6:".
func (s *scanner) hexBoundary(start int) bool {
	p := s.byteAt(start - 1)
	if isLetterOrDigit(p) || p == '.' {
		return false
	}
	if p != ':' {
		return !tokenBefore(s.b, start) // what is joined to a token was judged with it
	}
	w := start - 1
	for w > 0 && isWord(s.b[w-1]) && start-w < 16 {
		w--
	}
	word := s.b[w : start-1]
	return len(word) > 0 && s.byteAt(w-1) != ':' && (classesOf(word)&digit == 0 && classesOf(word)&alpha != 0 || len(word) == 4 && word[0]|0x20 == 'i')
}

// clockEnd skips hh:mm and hh:mm:ss[.fff], which open no address.
func clockEnd(b []byte, i int) int {
	e := digitsEnd(b, i)
	if e-i > 2 || e+2 >= len(b) || b[e] != ':' || !isDigit(b[e+1]) || !isDigit(b[e+2]) {
		return 0
	}
	e += 3
	if e+2 < len(b) && b[e] == ':' && isDigit(b[e+1]) && isDigit(b[e+2]) {
		e += 3
	}
	if e < len(b) && (b[e] == ':' || isWord(b[e])) {
		return 0
	}
	if e+1 < len(b) && (b[e] == '.' || b[e] == ',') && isDigit(b[e+1]) {
		e = digitsEnd(b, e+1)
		if e < len(b) && (b[e] == '.' || isWord(b[e])) && b[e]|0x20 != 'z' {
			return 0
		}
	}
	return e
}

// ipv6End reads an IPv6 address as RFC 4291 section 2.2 writes them, and reports
// whether it is one. The end is that of the run in any case.
func ipv6End(b []byte, start int) (end int, ok bool) {
	i, groups, gap := start, 0, -1
	for i < len(b) {
		if b[i] == ':' {
			if i+1 < len(b) && b[i+1] == ':' && (i == start || b[i-1] != ':') {
				if gap >= 0 {
					return i, false
				}
				gap = groups
				i += 2
				continue
			}
			if groups == 0 || i+1 >= len(b) || !isHex(b[i+1]) || b[i-1] == ':' {
				break
			}
			i++
			continue
		}
		e := hexEnd(b, i)
		if e == i {
			break
		}
		if e-i > 4 {
			return e, false
		}
		if e < len(b) && b[e] == '.' && groups > 0 || e < len(b) && b[e] == '.' && gap == 0 {
			if v := ipv4End(b, i); v > 0 {
				groups, i = groups+2, v
				break
			}
			if e+1 < len(b) && isDigit(b[e+1]) {
				return e, false
			}
		}
		groups++
		if i = e; groups > 8 {
			return i, false
		}
	}
	// A gap stands for one zero group and more; lenient writers let it stand for none.
	return i, gap < 0 && groups == 8 || gap >= 0 && groups < 8
}

// worthwhile reports an address that says something: not the loopback or
// unspecified one, nor the scope operator of a programming language.
func worthwhile(a []byte) bool {
	hex, dots, groups := 0, 0, 0
	for i, c := range a {
		switch {
		case c == '.':
			dots++
		case c != ':':
			hex++
			if i == 0 || a[i-1] == ':' {
				groups++
			}
		}
	}
	return dots > 0 || countDigits(a) > 0 && (hex > 4 || groups > 2)
}

// zoneEnd is the end of a zone such as %eth0 at i.
func (s *scanner) zoneEnd(i int) int {
	if s.byteAt(i) != '%' || !isLetter(s.byteAt(i+1)) {
		return i
	}
	return wordEnd(s.b, i+1)
}
