package detect

import "bytes"

// The longest name and the most words it has.
const (
	maxNameBytes = 60
	maxNameWords = 5
)

// isPerson reports whether data[start:end], under a key or label, names a person.
// A key such as surname says so itself; under one such as customer the value must
// look like a name; a bare name belongs to files and products as often, so that
// the value's words and the other keys of the object decide.
func (s *scanner) isPerson(start, end int, all, last label, inJSON bool) bool {
	v := s.b[start:end]
	sh := s.nameShape(v)
	if !sh.ok {
		return false
	}
	switch {
	case all&lThing != 0 && all&lFullName == 0:
		return false
	case last&lFullName != 0 && last&lName == 0, all&lFullName != 0 && last == lName:
		return all&lThing == 0 || sh.capital
	case last&lFullName != 0: // "first" or "last" alone
		return sh.capital && sh.words <= 2 && !sh.common
	case all&lPerson != 0:
		return sh.capital && !sh.common && (sh.words >= 2 && sh.words <= 4 || last == lName && sh.words == 1)
	}
	return sh.capital && !sh.common && s.bareName(start, end, sh, inJSON)
}

// nameEnd is the end of the name that a field of prose starts with, or start when
// the field goes on as a sentence does.
func (s *scanner) nameEnd(start, end int) int {
	b, last := s.b, start
	for i := start; i < end; {
		j := i
		for j < end && b[j] != ' ' && b[j] != ',' && b[j] != ':' && b[j] != '=' && b[j] != '(' {
			j++
		}
		if j < end && (b[j] == ':' || b[j] == '=') {
			break // the next label
		}
		if class[b[i]]&(lower|digit) != 0 && !particles().has(b[i:j]) {
			return start
		}
		last = j
		if j >= end || b[j] != ' ' {
			break
		}
		if i = j + 1; b[i] == '(' || b[i] == ' ' || b[i] == '-' {
			break
		}
	}
	return last
}

// bareName decides for the key "name" alone.
func (s *scanner) bareName(start, end int, sh shape, inJSON bool) bool {
	if sh.words > 4 {
		return false
	}
	var personal, thing bool
	if inJSON {
		personal, thing = s.siblings(start, end)
	}
	switch {
	case personal:
		return true
	case thing:
		return sh.given && sh.words >= 2 && sh.words <= 3
	}
	return sh.given || sh.words == 2 || sh.words == 3
}

// shape is what a name looks like.
type shape struct {
	ok      bool // letters and what joins names, nothing else
	capital bool // every word starts with a capital, particles apart
	common  bool // a word is a common noun: Wireless Mouse
	given   bool // the first word is a given name
	words   int
}

// nameShape reads the words of v.
func (s *scanner) nameShape(v []byte) (sh shape) {
	if len(v) < 2 || len(v) > maxNameBytes {
		return sh
	}
	sh.capital = true
	for i := 0; i < len(v); {
		j := i
		for j < len(v) && v[j] != ' ' {
			if c := v[j]; class[c]&letter == 0 && c < 0x80 && c != '-' && c != '\'' && c != '.' && c != ',' {
				if n := unicodeEscape(v[j:]); n > 0 {
					j += n
					continue
				}
				return shape{}
			}
			j++
		}
		if j == i {
			return shape{}
		}
		sh.word(v[i:j])
		i = j + 1
	}
	sh.ok = sh.words > 0 && sh.words <= maxNameWords && v[len(v)-1] != ' '
	return sh
}

// word takes one word into account.
func (sh *shape) word(w []byte) {
	sh.words++
	name := bytes.TrimRight(w, ".,")
	if class[w[0]]&lower != 0 && !particles().has(name) || len(name) > 3 && allUpper(name) && bytes.IndexByte(name, '.') >= 0 {
		sh.capital = false
	}
	if len(name) > 1 && common().has(name) && !(class[w[0]]&lower != 0 && particles().has(name)) {
		sh.common = true
	}
	if sh.words == 1 && given().has(name) {
		sh.given = true
	}
	// Identifiers are no names: fooBar, README.md, LiveObject.
	turns := caseTurns(name)
	if turns > 1 || turns == 1 && caseTurns(name[:min(len(name), maxPrefix)]) == 0 || bytes.IndexByte(name, '.') > 1 {
		sh.capital = false
	}
}

// maxPrefix is where the second capital of a name may stand: McDonald, MacLeod.
const maxPrefix = 4

func allUpper(w []byte) bool { return classesOf(w)&lower == 0 }

// caseTurns counts lower-case letters that a capital follows: one in McDonald.
func caseTurns(w []byte) (n int) {
	for i := 1; i < len(w); i++ {
		if class[w[i]]&upper != 0 && class[w[i-1]]&lower != 0 {
			n++
		}
	}
	return n
}

// unicodeEscape is the length of a JSON escape such as \u00e9 at the start of b.
func unicodeEscape(b []byte) int {
	i := 0
	for i < len(b) && b[i] == '\\' {
		i++
	}
	if i > 0 && i+5 <= len(b) && b[i] == 'u' && hexEnd(b, i+1) >= i+5 {
		return i + 5
	}
	return 0
}

// maxSiblings bounds how far the keys beside "name" are read, each way.
const maxSiblings = 400

// siblings looks at the other keys of the object that data[start:end] is in:
// whether some belong to people, and whether some belong to things.
func (s *scanner) siblings(start, end int) (personal, thing bool) {
	after := s.b[end:min(len(s.b), end+maxSiblings)]
	if i := bytes.IndexByte(after, '}'); i >= 0 {
		after = after[:i]
	}
	before := s.b[max(0, start-maxSiblings):start]
	for i := len(before); i > 0; i-- {
		if c := before[i-1]; c == '{' || c == '}' {
			before = before[i:]
			break
		}
	}
	for _, part := range [2][]byte{before, after} {
		p, t := s.keysOf(part)
		personal, thing = personal || p, thing || t
	}
	return personal, thing
}

// keysOf reads the keys in a piece of JSON.
func (s *scanner) keysOf(part []byte) (personal, thing bool) {
	for {
		i := bytes.IndexByte(part, ':')
		if i < 0 {
			return personal, thing
		}
		if q := bytes.LastIndexByte(part[:i], '"'); q > 0 && i-q < 3 {
			key := part[bytes.LastIndexByte(part[:q], '"')+1 : q]
			all, _ := s.labels.ofKey(bytes.TrimRight(key, "\\"))
			personal = personal || all&personalKeys != 0 && all&lThing&^lMail == 0 || all&lMail != 0
			thing = thing || all&personalKeys == 0 && thingKeys().has(bytes.TrimRight(key, "\\"))
		}
		part = part[i+1:]
	}
}

// personalKeys make an object a person's.
const personalKeys = lPhone | lSSN | lBirth | lFullName | lPassport | lStreet | lNHS | lNINO | lMBI
