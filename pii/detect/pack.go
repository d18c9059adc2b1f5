package detect

import (
	"fmt"
	"slices"
	"strings"
)

// A pack adds the identifiers of a country. Packs are off by default: a check digit
// lets one number in ten or twenty through, and an operator knows which countries
// matter. Numbers under a key for ids or times stay what they are.

// packType is an identifier of a pack.
type packType struct {
	name        Type
	pack        string
	description string
	layouts     []string // lengths of groups: "11" plain, "344" in three groups; for words "w" and the length in two digits
	valid       func([]byte) bool
}

// packTypes holds every pack's types; their numbers follow the standard ones.
var packTypes = slices.Concat(europeanTypes, asianTypes, otherTypes)

// maxPackWord is the longest word that packs look at.
const maxPackWord = 20

// packIndex has the types of the packs that are on, by what they look like.
type packIndex struct {
	groups map[string][]typeID
	words  [maxPackWord + 1][]typeID
}

// indexPacks makes the index of the packs named, and the set of their types.
func indexPacks(names []string) (*packIndex, typeSet, error) {
	if len(names) == 0 {
		return nil, 0, nil
	}
	x, on := &packIndex{groups: map[string][]typeID{}}, typeSet(0)
	known := false
	for _, name := range names {
		known = false
		for i, t := range packTypes {
			if t.pack == name {
				known = true
				on |= 1 << (standardTypes + typeID(i))
				x.put(standardTypes+typeID(i), t.layouts)
			}
		}
		if !known {
			return nil, 0, fmt.Errorf("unknown pack %q: there are %s", name, strings.Join(packNames(), ", "))
		}
	}
	return x, on, nil
}

func packNames() (names []string) {
	for _, t := range packTypes {
		names = append(names, t.pack)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (x *packIndex) put(id typeID, layouts []string) {
	for _, l := range layouts {
		if l[0] == 'w' {
			n := int(l[1]-'0')*10 + int(l[2]-'0')
			x.words[n] = append(x.words[n], id)
		} else {
			x.groups[l] = append(x.groups[l], id)
		}
	}
}

// packGroups finds the packs' numbers in a cluster.
func (s *scanner) packGroups() int {
	c := &s.cl
	var shape [maxGroups]byte
	for j := min(c.n, 7); j > 0; j-- {
		sep := c.sepAfter()
		if j == 1 {
			sep = 0
		}
		if !c.ends(j, sep) || !c.uniform(0, j, sep) && !c.dotsAndDash(j) || !s.starts(c.start[0], sep) || c.digits(0, j) > 15 {
			continue
		}
		for i := range j {
			shape[i] = '0' + byte(c.len(i))
		}
		for _, id := range s.packs.groups[string(shape[:j])] {
			if e := s.pack(id, c.start[0], c.end[j-1]); e > 0 {
				return e
			}
		}
	}
	return 0
}

// dotsAndDash reports dots between the first of j groups and '-' before the last:
// 529.982.247-25.
func (c *cluster) dotsAndDash(j int) bool {
	return j > 2 && c.sep[1] == '.' && c.uniform(0, j-1, '.') && c.sep[j-1] == '-'
}

// packWord finds the packs' words of letters and digits. One such as 308T may be
// the end of 131052-308T.
func (s *scanner) packWord(start, end int) int {
	if p := s.byteAt(start - 1); (p == '-' || p == '+') && end-start <= 5 && start >= 7 && allDigits(s.b[start-7:start-1]) && !isWord(s.byteAt(start-8)) {
		start -= 7
	}
	if s.byteAt(end) == '-' && end-start == 8 && isLetter(s.byteAt(end+1)) && !isWord(s.byteAt(end+2)) {
		end += 2 // Y8063915-Z
	}
	if end-start > maxPackWord || s.byteAt(start-1) == '-' && isWord(s.byteAt(start-2)) || s.byteAt(end) == '-' && isWord(s.byteAt(end+1)) {
		return 0
	}
	if tokenAt(s.b, end) {
		return 0 // what the token stands for belonged to the word
	}
	for _, id := range s.packs.words[end-start] {
		if e := s.pack(id, start, end); e > 0 {
			return e
		}
	}
	return 0
}

// packDashed finds digits with letters joined to them: 12345678-Z, X-1234567-L.
func (s *scanner) packDashed(start, end int) int {
	if !isLetter(s.byteAt(end+1)) || isWord(s.byteAt(end+2)) {
		return 0
	}
	if s.byteAt(start-1) == '-' && isLetter(s.byteAt(start-2)) && !isWord(s.byteAt(start-3)) {
		start -= 2
	}
	if end += 2; end-start > maxPackWord || s.byteAt(start-1) == '-' {
		return 0
	}
	if tokenAt(s.b, end) {
		return 0 // what the token stands for belonged to the word
	}
	for _, id := range s.packs.words[end-start] {
		if e := s.pack(id, start, end); e > 0 {
			return e
		}
	}
	return 0
}

// pack checks one candidate.
func (s *scanner) pack(id typeID, start, end int) int {
	d := compact(s.buf[:], s.b[start:end])
	if !s.on.has(id) || !packTypes[id-standardTypes].valid(d) {
		return 0
	}
	// "ID" before a number is no veto here: people's numbers are called so.
	if ctx := s.contextOf(start); ctx.veto && ctx.has(vetoes&^lID) {
		return 0
	}
	s.floor = max(s.floor, end)
	return s.add(start, end, id)
}

// yymmdd reports a date in six digits.
func yymmdd(d []byte) bool { return calendar(two(d[4:]), two(d[2:])) }

// calendar reports a day that its month has.
func calendar(day, month int) bool {
	return month >= 1 && month <= 12 && day >= 1 && day <= [...]int{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
}

func two(d []byte) int { return int(d[0]-'0')*10 + int(d[1]-'0') }

// remainder is the number in d modulo m.
func remainder(d []byte, m int) (r int) {
	for _, c := range d {
		r = (r*10 + int(c-'0')) % m
	}
	return r
}

// shaped reports whether d is written as pattern says: 9 digit, A letter, anything
// else itself.
func shaped(d []byte, pattern string) bool {
	if len(d) != len(pattern) {
		return false
	}
	for i, c := range d {
		switch p := pattern[i]; {
		case p == '9' && !isDigit(c), p == 'A' && !isLetter(c), p != '9' && p != 'A' && p != c:
			return false
		}
	}
	return true
}
