package detect

// Digits of a phone number: ITU-T E.164 allows 15; local numbers have 6 or 7.
const (
	minPhoneDigits = 7
	maxPhoneDigits = 15
	minWithCountry = 8
	minDesk        = 9 // after a word such as "Desk:", which may be about other things
)

// phoneGroups finds phone numbers. Without a word beside them they need a form
// that other numbers do not have: an international prefix, the NANP's 3-3-4, or
// a national prefix 0 and three groups and more.
func (s *scanner) phoneGroups() int {
	if !s.on.has(phone) {
		return 0
	}
	c := &s.cl
	start := c.start[0]
	switch p := s.byteAt(start - 1); {
	case p == '+' && s.byteAt(start-2) == '(' && c.sepAfter() == ')':
		return s.international(start-2, start) // (+358) 25
	case p == '+':
		return s.international(start-1, start)
	case p == '(' && s.byteAt(start-2) == '+' && c.sepAfter() == ')':
		return s.international(start-2, start) // +(370) 23
	}
	if c.n > 2 && c.len(0) > 2 && hasPrefix(s.b, start, "00") && s.starts(start, c.sepAfter()) {
		if e := s.international(start, start+2); e > 0 {
			return e
		}
	}
	if e := s.nanp(); e > 0 {
		return e
	}
	if e := s.trunk(); e > 0 {
		return e
	}
	return s.localPhone()
}

// international finds +CC and 00CC numbers, whose country code is at code. It fixes
// how many digits there are.
func (s *scanner) international(start, code int) int {
	c := &s.cl
	if p := s.byteAt(start - 1); isWord(p) && p != '_' || p == '+' || s.b[code] == '0' || tokenBefore(s.b, start) {
		return 0
	}
	best, n := 0, c.start[0]-code
	for j := 0; j < c.n; j++ {
		// Once there is a number, 00 begins the next one of a list.
		if c.sep[j] == '/' || best > 0 && c.len(j) > 2 && hasPrefix(s.b, c.start[j], "00") {
			break
		}
		if c.lens(j, 1) && c.sep[j] == '(' && s.b[c.start[j]] == '0' {
			n-- // the (0) of +44 (0)20 is not dialled
		}
		if n += c.len(j); n > maxPhoneDigits {
			break
		}
		if s.planned(n, code) && c.endsLoosely(j+1) {
			best = j + 1
		}
	}
	if best == 0 {
		return 0
	}
	return s.addPhone(start, best)
}

// b0 is the first digit.
func (c *cluster) b0(b []byte) byte { return b[c.start[0]] }

// planned reports whether n digits make a number under the country code at code.
func (s *scanner) planned(n, code int) bool {
	if s.b[code] == '1' {
		return n == 11
	}
	r, cc := nationalDigits(s.b[code:s.cl.end[0]])
	return cc > 0 && n-cc >= int(r.min) && n-cc <= int(r.max)
}

// nanp finds 3-3-4 numbers of the North American Numbering Plan, where area and
// exchange start with 2 to 9, with 1 or 001 before them or not.
func (s *scanner) nanp() int {
	c := &s.cl
	i := 0
	if (c.lens(0, 1) || c.lens(0, 3)) && c.n > 3 && s.trunkOne() {
		i = 1
	}
	if !c.lens(i, 3, 3, 4) || c.sep[i+1] == '/' || !phoneSeps(c.sep[i+1], c.sep[i+2]) {
		return 0
	}
	start := c.start[0]
	if i == 0 && c.sep[1] == ')' {
		if start--; s.byteAt(start) != '(' {
			return 0
		}
	}
	if !s.starts(start, c.sep[i+2]) || !c.endsLoosely(i+3) {
		return 0
	}
	area, exchange := s.b[c.start[i]], s.b[c.start[i+1]]
	ctx := s.contextOf(c.start[0])
	if !ctx.has(lPhone|lCall) && ((area < '2' || exchange < '2') && i == 0 || ctx.has(lNHS|lNPI)) {
		return 0
	}
	return s.addPhone(start, i+3)
}

func (s *scanner) trunkOne() bool {
	g := s.b[s.cl.start[0]:s.cl.end[0]]
	return string(g) == "1" || string(g) == "001"
}

// phoneSeps reports separators that fit each other: the same, or an area code in
// parentheses.
func phoneSeps(a, b byte) bool {
	return a == b && a != '(' && a != '/' || a == ')' && (b == '-' || b == ' ' || b == '.') || a == '(' && b == ')' || a == ' ' && b == '-'
}

