package detect

// maxGroups is more than any number has that is written in groups.
const maxGroups = 10

// cluster is a row of digit groups with single separators between them, as
// numbers are written for people: (415) 555-0132.
type cluster struct {
	b          []byte
	n          int
	start, end [maxGroups]int
	sep        [maxGroups]byte // before the group: ' ', '-', '.', '/', '(' or ')'
	tail       byte            // the separator after the last group when another word follows it directly
}

// one makes a cluster of one group.
func (c *cluster) one(b []byte, start, end int) {
	c.b, c.n, c.start[0], c.end[0], c.tail = b, 1, start, end, 0
	if end+1 < len(b) && (b[end] == '[' || b[end+1] == '[') {
		c.tail = tokenTail(b, end)
	}
}

// parse reads the groups from start on.
func (c *cluster) parse(b []byte, start int) {
	c.b, c.n, c.tail = b, 0, 0
	var sep byte
	for at := start; c.n < maxGroups; {
		end := digitsEnd(b, at)
		if end < len(b) && class[b[end]]&^under != 0 && !isExtension(b, end) {
			c.tail = sep // a word such as 15T12
			return
		}
		if c.n > 0 && end+1 < len(b) && b[end] == ':' && (b[end+1] == ':' || isHex(b[end+1])) {
			c.tail = sep // a time or an address of its own
			return
		}
		c.start[c.n], c.end[c.n], c.sep[c.n] = at, end, sep
		c.n++
		if at, sep = nextGroup(b, end); at == 0 {
			c.tail = tokenTail(b, end)
			return
		}
	}
	c.tail = sep
}

// nextGroup is where the group after a separator at i starts, and the separator.
func nextGroup(b []byte, i int) (int, byte) {
	if i+1 >= len(b) {
		return 0, 0
	}
	c, j := b[i], i+1
	switch c {
	case ' ', '-':
		if b[j] == '(' {
			c, j = '(', j+1
		}
	case '.', '/', '(':
	case ')':
		if b[j] == ' ' || b[j] == '-' || b[j] == '/' || b[j] == '.' {
			j++
		}
	default:
		return 0, 0
	}
	if j < len(b) && isDigit(b[j]) {
		return j, c
	}
	return 0, 0
}

// tokenTail is the separator between the end of a group and a token: what the token
// stands for was joined to the group, and still is.
func tokenTail(b []byte, i int) byte {
	if i >= len(b) || b[i] != '[' && (i+1 >= len(b) || b[i+1] != '[') {
		return 0
	}
	if tokenAt(b, i) {
		return '-'
	}
	if c := b[i]; (c == ' ' || c == '-' || c == '.' || c == '/') && tokenAt(b, i+1) {
		return c
	}
	return 0
}

// isExtension reports an extension such as x123 at i.
func isExtension(b []byte, i int) bool {
	return b[i]|0x20 == 'x' && i+1 < len(b) && isDigit(b[i+1])
}

func (c *cluster) len(i int) int { return c.end[i] - c.start[i] }

// lens reports whether the groups from i on have these lengths.
func (c *cluster) lens(i int, want ...int) bool {
	if i+len(want) > c.n {
		return false
	}
	for j, n := range want {
		if c.len(i+j) != n {
			return false
		}
	}
	return true
}

// uniform reports whether all separators of groups i to j are sep.
func (c *cluster) uniform(i, j int, sep byte) bool {
	for k := i + 1; k < j; k++ {
		if c.sep[k] != sep {
			return false
		}
	}
	return true
}

// ends reports whether a number may end after group j-1, whose groups are
// separated by sep: no further group is joined to it.
func (c *cluster) ends(j int, sep byte) bool {
	next := c.tail
	if j < c.n {
		next = c.sep[j]
	}
	switch next {
	case 0, '(', ')':
		return true
	case ' ':
		return sep != ' '
	default:
		return false
	}
}

// digits counts the digits of groups i to j.
func (c *cluster) digits(i, j int) (n int) {
	for ; i < j; i++ {
		n += c.len(i)
	}
	return n
}

// starts reports whether a number separated by sep may start at i: no further
// group stands joined before it.
func (s *scanner) starts(i int, sep byte) bool {
	if tokenBefore(s.b, i) {
		return false
	}
	if !isDigit(s.byteAt(i-2)) && !tokenBefore(s.b, i-1) {
		return true
	}
	switch s.byteAt(i - 1) {
	case '-', '.', '/':
		return false
	case ' ':
		return sep != ' '
	}
	return true
}
