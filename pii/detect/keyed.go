package detect

import "bytes"

// Some values are known by their key or label alone. They are looked for when the
// ':' or '=' after it comes by.

// eagerLabels make it worthwhile to read the value.
const eagerLabels = lName | lFullName | lPerson | lAddress | lStreet | lBirth | lSecret | lPassword

// maxField bounds the length of one after a label in prose.
const maxField = 200

// maxKeyed bounds the length of a value read because of its key.
const maxKeyed = 512

// colon handles a ':' at i: the end of a JSON key, of a label, or part of an
// address.
func (s *scanner) colon(i int) int {
	if i == 0 {
		return i + 1 + s.leadingColons(i)
	}
	switch p := s.b[i-1]; {
	case p == '"':
		s.keyColon = i
		// Most keys say by their last letters that their value need not be read.
		if i > 1 && (s.b[i-2] == '\\' || s.labels.mayEnd(s.b, i-1)) {
			s.key(i)
		}
		return i + 1
	case isLetter(p) && i+1 < len(s.b):
		if isHex(p) && (s.b[i+1] == ':' || isHex(s.b[i+1])) {
			if e := s.letterGroup(i); e > 0 {
				return e
			}
		}
		s.label(i, i)
		return i + 1
	case p == '*':
		s.boldLabel(i)
		return i + 1
	}
	return i + 1 + s.leadingColons(i)
}

// key handles the ':' at i after a JSON key.
func (s *scanner) key(i int) {
	if c := s.byteAt(i + 1); c != '"' && c != '\\' && !isSpace(c) {
		return
	}
	if all, last := s.eagerKey(i - 1); all != 0 {
		if start, end, ok := s.stringValue(i + 1); ok {
			s.keyedValue(start, end, all, last)
		}
	}
}

// letterGroup tries an address whose first group, before i, has no digit.
func (s *scanner) letterGroup(i int) int {
	start := i
	for start > s.floor && i-start < 5 && isHex(s.b[start-1]) {
		start--
	}
	if i-start > 4 || isLetterOrDigit(s.byteAt(start-1)) {
		return 0
	}
	return s.hexColons(start)
}

// leadingColons handles an address that starts with "::". The result is what to
// skip beyond the colon.
func (s *scanner) leadingColons(i int) int {
	if s.byteAt(i+1) != ':' || !isHex(s.byteAt(i+2)) || isWord(s.byteAt(i-1)) || s.byteAt(i-1) == ':' {
		return 0
	}
	if e := s.hexColons(i); e > i {
		return e - i - 1
	}
	return 0
}

// equals handles a '=' at i.
func (s *scanner) equals(i int) int {
	if i > 0 && isLetter(s.b[i-1]) && i+1 < len(s.b) {
		s.label(i, i)
	}
	return i + 1
}

// boldLabel handles the ':' at i of **Name**: as Markdown has it.
func (s *scanner) boldLabel(i int) {
	end := i
	for end > s.floor && i-end < 3 && s.b[end-1] == '*' {
		end--
	}
	if end > 0 && isLetter(s.b[end-1]) {
		s.label(end, i)
	}
}

// eagerKey gives the meaning of the key whose closing quote is at q, if its last
// two letters can end one that needs reading.
func (s *scanner) eagerKey(q int) (all, last label) {
	for q > 0 && s.b[q-1] == '\\' {
		q--
	}
	if !s.labels.mayEnd(s.b, q) {
		return 0, 0
	}
	all, last = s.keyLabels()
	if all&eagerLabels == 0 {
		return 0, 0
	}
	return all, last
}

// stringValue finds the JSON string that starts after i, and its end.
func (s *scanner) stringValue(i int) (start, end int, ok bool) {
	b := s.b
	i = skipSpace(b, i)
	slashes := 0
	for i < len(b) && b[i] == '\\' {
		i, slashes = i+1, slashes+1
	}
	if i >= len(b) || b[i] != '"' {
		return 0, 0, false
	}
	start = i + 1
	limit := min(len(b), start+maxKeyed)
	for i = start; i < limit; i++ {
		j := bytes.IndexByte(b[i:limit], '"')
		if j < 0 {
			return 0, 0, false
		}
		i += j
		n := 0
		for i-n > start && b[i-n-1] == '\\' {
			n++
		}
		if n <= slashes && (slashes > 0 || n%2 == 0) || slashes == 0 && n%2 == 0 {
			return start, i - n, i-n > start
		}
	}
	return 0, 0, false
}