// trunk finds national numbers: 0 or 00CC first, then at least three groups with
// one separator, 10 or 11 digits in all.
func (s *scanner) trunk() int {
	c := &s.cl
	if c.b0(s.b) != '0' || c.n < 3 || c.len(0) < 2 || c.sep[2] != ' ' && c.sep[2] != '-' && c.sep[2] != '.' {
		return 0
	}
	j := 2
	for j < c.n && c.sep[j] == c.sep[2] {
		j++
	}
	n := c.digits(0, j)
	start := c.start[0]
	if s.byteAt(start-1) == '(' && c.sep[1] == ')' {
		start--
	} else if c.sep[1] != c.sep[2] {
		return 0
	}
	if n != 10 && n != 11 || c.len(j-1) < 2 || !c.endsLoosely(j) || !s.starts(start, c.sep[2]) {
		return 0
	}
	if s.contextOf(c.start[0]).has(lBlock) {
		return 0
	}
	return s.addPhone(start, j)
}

// localPhone finds any row of digits beside a word for phones.
func (s *scanner) localPhone() int {
	c := &s.cl
	j := s.localGroups()
	if j == 0 {
		return 0
	}
	start := c.start[0]
	if s.byteAt(start-1) == '(' && c.n > 1 && c.sep[1] == ')' {
		start--
	}
	sep := c.sepAfter()
	if c.n == 1 {
		sep = c.tail // a token stands where another group did
	}
	if !s.starts(start, sep) || s.inPath(start) || !s.spokenOf(start, c.start[0], c.end[j-1], j) {
		return 0
	}
	return s.addPhone(start, j)
}

// inPath reports a number that a dotted or slashed name goes on with: j.cell.2020.
func (s *scanner) inPath(start int) bool {
	if p := s.byteAt(start - 1); p != '.' && p != '/' {
		return false
	}
	i := start - 1
	for least := max(0, i-longestWord); i > least && isWord(s.b[i-1]); {
		i--
	}
	p := s.byteAt(i - 1)
	return i < start-1 && (p == '.' || p == '/' || p == '-')
}

// localGroups is how many groups can be one local number, 0 for none.
func (s *scanner) localGroups() int {
	c := &s.cl
	j, slashes := 1, 0 // one '/' may stand after the area code: 0316/123456
	for j < c.n && (j < 3 || c.sep[j] == c.sep[j-1] || c.sep[j-1] == ')' || c.sep[j-1] == '/') {
		if c.sep[j] == '/' {
			slashes++
		}
		if slashes > 1 || c.sep[j] == '/' && j > 2 {
			break
		}
		j++
	}
	for ; j > 0; j-- {
		if n := c.digits(0, j); n < minPhoneDigits {
			return 0
		} else if n <= maxPhoneDigits-2 && c.endsLoosely(j) {
			return j
		}
	}
	return 0
}

// spokenOf reports whether the words around a number speak of a phone.
func (s *scanner) spokenOf(start, first, end, groups int) bool {
	ctx := s.contextOf(first)
	if ctx.veto && !ctx.has(lPhone) || ctx.near&vetoes&^lID != 0 && ctx.key {
		return false
	}
	strong := (ctx.has(lPhone) || ctx.has(lOffice) && ctx.key && end-start >= minDesk) && !ctx.has(lBlock)
	if strong || s.officeAfter(end) {
		return true
	}
	if ctx.has(lBlock | lAccount | lCard | lSSN) {
		return false
	}
	if groups == 1 {
		return ctx.has(lCall) && !ctx.key
	}
	return ctx.has(lCall) && !ctx.key || ctx.has(lNumber) && s.b[first] == '0'
}

// officeAfter reports a word such as "office" or "fax" right after a number.
func (s *scanner) officeAfter(end int) bool {
	if c := s.byteAt(end); c != ' ' && c != '-' {
		return false
	}
	i := end + 1
	if s.byteAt(i) == '(' {
		i++
	}
	e := i
	for e < len(s.b) && isLetter(s.b[e]) {
		e++
	}
	return s.labels.of(s.b[i:e])&lOffice != 0
}

// endsLoosely is ends for phone numbers: a space and other digits may follow.
func (c *cluster) endsLoosely(j int) bool {
	next := c.tail
	if j < c.n {
		next = c.sep[j]
	}
	return next == 0 || next == ' ' || next == '(' || next == ')'
}

// addPhone reports the number from start to group j-1, with its extension.
func (s *scanner) addPhone(start, j int) int {
	return s.add(start, s.extension(s.cl.end[j-1]), phone)
}

// extension is the end of an extension such as " ext. 12" or "x12" at i.
func (s *scanner) extension(i int) int {
	b, j := s.b, i
	for j < len(b) && (b[j] == ' ' || b[j] == ',') && j-i < 2 {
		j++
	}
	switch {
	case j < len(b) && b[j]|0x20 == 'x':
		j++
	case j+3 < len(b) && sameFold(b[j:j+3], "ext"):
		if j += 3; b[j] == '.' {
			j++
		}
	default:
		return i
	}
	if j < len(b) && b[j] == ' ' {
		j++
	}
	if e := digitsEnd(b, j); e > j && e-j <= 6 && !isWord(s.byteAt(e)) {
		return e
	}
	return i
}
