package pii

// tags follows HTML as the tokenizer of browsers does, from each < at once that
// may begin a tag: whether one is in a comment, in code or in another's attribute
// depends on who reads it. https://html.spec.whatwg.org/multipage/parsing.html
type tags struct {
	states  tagState // all that are possible
	name    [len("datalist") + 1]byte
	nameLen int
	attr    [len("href") + 1]byte
	attrLen int
	value   opening
	lost    bool // nothing more can be known
}

type tagState uint8

const (
	tagName tagState = 1 << iota
	beforeAttr
	attrName
	afterAttr
	beforeAttrValue
	doubleQuoted
	singleQuoted
	unquoted
)

func (t *tags) open() bool { return t.states != 0 || t.lost }

// personal reports whether the answer stands where the value of href, or an
// address in <>, has just said mailto: or tel:.
func (t *tags) personal() bool {
	switch {
	case t.lost:
		return false
	case t.states == doubleQuoted || t.states == singleQuoted:
		return string(t.attr[:t.attrLen]) == "href" && t.value.personal()
	}
	return t.states == tagName && isPersonal(string(t.name[:t.nameLen]))
}

func (t *tags) step(prev, c byte) {
	var next tagState
	for s := tagName; s != 0; s <<= 1 {
		if t.states&s != 0 {
			next |= t.after(s, c)
		}
	}
	t.states = next
	if letter := isAlnum(c) && c > '9'; prev == '<' && (letter || c == '/' || c == '!' || c == '?') {
		t.states |= tagName
		t.nameLen = 0
		t.addName(c)
	}
}

// after is the state that c leads to.
func (t *tags) after(s tagState, c byte) tagState {
	quoted := s == doubleQuoted || s == singleQuoted
	switch {
	case s == doubleQuoted && c == '"' || s == singleQuoted && c == '\'':
		return beforeAttr
	case quoted || s == unquoted && c != '>' && !isBlank(c):
		t.value.add(c)
		return s
	case c == '>':
		t.named(s)
		return 0
	case s == beforeAttrValue:
		return t.beginValue(c)
	case isBlank(c):
		t.named(s)
		if s == attrName || s == afterAttr {
			return afterAttr
		}
		return beforeAttr
	case c == '/':
		t.named(s)
		return beforeAttr
	case s == tagName:
		t.addName(c)
		return tagName
	case c == '=' && s != beforeAttr:
		return beforeAttrValue
	case s != attrName:
		t.attrLen = 0
	}
	if t.attrLen < len(t.attr) {
		t.attr[t.attrLen] = lower(c)
		t.attrLen++
	}
	return attrName
}

func (t *tags) beginValue(c byte) tagState {
	if isBlank(c) {
		return beforeAttrValue
	}
	t.value = opening{}
	switch c {
	case '"':
		return doubleQuoted
	case '\'':
		return singleQuoted
	}
	t.value.add(c)
	return unquoted
}

func (t *tags) addName(c byte) {
	if t.nameLen < len(t.name) {
		t.name[t.nameLen] = lower(c)
		t.nameLen++
	}
}

// named looks at the name of a tag when it ends. What stands in some elements is
// code, or goes out with a form: from there on all is held, since where one of
// them ends depends on who reads it.
func (t *tags) named(s tagState) {
	if s != tagName {
		return
	}
	switch string(t.name[:t.nameLen]) {
	case "script", "style", "textarea", "select", "option", "datalist":
		t.lost = true
	}
}

// emptyLine does not end a tag, since HTML knows none. In a quoted attribute it
// depends on who reads it how the quotes after it are written, so all is held.
func (t *tags) emptyLine() {
	t.lost = t.lost || t.states&(doubleQuoted|singleQuoted) != 0
}

// isBlank reports white space of HTML.
func isBlank(c byte) bool { return isSpace(c) || c == '\f' }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