// keyedValue reports the value of a JSON key that means something by itself.
func (s *scanner) keyedValue(start, end int, all, last label) {
	switch {
	case all&(lPassword|lSecret) != 0:
		s.secretValue(start, end, all)
	case last&(lName|lFullName|lPerson) != 0:
		if s.on.has(person) && s.isPerson(start, end, all, last, true) && !touchesToken(s.b, start, end) {
			s.add(start, end, person)
		}
	case all&(lAddress|lStreet) != 0:
		s.addressValue(start, end, all, false)
	case all&lBirth != 0:
		s.writtenDate(start, end)
	}
}

// label handles the ':' or '=' at i after a word of prose or of a log line, which
// stops at stop.
func (s *scanner) label(stop, i int) {
	if stop < s.barrier || !s.labels.mayEnd(s.b, stop) {
		return
	}
	from := s.labelStart(stop)
	all, last := s.labels.ofKey(s.b[from:stop])
	if all&eagerLabels == 0 {
		return
	}
	start, end := s.labelValue(i)
	if end <= start {
		return
	}
	quoted := s.b[start-1] == '"' || s.b[start-1] == '\''
	switch {
	case all&(lPassword|lSecret) != 0:
		if s.b[i] == '=' || i+1 < start {
			s.secretValue(start, end, all)
		}
	case last&(lName|lFullName|lPerson) != 0:
		if !quoted {
			end = s.nameEnd(start, end)
		}
		if s.on.has(person) && end > start && s.isPerson(start, end, all, last, quoted) && !touchesToken(s.b, start, end) {
			s.add(start, end, person)
		}
	case last&(lAddress|lStreet) != 0:
		s.addressValue(start, end, all, !quoted)
	case all&lBirth != 0:
		s.writtenDate(start, end)
	}
}

// maxPhrase is the most words a label in prose has: "Date of Birth".
const maxPhrase = 3

// labelStart is where the label that ends at i starts.
func (s *scanner) labelStart(i int) int {
	b, from, words := s.b, max(0, i-40, s.barrier), 0
	for j := i; j > from; j-- {
		c := b[j-1]
		if isLetter(c) || c == '_' || c == '-' || c == '.' {
			continue
		}
		if c == '\\' && isEscapeLetter(b[j]) {
			return j + 1
		}
		if words++; c != ' ' || words == maxPhrase || i < len(b) && b[i] == '=' {
			return j
		}
	}
	return from
}

// labelValue is the value after the ':' or '=' at i: what is in quotes, or the
// rest of the field.
func (s *scanner) labelValue(i int) (start, end int) {
	b := s.b
	start = i + 1
	for start < len(b) && (b[start] == ' ' || b[start] == '\t' || b[start] == '*') && start-i < 6 {
		start++
	}
	limit := min(len(b), start+maxField)
	if start < limit && (b[start] == '"' || b[start] == '\'') {
		if j := bytes.IndexByte(b[start+1:limit], b[start]); j > 0 {
			return start + 1, start + 1 + j
		}
		return 0, 0
	}
	for end = start; end < limit && !fieldEnd[b[end]] && (b[i] != '=' || b[end] != ' '); {
		end++
	}
	for end > start && (b[end-1] == ' ' || b[end-1] == '*') {
		end--
	}
	return start, end
}

// fieldEnd has the bytes that end a value in prose or in a log line.
var fieldEnd = [256]bool{'\n': true, '\r': true, '\t': true, ';': true, '|': true, '"': true, '<': true, '>': true, '\\': true, '&': true, '{': true, '}': true}

// mayEnd reports whether an eager label may end at i.
func (t *labelTable) mayEnd(b []byte, i int) bool {
	e := ending(b, i)
	return t.endings[e>>6]>>(e&63)&1 != 0
}

// ending packs the three letters before i.
func ending(b []byte, i int) int {
	if i < 3 {
		return 0
	}
	return int(b[i-3]&31)<<10 | int(b[i-2]&31)<<5 | int(b[i-1]&31)
}
